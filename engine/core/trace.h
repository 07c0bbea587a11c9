// Begin and end of each step, into a buffer of the caller.
#ifndef TAKT_ENGINE_CORE_TRACE_H_
#define TAKT_ENGINE_CORE_TRACE_H_

#include <cstdint>
#include <span>

namespace takt {

/// One run of one step, in ticks of the clock given to Init.
struct TraceEvent {
  uint64_t begin;
  uint64_t end;
  uint16_t step;
  uint16_t reserved[3];
};

/// A ring: keeps the last `events.size()` events since Clear. Same thread as the interpreter.
class Trace {
 public:
  Trace() = default;
  explicit Trace(std::span<TraceEvent> events) : events_(events) {}

  void Add(uint16_t step, uint64_t begin, uint64_t end) {
    overflowed_ = overflowed_ || count_ == events_.size();
    if (events_.empty()) return;
    events_[next_] = {begin, end, step, {}};
    next_ = next_ + 1 == events_.size() ? 0 : next_ + 1;
    count_ += count_ < events_.size();
  }
  void Clear() { next_ = count_ = 0, overflowed_ = false; }
  uint32_t size() const { return count_; }
  /// Event `i` of size(), the oldest first.
  const TraceEvent& operator[](uint32_t i) const {
    return events_[(next_ + events_.size() - count_ + i) % events_.size()];
  }
  /// Older events are lost.
  bool overflowed() const { return overflowed_; }

 private:
  std::span<TraceEvent> events_;
  uint32_t next_ = 0;
  uint32_t count_ = 0;
  bool overflowed_ = false;
};

}  // namespace takt

#endif  // TAKT_ENGINE_CORE_TRACE_H_
