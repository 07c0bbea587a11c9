// Jobs on a fake device: order, overlap, failure, cancellation, deadlines in virtual ticks; state across runs cut
// short.
#include <gtest/gtest.h>

#include <span>

#include "engine/core/interpreter.h"
#include "tests/support/fake_device.h"
#include "tests/support/plan_builder.h"

namespace takt {
namespace {

using test::FakeDevice;
using test::PlanSpec;
using test::VirtualClock;

VirtualClock now;

Status Check(const KernelCall&, uint64_t&) {
  return {};
}
/// A copy takes one tick.
void Run(const KernelCall& call) {
  ++now.ticks;
  std::memcpy(call.outputs[0].data, call.inputs[0].data, call.inputs[0].size());
}
constexpr Kernel kCopy{
    {Op::kCopy, Numerics::kAny, Layout::kNeutral, {DataType::kInt8, DataType::kNone, DataType::kInt8}}, Check, Run};
const Kernel* const kTable[] = {&kCopy};

/// OneOfEverything on a device whose jobs take 10 ticks: step 0 at tick 0, the job in [1, 11), step 2 at 1, the wait
/// from 2.
struct Net {
  explicit Net(const DeviceCaps& caps = {}, const PlanSpec& spec = test::OneOfEverything(), uint64_t job_ticks = 10)
      : device(now, job_ticks, caps), file(spec.Pack()) {
    now.ticks = 0;
    EXPECT_EQ(plan.Open(file.view()), Status());
  }
  Status Init() {
    return net.Init(plan, {.arenas = arenas,
                           .runtime = runtime,
                           .kernels = kTable,
                           .devices = devices,
                           .platform = platform,
                           .trace = &trace});
  }
  int8_t state() const { return static_cast<int8_t>(net.tensor(2)[0]); }

