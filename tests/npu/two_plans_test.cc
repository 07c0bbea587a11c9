// Two plans on one emulated NPU, their steps in any order: each gives the bytes that it gives alone, whatever happens
// to the other one.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "ports/npu_emu/npu_emu.h"
#include "tests/npu/job_models.h"
#include "tests/support/plan_runner.h"

namespace takt {
namespace {

using test::Bytes;
using test::PlanRunner;

/// The NPU that a plan is for.
struct Npu {
  explicit Npu(const Bytes& file) {
    test::AlignedBytes copy(file.size());
    std::memcpy(copy.span().data(), file.data(), file.size());
    Plan plan;
    EXPECT_EQ(plan.Open(copy.span()), Status());
    npu::Machine machine;
    EXPECT_EQ(npu::ReadMachine(plan.machine(), machine), Status());
    workspace = test::AlignedBytes(npu::NpuEmu::WorkspaceBytes(machine));
    EXPECT_EQ(device.Init(plan.machine(), workspace.span(), clock), Status());
  }
  test::AlignedBytes workspace{0};
  npu::VirtualClock clock;
  npu::NpuEmu device;
  Device* devices[1] = {&device};
};

class TwoPlansTest : public testing::Test {
 protected:
  static constexpr int kRounds = 300;

  PlanRunner& runner(size_t i) { return i == 0 ? first_ : second_; }
  Interpreter& net(size_t i) { return runner(i).net(); }

  /// Begins a run of a network with this input.
  void Begin(size_t i, const Bytes& input) {
    ASSERT_EQ(net(i).Begin(), Status());
    std::memcpy(net(i).input(0).bytes.data(), input.data(), input.size());
  }
  Bytes RandomInput() {
    Bytes input(test::kInputBytes);
    for (uint8_t& byte : input) byte = static_cast<uint8_t>(random_());
    return input;
  }
  Bytes Output(size_t i) {
    const std::span<const std::byte> bytes = net(i).output(0).bytes;
    Bytes copy(bytes.size());
    std::memcpy(copy.data(), bytes.data(), bytes.size());
    return copy;
  }
  /// A run of both, a step of one or the other at a time; `strike` is called before each. Whichever fails is run again
  /// after `recover`, and both give the bytes of each alone. Returns how many failed.
  template <typename Strike, typename Recover>
  int Round(Strike strike, Recover recover) {
    const Bytes inputs[2] = {RandomInput(), RandomInput()};
    Progress progress[2] = {Progress::kMore, Progress::kMore};
    for (size_t i = 0; i < 2; ++i) Begin(i, inputs[i]);
    int failed = 0;
    while (progress[0] != Progress::kDone || progress[1] != Progress::kDone) {
      strike();
      const size_t i = progress[0] == Progress::kDone ? 1 : progress[1] == Progress::kDone ? 0 : random_() % 2;
      progress[i] = net(i).Step(1);
      if (progress[i] != Progress::kFailed) continue;
      ++failed;
      recover(i);
      Begin(i, inputs[i]);
      if (HasFatalFailure()) return failed;
    }
    for (size_t i = 0; i < 2; ++i) EXPECT_EQ(Output(i), alone_[i].Run({inputs[i]})[0]) << "plan " << i;
    return failed;
  }

  std::mt19937 random_{3};
  const Bytes plans_[2] = {test::MakePlan(test::kModels[0], test::kTarget),
                           test::MakePlan(test::kModels[1], test::kTarget)};
  Npu own_[2] = {Npu(plans_[0]), Npu(plans_[1])};
  PlanRunner alone_[2] = {PlanRunner(plans_[0], reference::AllKernels(), own_[0].devices),
                          PlanRunner(plans_[1], reference::AllKernels(), own_[1].devices)};
  Npu npu_{plans_[0]};
  PlanRunner first_{plans_[0], reference::AllKernels(), npu_.devices};
  PlanRunner second_{plans_[1], reference::AllKernels(), npu_.devices,
                     static_cast<uint16_t>(first_.plan().job_count())};
};

TEST_F(TwoPlansTest, StepsInAnyOrderGiveTheBytesOfEachAlone) {
  const auto nothing = [] {};
  for (int round = 0; round < kRounds && !HasFailure(); ++round) EXPECT_EQ(Round(nothing, [](size_t) {}), 0);
}

TEST_F(TwoPlansTest, AFaultConcernsTheJobsOwnNetwork) {
  for (int round = 0; round < kRounds && !HasFailure(); ++round) {
    npu_.device.Inject({.kind = npu::FaultKind::kDmaError, .skip = static_cast<uint32_t>(random_() % 3)});
    const int failed = Round([] {}, [&](size_t i) { EXPECT_EQ(net(i).status().code(), StatusCode::kDeviceFault); });
    EXPECT_EQ(failed, 1);
  }
}

TEST_F(TwoPlansTest, ACancelConcernsItsNetwork) {
  int cancelled = 0;
  for (int round = 0; round < kRounds && !HasFailure(); ++round) {
    const size_t victim = random_() % 2;
    auto steps = static_cast<uint32_t>(random_() % 12);
    cancelled += Round([&] { return steps-- == 0 ? net(victim).Cancel() : void(); },
                       [&](size_t i) {
                         EXPECT_EQ(i, victim);
                         EXPECT_EQ(net(i).status().code(), StatusCode::kCancelled);
                       });
    net(victim).ClearCancel();
  }
  EXPECT_GT(cancelled, kRounds / 2);
}

/// Of the first job, or the second or third one.
TEST_F(TwoPlansTest, AfterAResetBothArePreparedAndGoOn) {
  int failed = 0;
  for (int round = 0; round < kRounds && !HasFailure(); ++round) {
    npu_.device.Inject({.kind = npu::FaultKind::kReset, .skip = static_cast<uint32_t>(random_() % 3)});
    failed += Round([] {},
                    [&](size_t) {
                      ASSERT_EQ(npu_.device.Reset(), Status());
                      for (size_t k = 0; k < 2; ++k) ASSERT_EQ(net(k).PrepareJobs(), Status());
                    });
  }
  EXPECT_GE(failed, kRounds);
}

}  // namespace
}  // namespace takt
