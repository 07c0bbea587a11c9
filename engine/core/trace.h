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

/// Keeps the first `events.size()` events since Clear; later ones only set `overflowed`. Same thread as the
/// interpreter.
class Trace {
 public:
  Trace() = default;
  explicit Trace(std::span<TraceEvent> events) : events_(events) {}

  void Add(uint16_t step, uint64_t begin, uint64_t end) {
    if (count_ == events_.size()) {
      overflowed_ = true;
    } else {
      events_[count_++] = {begin, end, step, {}};
    }
  }
  void Clear() { count_ = 0, overflowed_ = false; }
  std::span<const TraceEvent> events() const { return events_.first(count_); }
  bool overflowed() const { return overflowed_; }

 private:
  std::span<TraceEvent> events_;
  uint32_t count_ = 0;
  bool overflowed_ = false;
};

}  // namespace takt

#endif  // TAKT_ENGINE_CORE_TRACE_H_
