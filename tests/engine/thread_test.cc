// What other threads may do while networks run: cancel, release, share a plan. ThreadSanitizer watches (preset tsan).
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "engine/core/scheduler.h"
#include "ports/npu_emu/npu_emu.h"
#include "ports/reference/kernels.h"
#include "tests/npu/npu_fixture.h"
#include "tests/support/plan_builder.h"
#include "tests/support/plan_runner.h"
#include "tests/support/try_plan.h"

namespace takt {
namespace {

/// An interpreter of a plan that several may share.
struct Net {
  explicit Net(const Plan& plan, std::span<Device* const> devices = {}, uint16_t first_job = 0) {
    EXPECT_EQ(net.Init(plan, {.arenas = arenas,
                              .runtime = runtime,
                              .kernels = reference::AllKernels(),
                              .devices = devices,
                              .first_job = first_job,
                              .platform = {.clock = {[](void*) {
                                                       return static_cast<uint64_t>(
                                                           std::chrono::steady_clock::now().time_since_epoch().count());
                                                     },
                                                     nullptr}}}),
              Status());
  }
  alignas(64) std::byte arena[4096] = {};
  alignas(64) std::byte runtime[4096] = {};
  std::span<std::byte> arenas[1] = {arena};
  Interpreter net;
};

class ThreadTest : public testing::Test {
 protected:
  ThreadTest() : file_(test::SmallNet().Pack()) { EXPECT_EQ(plan_.Open(file_.view()), Status()); }

  test::PlanBytes file_;
  Plan plan_;
};

TEST_F(ThreadTest, CancelFromAnotherThread) {
  const auto net = std::make_unique<Net>(plan_);
  std::atomic<bool> done{false};
  std::thread canceller([&] {
    while (!done) {
      net->net.Cancel();
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  });
  for (int cancelled = 0; cancelled < 50;) {
    const Status status = net->net.Invoke();
    EXPECT_TRUE(status.ok() || status.code() == StatusCode::kCancelled);
    cancelled += !status.ok();
  }
  done = true;
  canceller.join();
  net->net.ClearCancel();
  EXPECT_EQ(net->net.Invoke(), Status());
}

/// OneOfEverything, whose job copies 16 bytes on the emulated NPU.
test::PlanBytes PlanWithAJob() {
  npu::StreamWriter stream;
  stream.Emit(npu::Pipe::kLoad, npu::Move(npu::Base(0), npu::At(npu::Buffer::kFeature), 16));
  stream.EmitSet(npu::Pipe::kLoad, 0);
  stream.EmitWait(npu::Pipe::kStore, 0);
  stream.Emit(npu::Pipe::kStore, npu::Move(npu::At(npu::Buffer::kFeature), npu::Base(1), 16));
  test::PlanSpec spec = test::OneOfEverything();
  spec.costs.clear();  // They bound jobs in ticks of one clock, and this is another one.
  spec.constants.clear();
  spec.segment.clear();
  spec.AddConstant(stream.Finish());
  return spec.Pack();
}

TEST_F(ThreadTest, CancelOfNetworksOnOneNpuFromAnotherThread) {
  const npu::Machine machine = npu::PlainMachine();
  test::AlignedBytes workspace(npu::NpuEmu::WorkspaceBytes(machine));
  npu::VirtualClock clock;
  npu::NpuEmu device;
  ASSERT_EQ(device.Init({reinterpret_cast<const uint8_t*>(&machine), sizeof(machine)}, workspace.span(), clock),
            Status());
  Device* const devices[] = {&device};
  const test::PlanBytes file = PlanWithAJob();
  Plan plan;
  ASSERT_EQ(plan.Open(file.view()), Status());
  const auto first = std::make_unique<Net>(plan, devices), second = std::make_unique<Net>(plan, devices, 1);
  int ended[2] = {};  // Well, and cancelled.
  Task tasks[2] = {{.net = &first->net}, {.net = &second->net, .priority = 1}};
  for (Task& task : tasks) {
    task.context = ended;
    task.on_begin = [](void*, Interpreter& net) { net.input("x").as<int8_t>()[3] = 7; };
    task.on_end = [](void* counts, Interpreter& net, Status status) {
      EXPECT_TRUE(status.ok() ? net.output(0).as<int8_t>()[3] == 7 : status.code() == StatusCode::kCancelled);
      ++static_cast<int*>(counts)[status.ok() ? 0 : 1];
    };
  }
  Scheduler scheduler;
  ASSERT_EQ(scheduler.Init(tasks, clock.clock()), Status());
  std::atomic<bool> done{false};
  std::thread canceller([&] {
    for (uint32_t i = 0; !done; ++i) {
      (i % 2 == 0 ? first : second)->net.Cancel();
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  });
  while (ended[0] < 200 || ended[1] < 50) {
    for (uint32_t i = 0; i < 2; ++i) scheduler.Release(i);
    scheduler.RunUntilIdle();
    const Status status = second->net.Invoke();  // The way that waits inside of the device.
    EXPECT_TRUE(status.ok() || status.code() == StatusCode::kCancelled);
  }
  done = true;
  canceller.join();
}

TEST_F(ThreadTest, ThreadsShareAPlan) {
  std::vector<std::thread> threads;
  std::vector<std::vector<std::byte>> outputs(4);
  threads.reserve(outputs.size());
  for (auto& output : outputs) {
    threads.emplace_back([&] {
      const auto net = std::make_unique<Net>(plan_);
      for (int i = 0; i < 200; ++i) ASSERT_EQ(net->net.Invoke(), Status());
      const auto bytes = net->net.output(0).bytes;
      output.assign(bytes.begin(), bytes.end());
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& output : outputs) EXPECT_EQ(output, outputs[0]);
}

TEST_F(ThreadTest, ReleasesFromAnotherThreadAllRunOrAreCounted) {
  const auto first = std::make_unique<Net>(plan_), second = std::make_unique<Net>(plan_);
  Task tasks[2] = {{.net = &first->net}, {.net = &second->net, .priority = 1}};
  Scheduler scheduler;
  ASSERT_EQ(scheduler.Init(tasks, {}), Status());
  constexpr uint32_t kReleases = 400;
  std::atomic<bool> done{false};
  std::thread interrupts([&] {
    for (uint32_t i = 0; i < kReleases; ++i) {
      scheduler.Release(i % 2);
      if (i % 8 == 0) std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    done = true;
  });
  while (!done) scheduler.RunStep();
  interrupts.join();
  scheduler.RunUntilIdle();
  uint32_t seen = 0;
  for (const Task& task : tasks) seen += task.stats.completed + task.stats.overrun;
  EXPECT_EQ(seen, kReleases);
}

}  // namespace
}  // namespace takt
