// What every device must do (engine/hal/device.h).
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/conformance/device_bench.h"

namespace takt::test {
namespace {

constexpr Site kState = Site::kDeviceState;
constexpr JobRange kAll = {0, Bench::kJobs};

Status Prepare(Bench& b, const Job& job) {
  uint64_t work = 0;
  return b.device().Prepare(job, work);
}
/// Prepares and submits the jobs below `count`.
bool Start(Bench& b, uint16_t count = 1) {
  for (uint16_t id = 0; id < count; ++id) {
    for (size_t i = 0; i < Bench::kBytes; ++i) b.input(id)[i] = static_cast<std::byte>(i * 3 + id);
    if (!Prepare(b, b.job(id)).ok()) return false;
  }
  for (uint16_t id = 0; id < count; ++id)
    if (!b.device().Submit(b.job(id)).ok()) return false;
  return true;
}
bool IsRight(Bench& b, uint16_t id) {
  return std::ranges::equal(b.input(id), b.output(id),
                            [&](std::byte in, std::byte out) { return b.Expected(in) == out; });
}
JobState Wait(Bench& b, uint16_t id, const WaitLimit& limit = {}) {
  Status status;
  return b.device().Wait(id, limit, status);
}
JobState Poll(Bench& b, uint16_t id) {
  Status status;
  return b.device().Poll(id, status);
}

/// Each case gives what went wrong, or "".
std::string JobsComputeWhatTheirStreamSays(Bench& b) {
  if (!Start(b)) return "refused";
  if (Wait(b, 0) != JobState::kDone) return "not done";
  return IsRight(b, 0) ? "" : "wrong bytes";
}

std::string PollEndsWithoutWait(Bench& b) {
  if (!Start(b)) return "refused";
  for (int i = 0; i < 1000000; ++i) {
    if (Poll(b, 0) == JobState::kDone) return b.device().busy() ? "still busy" : "";
  }
  return "never done";
}

std::string UnpreparedJobsAreRefused(Bench& b) {
  if (b.device().Submit(b.job(0)) != Status(StatusCode::kInvalidState, kState, 0)) return "accepted";
  if (!Prepare(b, b.job(1)).ok()) return "refused";
  if (b.device().Submit(b.job(0)).ok()) return "accepted since another job was prepared";
  return b.device().Submit(b.job(1)).ok() ? "" : "refused";
}

std::string AfterResetJobsWantPreparing(Bench& b) {
  if (!Start(b) || Wait(b, 0) != JobState::kDone || !b.device().Reset().ok()) return "not done";
  if (b.device().Submit(b.job(0)).code() != StatusCode::kInvalidState) return "accepted";
  return Start(b) ? "" : "refused";
}

std::string OneJobIsInFlightOnce(Bench& b) {
  if (!Start(b)) return "refused";
  return b.device().Submit(b.job(0)).code() == StatusCode::kInvalidState ? "" : "accepted twice";
}

std::string NoMoreJobsThanTheQueueHolds(Bench& b) {
  const uint16_t depth = b.device().caps().queue_depth;
  if (!Prepare(b, b.job(depth)).ok() || !Start(b, depth)) return "refused";
  if (b.device().Submit(b.job(depth)) != Status(StatusCode::kInvalidState, kState, depth)) return "accepted";
  if (Wait(b, 0) != JobState::kDone) return "not done";
  return b.device().Submit(b.job(depth)).ok() ? "" : "refused though there is room";
}

std::string JobsAreWaitedForInAnyOrder(Bench& b) {
  if (b.device().caps().queue_depth < 2 || !Start(b, 2)) return "refused";
  if (Wait(b, 1) != JobState::kDone || Wait(b, 0) != JobState::kDone) return "not done";
  return IsRight(b, 0) && IsRight(b, 1) ? "" : "wrong bytes";
}

std::string JobsNotInFlightHaveFailed(Bench& b) {
  const Status want(StatusCode::kInvalidState, kState, 1);
  Status polled, waited;
  if (!Start(b)) return "refused";
  if (b.device().Poll(1, polled) != JobState::kFailed || b.device().Wait(1, {}, waited) != JobState::kFailed) {
    return "another state";
  }
  return polled == want && waited == want ? "" : "another status";
}

std::string BrokenStreamsAreRefused(Bench& b) {
  if (!Prepare(b, b.job(0)).ok()) return "refused";
  Job cut = b.job(0);
  cut.stream = cut.stream.first(cut.stream.size() / 2);
  if (Prepare(b, cut).ok()) return "a stream cut in half passed";
  return b.device().Submit(b.job(0)).ok() ? "what Prepare refused is submitted" : "";
}

std::string ConstantsAreNotWritten(Bench& b) {
  Job job = b.job(0);
  job.read_only = 2;
  return Prepare(b, job).ok() ? "accepted" : "";
}

std::string MisalignedBasesAreRefused(Bench& b) {
  const Job job = b.job(0);
  const std::span<std::byte> bases[] = {job.bases[0].subspan(1), job.bases[1]};
  return Prepare(b, {0, job.stream, bases, 1}) == Status(StatusCode::kMisaligned, Site::kDeviceBase, 0) ? ""
                                                                                                        : "accepted";
}

std::string WaitStopsAtItsDeadline(Bench& b) {
  if (!Start(b)) return "refused";
  const uint64_t deadline = b.clock().Now() + 1;
  if (Wait(b, 0, {.deadline = deadline}) != JobState::kRunning) return "done too early";
  return b.clock().Now() == deadline ? "" : "missed the deadline";
}

std::string WaitStopsWhenCancelled(Bench& b) {
  if (!Start(b)) return "refused";
  const uint64_t before = b.clock().Now();
  const std::atomic<bool> cancel = true;
  if (Wait(b, 0, {.cancel = &cancel}) != JobState::kRunning) return "not running any more";
  if (b.clock().Now() != before) return "waited";
  return Wait(b, 0) == JobState::kDone ? "" : "not done";
}

std::string CancelledJobsAreGone(Bench& b) {
  if (!Start(b)) return "refused";
  if (Poll(b, 0) != JobState::kRunning) return "nothing to cancel";
  if (!b.device().caps().can_cancel) {
    if (b.device().Cancel(0).code() != StatusCode::kUnsupported) return "cancelled, against its caps";
    return Wait(b, 0) == JobState::kDone && IsRight(b, 0) ? "" : "the job suffered";
  }
  if (!b.device().Cancel(0).ok() || b.device().busy()) return "still busy";
  return Start(b) && Wait(b, 0) == JobState::kDone && IsRight(b, 0) ? "" : "no job after a cancel";
}

std::string StopLeavesNothingInFlight(Bench& b) {
  if (!Start(b)) return "refused";
  const bool can_cancel = b.device().caps().can_cancel;
  const Status at_once = b.device().Stop(kAll, b.clock(), b.clock().Now());
  const Status running(StatusCode::kDeviceFault, kState, 0);
  if (at_once != (can_cancel ? Status() : running)) return "another status";
  if (b.device().busy() == can_cancel) return "not what the status says";
  if (!b.device().Stop(kAll, b.clock(), UINT64_MAX).ok() || b.device().busy()) return "still busy";
  return can_cancel || IsRight(b, 0) ? "" : "the job suffered";
}

std::string StopLeavesOtherPlansJobs(Bench& b) {
  if (b.device().caps().queue_depth < 2 || !Start(b, 2)) return "refused";
  if (!b.device().Stop({0, 1}, b.clock(), UINT64_MAX).ok()) return "not stopped";
  if (Poll(b, 0) != JobState::kFailed) return "still there";
  return Wait(b, 1) == JobState::kDone && IsRight(b, 1) ? "" : "another job suffered";
}

/// Two plans, of jobs 0 and 1.
std::string AnotherPlansJobIsWaitedFor(Bench& b) {
  const JobRange first = {0, 1}, second = {1, 1};
  if (!Prepare(b, b.job(1)).ok() || !Start(b)) return "refused";
  const uint16_t depth = b.device().caps().queue_depth;
  if (Poll(b, 0) != JobState::kRunning) return "done at once";
  if (b.device().HasRoom(first) != (depth > 1)) return "not its own queue";
  if (b.device().HasRoom(second)) return "beside another plan's job";
  for (int i = 0; i < 1000000 && !b.device().HasRoom(second); ++i) {
  }
  if (!b.device().Submit(b.job(1)).ok()) return "refused though the other job has ended";
  if (Wait(b, 0) != JobState::kDone || !IsRight(b, 0)) return "the ended job is forgotten";
  return Wait(b, 1) == JobState::kDone && IsRight(b, 1) ? "" : "the second job is not right";
}

std::string FailuresAreStatuses(Bench& b) {
  if (!b.FailNext() || !Start(b)) return "no failure";
  Status status;
  if (b.device().Wait(0, {}, status) != JobState::kFailed) return "passed";
  if (status.code() != StatusCode::kDeviceFault) return "no fault in the status";
  if (b.device().busy()) return "still busy";
  return Start(b) && Wait(b, 0) == JobState::kDone ? "" : "no job after a failure";
}

std::string CountersCount(Bench& b) {
  if (!Start(b) || Wait(b, 0) != JobState::kDone || !b.device().Submit(b.job(0)).ok()) return "refused";
  if (!b.device().Stop(kAll, b.clock(), UINT64_MAX).ok()) return "still busy";
  const DeviceCounters n = b.device().counters();
  const uint32_t cancelled = b.device().caps().can_cancel ? 1 : 0;
  if (n.submitted != 2 || n.done != 2 - cancelled || n.cancelled != cancelled || n.failed != 0) return "miscounted";
  return (n.busy_ticks == 0) == (b.clock().now == nullptr) ? "" : "no time of a job";
}

std::string ResetForgetsEverything(Bench& b) {
  if (!Start(b) || !b.device().Reset().ok()) return "refused";
  const DeviceCounters n = b.device().counters();
  if (b.device().busy() || Poll(b, 0) != JobState::kFailed) return "a job is left";
  return n.submitted + n.done + n.failed + n.cancelled + n.busy_ticks == 0 ? "" : "counts are left";
}

const std::map<std::string, std::string (*)(Bench&)> kCases = {
#define TAKT_CASE(name) \
  { #name, name }
    TAKT_CASE(JobsComputeWhatTheirStreamSays),
    TAKT_CASE(PollEndsWithoutWait),
    TAKT_CASE(UnpreparedJobsAreRefused),
    TAKT_CASE(AfterResetJobsWantPreparing),
    TAKT_CASE(OneJobIsInFlightOnce),
    TAKT_CASE(NoMoreJobsThanTheQueueHolds),
    TAKT_CASE(JobsAreWaitedForInAnyOrder),
    TAKT_CASE(JobsNotInFlightHaveFailed),
    TAKT_CASE(BrokenStreamsAreRefused),
    TAKT_CASE(ConstantsAreNotWritten),
    TAKT_CASE(MisalignedBasesAreRefused),
    TAKT_CASE(WaitStopsAtItsDeadline),
    TAKT_CASE(WaitStopsWhenCancelled),
    TAKT_CASE(CancelledJobsAreGone),
    TAKT_CASE(StopLeavesNothingInFlight),
    TAKT_CASE(StopLeavesOtherPlansJobs),
    TAKT_CASE(AnotherPlansJobIsWaitedFor),
    TAKT_CASE(FailuresAreStatuses),
    TAKT_CASE(CountersCount),
    TAKT_CASE(ResetForgetsEverything),
#undef TAKT_CASE
};

class DeviceConformance : public testing::TestWithParam<DevicePort> {};
INSTANTIATE_TEST_SUITE_P(Devices, DeviceConformance, testing::ValuesIn(DevicePorts()),
                         [](const auto& port) { return port.param.name; });

TEST_P(DeviceConformance, PassesEveryCaseOrSaysWhyNot) {
  for (const auto& [name, run] : kCases) {
    EXPECT_EQ(Unexpected(GetParam().exceptions, name, run(*GetParam().make())), "");
  }
}

TEST_P(DeviceConformance, ListsCasesThatExist) {
  for (const auto* list : {&GetParam().exceptions.unsupported, &GetParam().exceptions.expected_to_fail}) {
    for (const auto& [name, reason] : *list) {
      EXPECT_TRUE(kCases.contains(name)) << name;
      EXPECT_NE(reason, "") << name;
    }
  }
}

TEST(ExceptionsTest, AnUnexpectedPassFails) {
  const Exceptions lists = {.unsupported = {{"a", "why"}}, .expected_to_fail = {{"b", "why"}}};
  for (const char* name : {"a", "b"}) {
    EXPECT_EQ(Unexpected(lists, name, "wrong"), "");
    EXPECT_EQ(Unexpected(lists, name, ""), std::string(name) + " passes, although: why");
  }
  EXPECT_EQ(Unexpected(lists, "c", ""), "");
  EXPECT_EQ(Unexpected(lists, "c", "wrong"), "c: wrong");
}

}  // namespace
}  // namespace takt::test
