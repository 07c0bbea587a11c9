// Real models with the default numerics: every step of each kernel port against the reference port's, on equal inputs.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/conformance/golden_suite.h"
#include "tests/support/plan_runner.h"
#include "tests/support/ports.h"

namespace takt::test {
namespace {

class KernelPorts : public GoldenSuite {};
TAKT_INSTANTIATE_GOLDEN_SUITE(KernelPorts, FindGoldenModels());

Bytes TensorBytes(PlanRunner& runner, uint16_t tensor) {
  const auto bytes = runner.net().tensor(tensor);
  const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
  return {data, data + bytes.size()};
}

void ExpectSameOutputs(PlanRunner& reference, PlanRunner& runner, uint32_t step) {
  const Plan& plan = reference.plan();
  for (const uint16_t t : plan.step(step).outputs) {
    const Bytes want = TensorBytes(reference, t), got = TensorBytes(runner, t);
    const std::string name = std::string(OpName(plan.step(step).op)) + ", step " + std::to_string(step);
    if (plan.tensor(t).type == DataType::kFloat32 && plan.tensor(t).strides == nullptr) {
      ExpectWithin(DataType::kFloat32, got, want, ExactTolerance(DataType::kFloat32), name);
    } else {
      EXPECT_TRUE(got == want) << name << ": bytes differ";
    }
  }
}

/// Both run in lockstep; before each step the other port's arenas become the reference port's.
void ExpectSameSteps(PlanRunner& reference, PlanRunner& runner) {
  const Plan& plan = reference.plan();
  ASSERT_TRUE(reference.net().Begin().ok() && runner.net().Begin().ok());
  for (Progress progress = Progress::kMore; progress == Progress::kMore;) {
    for (uint32_t i = 0; i < plan.arena_count(); ++i) {
      const auto bytes = reference.arena(i).first(plan.arena(i).bytes);
      std::copy(bytes.begin(), bytes.end(), runner.arena(i).begin());
    }
    const uint32_t step = reference.net().cursor();
    progress = reference.net().Step(1);
    ASSERT_EQ(runner.net().Step(1), progress);
    ASSERT_NE(progress, Progress::kFailed);
    ExpectSameOutputs(reference, runner, step);
  }
}

TEST_P(KernelPorts, EveryStepEqualsTheReferencePorts) {
  const Conversion made = ConvertOrSkip({});
  if (IsSkipped()) return;
  for (const KernelPort& port : test::KernelPorts()) {
    SCOPED_TRACE(port.name);
    PlanRunner reference(made.plan), runner(made.plan, port.kernels);
    const Bytes first = GetParam().Inputs(GetParam().cases.at(0)).at(0);
    const auto input = reference.net().input(0).bytes;
    ASSERT_EQ(first.size(), input.size());
    std::copy_n(reinterpret_cast<const std::byte*>(first.data()), first.size(), input.begin());
    ExpectSameSteps(reference, runner);
  }
}

}  // namespace
}  // namespace takt::test
