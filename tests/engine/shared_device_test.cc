// Several networks on one device: whose job goes next, and whom a fault, a cancel or a reset concerns.
#include <memory>
#include <vector>

#include "tests/engine/scheduler_fixture.h"

namespace takt {
namespace {

using test::Net;
using test::now;

constexpr uint64_t kJobTicks = 25;

/// Networks of one job each, task i the more urgent the greater i; network i gets 5 + i and gives 105 + i.
class SharedDeviceTest : public test::SchedulerTest {
 protected:
  void Start(size_t count, const DeviceCaps& caps = {.queue_depth = 8}) {
    device_ = std::make_unique<test::FakeDevice>(now, kJobTicks, caps);
    device_->poll_ticks = 1;
    tasks_ = std::vector<Task>(count);
    seen_.resize(count);
    for (size_t i = 0; i < count; ++i) {
      nets_.push_back(std::make_unique<Net>(test::OneOfEverything(), nullptr, device_.get(), static_cast<uint16_t>(i)));
      tasks_[i].net = &nets_[i]->net;
      tasks_[i].priority = static_cast<uint8_t>(i);
      tasks_[i].on_begin = [](void*, Interpreter& net) {
        net.input("x").as<int8_t>()[0] = static_cast<int8_t>(5 + net.jobs().first);
      };
      tasks_[i].on_end = [](void* seen, Interpreter&, Status status) { *static_cast<Status*>(seen) = status; };
      tasks_[i].context = &seen_[i];
    }
    (void)Init(tasks_);
    device_->log.clear();
  }
  /// Steps that ran or waited, of whoever was asked.
  void Run(int steps) {
    for (int i = 0; i < steps; ++i) (void)scheduler_.RunStep();
  }
  /// Task `i`, alone, up to its job's submission: a copy, then the job.
  void Submit(uint32_t i) {
    scheduler_.Release(i);
    Run(2);
  }
  /// Task 0 has its job on the device, for which task 1 waits.
  void SubmitAndWait() {
    Submit(0);
    scheduler_.Release(1);
    Run(1);
  }
  int8_t Output(size_t i) const { return nets_[i]->net.output(0).as<int8_t>()[0]; }
  void ExpectRightRuns() {
    for (size_t i = 0; i < nets_.size(); ++i) {
      scheduler_.Release(static_cast<uint32_t>(i));
      scheduler_.RunUntilIdle();
      EXPECT_EQ(seen_[i], Status());
      EXPECT_EQ(Output(i), 105 + static_cast<int>(i));
    }
  }

