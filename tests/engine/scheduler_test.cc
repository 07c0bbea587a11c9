// Several networks on one core, on a virtual clock: who runs when, exactly.
#include <algorithm>

#include "tests/engine/scheduler_fixture.h"

namespace takt {
namespace {

using test::Arena;
using test::Net;
using test::now;
using test::SchedulerTest;

TEST_F(SchedulerTest, TheMoreUrgentPreemptsBetweenSteps) {
  Net low(4), high(2);
  Task tasks[2] = {{.net = &low.net, .priority = 1, .deadline = 60}, {.net = &high.net, .priority = 2, .deadline = 30}};
  ASSERT_EQ(Init(tasks), Status());
  scheduler_.Release(0);
  EXPECT_EQ(scheduler_.RunStep().task, 0);
  scheduler_.Release(1);
  EXPECT_EQ(Steps(), "bbaaa");
  EXPECT_EQ(now.ticks, 60u);
  EXPECT_EQ(tasks[0].stats.worst_response, 60u);
  EXPECT_EQ(tasks[0].stats.preempted, 1u);
  EXPECT_EQ(tasks[1].stats.worst_response, 20u);
  EXPECT_EQ(tasks[0].stats.missed + tasks[1].stats.missed, 0u);
  EXPECT_EQ(tasks[0].stats.completed, 1u);
}

TEST_F(SchedulerTest, EqualsDoNotPreemptAndGoByRelease) {
  Net a(2), b(2);
  Task tasks[2] = {{.net = &a.net}, {.net = &b.net}};
  ASSERT_EQ(Init(tasks), Status());
  scheduler_.ReleaseAt(0, 7);
  scheduler_.ReleaseAt(1, 5);
  EXPECT_EQ(Steps(3), "bba");
  scheduler_.ReleaseAt(1, 5);
  EXPECT_EQ(Steps(), "bb");  // Steps(3) took a's second one.
}

TEST_F(SchedulerTest, AGroupSharesAnArenaAndIsNotPreemptedWithinItself) {
  Arena shared;
  Net low(3, &shared), high(1, &shared), other(1);
  std::string order;
  const auto note = [](void* log, Interpreter& net, Status) {
    static_cast<std::string*>(log)->append(net.plan().step_count() == 3 ? "L" : "H");
  };
  Task tasks[3] = {{.net = &low.net, .priority = 1, .group = 1, .on_end = note, .context = &order},
                   {.net = &high.net, .priority = 9, .group = 1, .on_end = note, .context = &order},
                   {.net = &other.net, .priority = 5}};
  ASSERT_EQ(Init(tasks), Status());
  scheduler_.Release(0);
  EXPECT_EQ(Steps(1).size(), 1u);
  scheduler_.Release(1);
  scheduler_.Release(2);
  EXPECT_EQ(Steps(), "abc") << "the group's run goes on with the urgency of the one that waits for it, before task c";
  EXPECT_EQ(order, "LH");
}

TEST_F(SchedulerTest, SharedArenasGiveTheResultsOfOwnOnes) {
  Arena shared;
  Net first(3, &shared), second(2, &shared);
  struct Io {
    int8_t in, out;
  } io[2] = {{5, 0}, {70, 0}};
  const auto begin = [](void* c, Interpreter& net) { net.input(0).as<int8_t>()[0] = static_cast<Io*>(c)->in; };
  const auto end = [](void* c, Interpreter& net, Status) { static_cast<Io*>(c)->out = net.output(0).as<int8_t>()[0]; };
  Task tasks[2] = {
      {.net = &first.net, .priority = 1, .group = 3, .on_begin = begin, .on_end = end, .context = &io[0]},
      {.net = &second.net, .priority = 2, .group = 3, .on_begin = begin, .on_end = end, .context = &io[1]}};
  ASSERT_EQ(Init(tasks), Status());
  for (int round = 0; round < 10; ++round) {
    scheduler_.Release(0);
    for (int i = 0; i < round % 3; ++i) scheduler_.RunStep();
    scheduler_.Release(1);
    scheduler_.RunUntilIdle();
    EXPECT_EQ(io[0].out, 5);
    EXPECT_EQ(io[1].out, 70);
  }
}

TEST_F(SchedulerTest, MissesAndOverrunsAreCounted) {
  Net net(3);
  Task tasks[1] = {{.net = &net.net, .deadline = 29}};
  ASSERT_EQ(Init(tasks), Status());
  scheduler_.Release(0);
  scheduler_.Release(0);
  scheduler_.Release(0);
  EXPECT_EQ(Steps(), "aaa");
  EXPECT_EQ(tasks[0].stats.overrun, 2u);
  EXPECT_EQ(tasks[0].stats.missed, 1u);
  scheduler_.ReleaseAt(0, now.ticks);
  scheduler_.RunStep();
  scheduler_.Release(0);  // While it runs: the next run.
  EXPECT_EQ(Steps(), "aaaaa");
  EXPECT_EQ(tasks[0].stats.completed, 3u);
}

TEST_F(SchedulerTest, AFailedRunIsReportedAndTheNextOneIsRight) {
  Net net(3);
  Status seen;
  Task tasks[1] = {{.net = &net.net,
                    .deadline = 1000,
                    .on_end = [](void* c, Interpreter&, Status status) { *static_cast<Status*>(c) = status; },
                    .context = &seen}};
  ASSERT_EQ(Init(tasks), Status());
  scheduler_.Release(0);
  scheduler_.RunStep();
  net.net.Cancel();
  scheduler_.RunUntilIdle();
  EXPECT_EQ(seen.code(), StatusCode::kCancelled);
  EXPECT_EQ(tasks[0].stats.failed, 1u);
  EXPECT_EQ(tasks[0].stats.missed, 1u);
  scheduler_.Release(0);
  scheduler_.RunUntilIdle();
  EXPECT_EQ(seen, Status());
}

TEST_F(SchedulerTest, OthersRunWhileADeviceIsBusy) {
  test::FakeDevice device(now, 25);
  device.poll_ticks = 1;
  Net on_device(test::OneOfEverything(), nullptr, &device), host(3);
  Task tasks[2] = {{.net = &on_device.net, .priority = 9}, {.net = &host.net, .priority = 1}};
  ASSERT_EQ(Init(tasks), Status());
  scheduler_.Release(0);
  scheduler_.Release(1);
  const std::string steps = Steps();
  EXPECT_EQ(steps.substr(0, 5), "aaabb") << steps;  // Copy, submit, copy; the job; meanwhile the other.
  EXPECT_EQ(std::count(steps.begin(), steps.end(), 'b'), 3);
  EXPECT_EQ(tasks[0].stats.completed, 1u);
  EXPECT_EQ(tasks[0].stats.preempted, 0u) << "waiting is not being preempted";
}

TEST_F(SchedulerTest, WhatMayNotBeSharedIsRefused) {
  Arena shared;
  test::FakeDevice device(now, 1);
  const Status refused(StatusCode::kInvalidArgument, Site::kInitOverlap, 1);
  {
    Net a(1, &shared), b(1, &shared);
    Task tasks[2] = {{.net = &a.net}, {.net = &b.net}};
    EXPECT_EQ(Init(tasks), refused) << "an arena without a group";
    tasks[0].group = 1;
    tasks[1].group = 2;
    EXPECT_EQ(Init(tasks), refused) << "an arena of two groups";
    tasks[1].group = 1;
    EXPECT_EQ(Init(tasks), Status());
    tasks[1].net = &a.net;
    EXPECT_EQ(Init(tasks), refused) << "a network twice";
  }
  {
    Net a(test::OneOfEverything(), nullptr, &device), b(test::OneOfEverything(), nullptr, &device);
    Task tasks[2] = {{.net = &a.net, .group = 1}, {.net = &b.net, .group = 1}};
    EXPECT_EQ(Init(tasks), refused) << "a device that cannot tell their jobs apart";
  }
  Interpreter unready;
  Task tasks[1] = {{.net = &unready}};
  EXPECT_EQ(Init(tasks), Status(StatusCode::kInvalidState, Site::kInvokeState, 0));
}

TEST_F(SchedulerTest, TheLongestStepIsThatOfThePlan) {
  test::PlanSpec spec = test::CopyChain(3);
  EXPECT_EQ(LongestStep(Net(spec).plan), 0u);
  spec.costs = {5, 9, 2};
  EXPECT_EQ(LongestStep(Net(spec).plan), 9u);
}

TEST_F(SchedulerTest, AJobIsOneStepWithWhatRunsMeanwhile) {
  test::FakeDevice device(now, 1);
  test::PlanSpec spec = test::OneOfEverything();  // Step 1 submits a job, which step 3 waits for.
  spec.costs = {7, 0, 5, 3, 0, 0, 0, 0, 0, 0};
  EXPECT_EQ(LongestStep(Net(spec, nullptr, &device).plan), 8u);
}

}  // namespace
}  // namespace takt