  FakeDevice device;
  test::PlanBytes file;
  Plan plan;
  alignas(64) std::byte arena[256] = {};
  alignas(64) std::byte runtime[512] = {};
  std::span<std::byte> arenas[1] = {arena};
  Device* devices[1] = {&device};
  Platform platform{.clock = now.clock()};
  TraceEvent events[4];
  Trace trace{events};
  Interpreter net;
};

TEST(DeviceTest, AJobRunsBesideTheStepBetweenSubmitAndWait) {
  Net n;
  ASSERT_EQ(n.Init(), Status());
  n.net.input("x").as<int8_t>()[0] = 5;
  ASSERT_EQ(n.net.Invoke(), Status());
  EXPECT_EQ(n.device.log, "p0s0d0");
  EXPECT_EQ(n.net.output(0).as<int8_t>()[0], 105);
  EXPECT_EQ(now.ticks, 11u + 3);  // The job's 10 hide step 2's; the loop's condition is false.
  EXPECT_EQ(n.device.counters().done, 1u);
  EXPECT_EQ(n.device.counters().busy_ticks, 10u);
}

TEST(DeviceTest, SteppingReportsThatItWaits) {
  Net n;
  ASSERT_EQ(n.Init(), Status());
  ASSERT_EQ(n.net.Begin(), Status());
  EXPECT_EQ(n.net.Step(100), Progress::kWaiting);
  EXPECT_EQ(n.net.cursor(), 3u);
  now.ticks = 11;
  EXPECT_EQ(n.net.Step(100), Progress::kDone);
}

TEST(DeviceTest, AFailingJobFailsTheRunAtItsWait) {
  Net n;
  ASSERT_EQ(n.Init(), Status());
  n.device.fail = true;
  EXPECT_EQ(n.net.Invoke(), Status(StatusCode::kDeviceFault, Site::kDeviceState, 77, 3));
  n.device.fail = false;
  EXPECT_EQ(n.net.Invoke(), Status());
}

TEST(DeviceTest, CancelEndsTheJobInFlight) {
  Net n;
  ASSERT_EQ(n.Init(), Status());
  ASSERT_EQ(n.net.Begin(), Status());
  EXPECT_EQ(n.net.Step(3), Progress::kMore);
  n.net.Cancel();
  EXPECT_EQ(n.net.Step(1), Progress::kFailed);
  EXPECT_EQ(n.net.status(), Status(StatusCode::kCancelled, Site::kInvokeCancel, 0, 3));
  EXPECT_EQ(n.device.log, "p0s0c0");
  EXPECT_FALSE(n.device.busy());
}

TEST(DeviceTest, EachDeadlineIsKeptToTheTick) {
  constexpr uint16_t kStopsAt[] = {0, 1, 3, 3, 3, 3, 3, 3, 3, 3, 3, 4, 8, 9};
  for (uint64_t deadline = 0; deadline < std::size(kStopsAt); ++deadline) {
    Net n;
    ASSERT_EQ(n.Init(), Status());
    EXPECT_EQ(n.net.Invoke(deadline),
              Status(StatusCode::kDeadlineExceeded, Site::kInvokeDeadline, 0, kStopsAt[deadline]));
    EXPECT_EQ(now.ticks, deadline);
  }
  Net n;
  ASSERT_EQ(n.Init(), Status());
  EXPECT_EQ(n.net.Invoke(std::size(kStopsAt)), Status());
}

TEST(DeviceTest, ADeviceThatCannotCancelMakesTheRunLateByTheJobsRest) {
  Net n({.can_cancel = false});
  ASSERT_EQ(n.Init(), Status());
  EXPECT_EQ(n.net.Invoke(5), Status(StatusCode::kDeadlineExceeded, Site::kInvokeDeadline, 6, 3));
  EXPECT_EQ(n.device.log, "p0s0d0");
  EXPECT_EQ(n.device.Cancel(0).code(), StatusCode::kUnsupported);
}

/// The job is submitted at tick 1; all steps cost 28.
TEST(DeviceTest, AJobThatOutlastsTheWatchdogFailsTheRun) {
  PlanSpec spec = test::OneOfEverything();
  spec.costs = {1, 0, 1, 20, 1, 1, 1, 1, 1, 1};
  const Status hung(StatusCode::kDeviceFault, Site::kInvokeDeadline, 0, 3);
  for (const auto& [given, bound] : {std::pair<uint64_t, uint64_t>{0, 28 * kHangFactor}, {50, 50}}) {
    Net n({}, spec, 1000000);
    n.platform.most_job_ticks = given;
    ASSERT_EQ(n.Init(), Status());
    EXPECT_EQ(n.net.Invoke(), hung);
    EXPECT_EQ(now.ticks, 1 + bound);
    EXPECT_EQ(n.device.log, "p0s0c0");
    EXPECT_EQ(n.net.Invoke(now.ticks + 10).code(), StatusCode::kDeadlineExceeded) << "what comes first counts";
    EXPECT_EQ(n.net.Invoke(), hung) << "each job has its own time";

    ASSERT_EQ(n.net.Begin(), Status());
    n.device.poll_ticks = 7;
    Progress progress = n.net.Step(100);
    while (progress == Progress::kWaiting) progress = n.net.Step(100);
    EXPECT_EQ(progress, Progress::kFailed);
    EXPECT_EQ(n.net.status(), hung);
  }
  Net patient({}, spec, 1000000);
  patient.platform.most_job_ticks = UINT64_MAX;
  ASSERT_EQ(patient.Init(), Status());
  EXPECT_EQ(patient.net.Invoke(), Status());
}

TEST(DeviceTest, WorkOfJobsCounts) {
  PlanSpec spec = test::OneOfEverything();
  spec.limits.mutate_work(0);
  Net n({}, spec);
  uint64_t least = 0;
  for (const uint64_t job_work : {1, 1001}) {
    n.device.job_work = job_work;
    uint64_t work = 1;
    for (;; ++work) {
      PlanOptions options;
      options.limits.work = work;
      ASSERT_EQ(n.plan.Open(n.file.view(), options), Status());
      const Status status = n.Init();
      if (status.ok()) break;
      ASSERT_EQ(status.code(), StatusCode::kLimitExceeded);
      ASSERT_EQ(status.site(), Site::kInitWork);
    }
    EXPECT_EQ(work - least, job_work == 1 ? work : 1000);
    least = work;
  }
}

TEST(DeviceTest, AHungDeviceThatCannotCancelIsGivenUp) {
  PlanSpec spec = test::OneOfEverything();
  spec.costs = {1, 0, 1, 20, 1, 1, 1, 1, 1, 1};
  static Status told;
  Net n({.can_cancel = false}, spec, 1000000);
  n.platform.panic = [](void*, Status status) { told = status; };
  ASSERT_EQ(n.Init(), Status());
  EXPECT_EQ(n.net.Invoke(), Status(StatusCode::kDeviceFault, Site::kInvokeDeadline, 0, 3));
  EXPECT_EQ(told, Status(StatusCode::kDeviceFault, Site::kDeviceState, 0));
  EXPECT_EQ(now.ticks, 1 + 2 * 28 * kHangFactor) << "the run's wait, then that for the device to stop";
}

TEST(DeviceTest, ADeviceThatDoesNotStopIsAPanic) {
  Net n;
  static Status told;
  n.platform.panic = [](void*, Status s) { told = s; };
  ASSERT_EQ(n.Init(), Status());
  n.device.stuck = true;
  (void)n.net.Invoke(5);
  EXPECT_EQ(told.code(), StatusCode::kDeviceFault);
}

TEST(DeviceTest, CachesAreCleanedBeforeAndInvalidatedAfterAJob) {
  Net n({.coherent = false});
  struct Log {
    std::string text;
    std::byte* arena;
    void Add(char what, std::span<std::byte> bytes) { text += what + std::to_string((bytes.data() - arena) / 16); }
  } log{{}, n.arena};
  n.platform.context = &log;
  n.platform.cache_clean = [](void* l, std::span<std::byte> b) { static_cast<Log*>(l)->Add('c', b); };
  n.platform.cache_invalidate = [](void* l, std::span<std::byte> b) { static_cast<Log*>(l)->Add('i', b); };
  n.platform.barrier = [](void* l) { static_cast<Log*>(l)->text += '|'; };
  ASSERT_EQ(n.Init(), Status());
  ASSERT_EQ(n.net.Invoke(), Status());
  EXPECT_EQ(log.text, "c3c4||i4");
}

TEST(DeviceTest, JobsAreKnownByTheirId) {
  VirtualClock clock;
  FakeDevice device(clock, 4, {.queue_depth = 2});
  std::byte memory[2][4] = {};
  const std::span<std::byte> bases[2] = {memory[0], memory[1]};
  Status status;
  uint64_t work = 0;
  for (uint16_t id = 1; id < 4; ++id)
    EXPECT_EQ(device.Prepare({.id = id, .stream = {}, .bases = bases}, work), Status());
  EXPECT_EQ(device.Submit({.id = 1, .stream = {}, .bases = bases}), Status());
  EXPECT_EQ(device.Submit({.id = 1, .stream = {}, .bases = bases}).code(), StatusCode::kInvalidState);
  clock.ticks = 2;
  EXPECT_EQ(device.Submit({.id = 2, .stream = {}, .bases = bases}), Status());
  EXPECT_EQ(device.Submit({.id = 3, .stream = {}, .bases = bases}).detail(), 3u);
  EXPECT_EQ(device.Poll(3, status), JobState::kFailed);
  EXPECT_EQ(status, Status(StatusCode::kInvalidState, Site::kDeviceState, 3));
  clock.ticks = 4;
  EXPECT_EQ(device.Poll(2, status), JobState::kRunning);
  EXPECT_EQ(device.Poll(1, status), JobState::kDone);
  EXPECT_EQ(device.Wait(2, {}, status), JobState::kDone);
  EXPECT_EQ(clock.ticks, 6u);
  EXPECT_EQ(device.counters().submitted, 2u);
  EXPECT_EQ(device.Reset(), Status());
  EXPECT_EQ(device.counters().submitted, 0u);
}

TEST(DeviceTest, InitRefusesDevicesThatDoNotSuit) {
  Net aligned({.base_alignment = 4096});
  EXPECT_EQ(aligned.Init().site(), Site::kDeviceBase);
  Net queue({.queue_depth = 0});
  EXPECT_EQ(queue.Init(), Status(StatusCode::kUnsupported, Site::kInitDevice, 0, 1));
  Net missing;
  missing.devices[0] = nullptr;
  EXPECT_EQ(missing.Init(), Status(StatusCode::kInvalidArgument, Site::kInitDevice, 0));
}

/// h = s + 1 would be a counter; here the copies under a condition, not a loop, take x to e, and the commit takes it to
/// the state.
TEST(StateTest, ARunCutShortAnywhereLeavesAShadowedStateAsItWas) {
  PlanSpec spec = test::OneOfEverything();
  spec.steps[4] = test::Step(schema::Params::SkipIf, schema::SkipIfParams(2), 4, 1, 0);
  for (uint64_t deadline = 0; deadline < 40; ++deadline) {
    Net n({}, spec);
    ASSERT_EQ(n.Init(), Status());
    n.net.input("c").as<bool>()[0] = true;
    n.net.input("x").as<int8_t>()[0] = 5;
    ASSERT_EQ(n.net.Invoke(), Status());
    ASSERT_EQ(n.state(), 5);
    n.net.input("x").as<int8_t>()[0] = 7;
    const Status status = n.net.Invoke(now.ticks + deadline);
    EXPECT_EQ(n.state(), status.ok() ? 7 : 5) << deadline;
    EXPECT_EQ(n.net.Begin(), Status());
  }
}

TEST(StateTest, ARunCutShortPoisonsStateThatIsUpdatedInPlace) {
  PlanSpec spec = test::OneOfEverything();
  spec.states[0] = schema::State(2, 0xFFFF, 0xFFFF);
  Net n({}, spec);
  ASSERT_EQ(n.Init(), Status());
  n.net.Cancel();
  EXPECT_EQ(n.net.Invoke().code(), StatusCode::kCancelled);
  EXPECT_EQ(n.net.Invoke(), Status()) << "no step had run";
  EXPECT_EQ(n.net.Invoke(now.ticks + 5).code(), StatusCode::kDeadlineExceeded);
  EXPECT_EQ(n.net.Invoke(), Status(StatusCode::kInvalidState, Site::kInvokePoisoned, 0));
  EXPECT_EQ(n.net.ResetState(), Status());
  EXPECT_EQ(n.state(), 0);
  EXPECT_EQ(n.net.Invoke(), Status());
}

TEST(TraceTest, KeepsTheLatestEventsAndSaysThatItLostSome) {
  Net n;
  ASSERT_EQ(n.Init(), Status());
  ASSERT_EQ(n.net.Begin(), Status());
  ASSERT_EQ(n.net.Step(3), Progress::kMore);
  ASSERT_EQ(n.trace.size(), 3u);
  EXPECT_FALSE(n.trace.overflowed());
  EXPECT_EQ(n.trace[0].step, 0);
  EXPECT_EQ(n.trace[0].begin, 0u);
  EXPECT_EQ(n.trace[0].end, 1u);
  now.ticks = 20;
  ASSERT_EQ(n.net.Step(100), Progress::kDone);
  ASSERT_EQ(n.trace.size(), 4u);
  EXPECT_TRUE(n.trace.overflowed());
  EXPECT_EQ(n.trace[0].step, 4);  // Steps 3, 4 (the loop, not entered), 7, 8, 9: the last four.
  EXPECT_EQ(n.trace[3].step, 9);
  EXPECT_EQ(n.trace[3].end, now.ticks);
  n.trace.Clear();
  EXPECT_EQ(n.trace.size(), 0u);
  EXPECT_FALSE(n.trace.overflowed());
}

}  // namespace
}  // namespace takt
