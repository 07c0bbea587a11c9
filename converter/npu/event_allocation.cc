#include "converter/npu/event_allocation.h"

#include <algorithm>
#include <deque>

#include "ports/npu_emu/model/clock.h"

namespace takt::npu {
namespace {

class Allocation {
 public:
  void Add(const Command& command, uint32_t at);
  std::vector<uint32_t> Finish();

 private:
  /// A Set, what its pipe knew, and the Wait that takes it.
  struct Signal {
    uint32_t set = 0, wait = 0;
    Clock clock;
  };
  void Settle(int pipe);
  void Drop(const Signal& signal) { spare_.insert(spare_.end(), {signal.set, signal.wait}); }

  Clock clocks_[kPipes];  ///< Each with the commands of its own pipe.
  std::deque<Signal> set_[kMaxEvents];
  std::vector<Signal> waits_[kPipes];  ///< Since the pipe's last command.
  std::vector<uint32_t> spare_;
};

/// Keeps those of the pipe's waits that tell it something which it and the others of them do not.
void Allocation::Settle(int pipe) {
  std::vector<Signal>& waits = waits_[pipe];
  for (size_t i = 0; i < waits.size();) {
    Clock without = clocks_[pipe];
    for (size_t j = 0; j < waits.size(); ++j) {
      if (j != i) without.Join(waits[j].clock);
    }
    if (without.Covers(waits[i].clock)) {
      Drop(waits[i]);
      waits.erase(waits.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
  for (const Signal& wait : waits) clocks_[pipe].Join(wait.clock);
  waits.clear();
}

void Allocation::Add(const Command& command, uint32_t at) {
  const auto pipe = static_cast<int>(command.pipe);
  if (command.op == MicroOp::kWait) {
    std::deque<Signal>& set = set_[command.as<Wait>().event];
    waits_[pipe].push_back(set.front());
    waits_[pipe].back().wait = at;
    return set.pop_front();
  }
  Settle(pipe);
  if (command.op == MicroOp::kSet) {
    set_[command.as<Set>().event].push_back({at, 0, clocks_[pipe]});
  } else {
    ++clocks_[pipe].done[pipe];
  }
}

std::vector<uint32_t> Allocation::Finish() {
  for (const auto& waits : waits_) std::ranges::for_each(waits, [this](const Signal& wait) { Drop(wait); });
  for (const auto& set : set_) {
    for (const Signal& signal : set) spare_.push_back(signal.set);
  }
  std::ranges::sort(spare_);
  return std::move(spare_);
}

}  // namespace

std::vector<uint32_t> SpareEvents(std::span<const std::byte> commands) {
  Allocation allocation;
  for (uint32_t at = 0; at < commands.size();) {
    const Command command = DecodeChecked(commands, at);
    allocation.Add(command, at);
    at += 4 + 4 * command.words;
  }
  return allocation.Finish();
}

}  // namespace takt::npu
