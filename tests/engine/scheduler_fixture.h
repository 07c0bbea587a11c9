// Networks of copies under a scheduler, on a virtual clock.
#ifndef TAKT_TESTS_ENGINE_SCHEDULER_FIXTURE_H_
#define TAKT_TESTS_ENGINE_SCHEDULER_FIXTURE_H_

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "engine/core/scheduler.h"
#include "tests/support/fake_device.h"
#include "tests/support/plan_builder.h"

namespace takt::test {

inline VirtualClock now;

inline Status Check(const KernelCall&, uint64_t&) {
  return {};
}
/// A copy takes 10 ticks.
inline void Run(const KernelCall& call) {
  now.ticks += 10;
  std::memcpy(call.outputs[0].data, call.inputs[0].data, call.inputs[0].size());
}
inline constexpr Kernel kCopy{
    {Op::kCopy, Numerics::kAny, Layout::kNeutral, {DataType::kInt8, DataType::kNone, DataType::kInt8}}, Check, Run};
inline const Kernel* const kTable[] = {&kCopy};

struct alignas(64) Arena {
  std::byte bytes[512] = {};
};

/// A chain of copies, its runtime memory, and an arena of its own or another one's.
struct Net {
  explicit Net(const PlanSpec& spec, Arena* shared = nullptr, Device* device = nullptr, uint16_t first_job = 0,
               uint64_t most_job_ticks = 0)
      : file(spec.Pack()), used(shared != nullptr ? shared : &own), devices{device} {
    EXPECT_EQ(plan.Open(file.view()), Status());
    const std::span<std::byte> arenas[1] = {used->bytes};
    EXPECT_EQ(net.Init(plan, {.arenas = arenas,
                              .runtime = runtime,
                              .kernels = kTable,
                              .devices = std::span<Device* const>(devices, device != nullptr ? 1 : 0),
                              .first_job = first_job,
                              .platform = {.clock = now.clock(), .most_job_ticks = most_job_ticks}}),
              Status());
  }
  explicit Net(int steps, Arena* shared = nullptr) : Net(CopyChain(steps), shared) {}

  PlanBytes file;
  Plan plan;
  Arena own;
  Arena* used;
  Device* devices[1];
  alignas(64) std::byte runtime[1024] = {};
  Interpreter net;
};

class SchedulerTest : public testing::Test {
 protected:
  SchedulerTest() { now.ticks = 0; }

  Status Init(std::span<Task> tasks) { return scheduler_.Init(tasks, now.clock()); }
  /// One letter a step: the task's, from 'a'; '.' where all wait.
  std::string Steps(int most = 100) {
    std::string steps;
    for (Turn turn = scheduler_.RunStep(); turn.activity != Activity::kIdle && most-- > 0; turn = scheduler_.RunStep())
      steps += turn.activity == Activity::kRan ? static_cast<char>('a' + turn.task) : '.';
    return steps;
  }

  Scheduler scheduler_;
};

}  // namespace takt::test

#endif  // TAKT_TESTS_ENGINE_SCHEDULER_FIXTURE_H_