  std::unique_ptr<test::FakeDevice> device_;
  std::vector<std::unique_ptr<Net>> nets_;
  std::vector<Task> tasks_;
  std::vector<Status> seen_;
};

TEST_F(SharedDeviceTest, TheMoreUrgentJobGoesNext) {
  Start(3);
  SubmitAndWait();
  scheduler_.Release(2);
  scheduler_.RunUntilIdle();
  EXPECT_EQ(device_->log, "s0d0s2d2s1d1") << "one network's jobs at a time, though the queue holds eight";
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(Output(i), 105 + static_cast<int>(i));
}

TEST_F(SharedDeviceTest, AnEndedJobMakesRoomBeforeItsOwnerAsks) {
  Start(2, {.queue_depth = 1});
  Submit(0);
  now.ticks += kJobTicks;
  Submit(1);
  EXPECT_EQ(device_->log, "s0d0s1");
  EXPECT_EQ(nets_[0]->net.cursor(), 2u);
  scheduler_.RunUntilIdle();
  EXPECT_EQ(seen_[0], Status());
  EXPECT_EQ(Output(0), 105);
}

TEST_F(SharedDeviceTest, OthersJobsAreWaitedForAsLongAsTheWatchdogSays) {
  Start(1);
  Net patient(test::OneOfEverything(), nullptr, device_.get(), 1);
  Net hasty(test::OneOfEverything(), nullptr, device_.get(), 2, kJobTicks / 2);
  Submit(0);
  device_->log.clear();
  ASSERT_EQ(hasty.net.Begin(), Status());
  ASSERT_EQ(hasty.net.Step(1), Progress::kMore);
  const uint64_t begin = now.ticks;
  while (hasty.net.Step(1) == Progress::kWaiting) {
  }
  EXPECT_EQ(hasty.net.status(), Status(StatusCode::kDeviceFault, Site::kDeviceState, 0, 1));
  EXPECT_EQ(now.ticks - begin, kJobTicks / 2 + 1) << "a tick passes before the first answer";
  EXPECT_EQ(patient.net.Invoke(), Status());
  EXPECT_EQ(device_->log, "d0s1d1");
  scheduler_.RunUntilIdle();
  EXPECT_EQ(seen_[0], Status());
}

TEST_F(SharedDeviceTest, AFailedJobFailsItsOwnNetworkOnly) {
  Start(3);
  Submit(1);
  device_->fail_next = true;
  scheduler_.Release(0);
  scheduler_.Release(2);
  scheduler_.RunUntilIdle();
  EXPECT_EQ(seen_[1], Status(StatusCode::kDeviceFault, Site::kDeviceState, 77, 3));
  EXPECT_EQ(device_->log, "s1f1s2d2s0d0");
  EXPECT_EQ(Output(0), 105);
  EXPECT_EQ(Output(2), 107);
  ExpectRightRuns();
}

TEST_F(SharedDeviceTest, ACancelledNetworkEndsItsOwnJobsOnly) {
  Start(2);
  SubmitAndWait();
  nets_[1]->net.Cancel();  // Waits for the device.
  scheduler_.RunUntilIdle();
  EXPECT_EQ(seen_[1].code(), StatusCode::kCancelled);
  EXPECT_EQ(device_->log, "s0d0");
  EXPECT_EQ(Output(0), 105);

  device_->log.clear();
  SubmitAndWait();
  nets_[0]->net.Cancel();  // Has its job there.
  scheduler_.RunUntilIdle();
  EXPECT_EQ(seen_[0].code(), StatusCode::kCancelled);
  EXPECT_EQ(device_->log, "s0c0s1d1");
  EXPECT_EQ(Output(1), 106);
  ExpectRightRuns();
}

TEST_F(SharedDeviceTest, AResetFailsTheRunsThatLoseAJob) {
  Start(2);
  SubmitAndWait();
  ASSERT_EQ(device_->Reset(), Status());
  EXPECT_EQ(nets_[1]->net.Step(1), Progress::kFailed) << "not prepared";
  for (const auto& net : nets_) ASSERT_EQ(net->net.PrepareJobs(), Status());
  scheduler_.RunUntilIdle();
  EXPECT_EQ(seen_[0], Status(StatusCode::kInvalidState, Site::kDeviceState, 0, 3));
  EXPECT_EQ(seen_[1], Status(StatusCode::kInvalidState, Site::kDeviceState, 1, 1));
  ExpectRightRuns();

  SubmitAndWait();
  ASSERT_EQ(device_->Reset(), Status());
  for (const auto& net : nets_) ASSERT_EQ(net->net.PrepareJobs(), Status());
  scheduler_.RunUntilIdle();
  EXPECT_EQ(seen_[0], Status(StatusCode::kInvalidState, Site::kDeviceState, 0, 3));
  EXPECT_EQ(seen_[1], Status()) << "had none there";
  EXPECT_EQ(Output(1), 106);
}

TEST_F(SharedDeviceTest, InvokeWaitsForTheOthersJob) {
  Start(2);
  Submit(0);
  nets_[1]->net.input("x").as<int8_t>()[0] = 6;
  EXPECT_EQ(nets_[1]->net.Invoke(now.ticks + kJobTicks - 1).code(), StatusCode::kDeadlineExceeded);
  EXPECT_EQ(device_->log, "s0");
  EXPECT_EQ(nets_[1]->net.Invoke(), Status());
  EXPECT_EQ(Output(1), 106);
  scheduler_.RunUntilIdle();
  EXPECT_EQ(Output(0), 105);
}

TEST_F(SharedDeviceTest, InitRefusesMoreJobsThanADeviceKeeps) {
  Start(Device::kMaxInFlight + 1);
  EXPECT_EQ(Init(tasks_), Status(StatusCode::kLimitExceeded, Site::kInitDevice, Device::kMaxInFlight));
  EXPECT_EQ(Init(std::span(tasks_).first(Device::kMaxInFlight)), Status());
}

}  // namespace
}  // namespace takt
