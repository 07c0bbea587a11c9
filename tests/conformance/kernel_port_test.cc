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

/// What differs in a step's outputs, or "".
std::string Difference(PlanRunner& reference, PlanRunner& runner, uint32_t step) {
  const Plan& plan = reference.plan();
  for (const uint16_t t : plan.step(step).outputs) {
    const Bytes want = TensorBytes(reference, t), got = TensorBytes(runner, t);
    const std::string name = std::string(OpName(plan.step(step).op)) + ", step " + std::to_string(step);
    const DataType type = plan.tensor(t).type;
    if (type == DataType::kFloat32 && plan.tensor(t).strides == nullptr) {
      const Deviation d = Compare(type, got, want);
      if (!(d.worst <= ExactTolerance(type))) return name + ": off by " + std::to_string(d.worst);
    } else if (got != want) {
      return name + ": bytes differ";
    }
  }
  return "";
}

/// Both run in lockstep; before each step the other port's arenas become the reference port's. What went wrong, or "".
std::string RunSteps(PlanRunner& reference, PlanRunner& runner) {
  const Plan& plan = reference.plan();
  if (!reference.net().Begin().ok() || !runner.net().Begin().ok()) return "no run";
  for (Progress progress = Progress::kMore; progress == Progress::kMore;) {
    for (uint32_t i = 0; i < plan.arena_count(); ++i) {
      const auto bytes = reference.arena(i).first(plan.arena(i).bytes);
      std::copy(bytes.begin(), bytes.end(), runner.arena(i).begin());
    }
    const uint32_t step = reference.net().cursor();
    progress = reference.net().Step(1);
    if (progress == Progress::kFailed || runner.net().Step(1) != progress)
      return "step " + std::to_string(step) + " fails";
    if (std::string wrong = Difference(reference, runner, step); !wrong.empty()) return wrong;
  }
  return "";
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
    EXPECT_EQ(Unexpected(port.exceptions, GetParam().name, RunSteps(reference, runner)), "");
  }
}

TEST(KernelPortRows, AreOfferedOrListedWithAReason) {
  for (const KernelPort& port : test::KernelPorts()) {
    for (const Kernel* row : test::KernelPorts()[0].own) {
      if (!port.within_reach(row->key)) continue;
      const bool offered = std::ranges::any_of(port.own, [&](const Kernel* k) { return k->key == row->key; });
      EXPECT_EQ(Unexpected(port.exceptions, RowName(row->key), offered ? "" : "has no row"), "") << port.name;
    }
  }
}

}  // namespace
}  // namespace takt::test
