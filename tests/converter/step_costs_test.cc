// Costs of a CPU's kernels: the file, the line through measured steps, and what a plan states.
#include "converter/backend/step_costs.h"

#include <gtest/gtest.h>

#include "converter/backend/convert.h"
#include "converter/ir/text.h"
#include "tests/support/plan_runner.h"
#include "tests/support/unit_costs.h"

namespace takt::backend {
namespace {

constexpr const char* kFile = R"({
  "target": "host",
  "measured_on": "port reference",
  "clock_hz": 1000000000,
  "kernels": {
    "clamp of float32 to float32": {"ticks_per_step":70,"ticks_per_million":1500000},
    "mul of float32 and float32 to float32": {"ticks_per_step":50,"ticks_per_million":3,"calibrated_steps":2,"tightness":0.5}
  }
}
)";

TEST(StepCosts, AFileIsReadAsItWasWritten) {
  std::string problem;
  const auto costs = ParseStepCosts(kFile, problem);
  ASSERT_TRUE(costs.has_value()) << problem;
  EXPECT_EQ(StepCostsText(*costs), kFile);
  EXPECT_EQ(costs->Control(), 50u);
}

TEST(StepCosts, WhatIsWrongInAFileIsNamed) {
  struct {
    const char *before, *after, *problem;
  } const cases[] = {
      {"{", "[", "line 2 is no JSON"},
      {R"("target": "host",)", "", "target is missing"},
      {R"("host")", "7", "target wants a string, has 7"},
      {"1000000000", "0", "clock_hz wants an integer from 1 to 100000000000, has 0"},
      {"1000000000", "1.5", "clock_hz wants an integer from 1 to 100000000000, has 1.5"},
      {R"("measured_on")", R"("measured")", "measured_on is missing"},
      {R"("clock_hz")", R"("extra": 1, "clock_hz")", "extra is not known"},
      {R"("ticks_per_step":70,)", "", R"(kernels."clamp of float32 to float32".ticks_per_step is missing)"},
      {":70", ":-1",
       R"(kernels."clamp of float32 to float32".ticks_per_step wants an integer from 0 to 1000000000000, has -1)"},
      {"1500000", "1e30", R"(.ticks_per_million wants an integer from 0 to 1000000000000, has 1e+30)"},
      {R"("ticks_per_step":70)", R"("fixed":1,"ticks_per_step":70)", "float32\".fixed is not known"},
      {R"({"ticks_per_step":70,"ticks_per_million":1500000})", "7", "wants an object, has 7"},
      {"0.5", "1.5", "tightness wants a number from 0 to 1, has 1.5"},
  };
  for (const auto& c : cases) {
    std::string text = kFile, problem;
    const size_t at = text.find(c.before);
    ASSERT_NE(at, std::string::npos) << c.before;
    text.replace(at, std::string(c.before).size(), c.after);
    EXPECT_FALSE(ParseStepCosts(text, problem).has_value()) << text;
    EXPECT_NE(problem.find(c.problem), std::string::npos) << problem << ", not " << c.problem;
  }
}

TEST(StepCosts, ACostIsRoundedUpAndSaturates) {
  const KernelCost cost{.ticks_per_step = 7, .ticks_per_million = 1500000};
  EXPECT_EQ(cost.Of(0), 7u);
  EXPECT_EQ(cost.Of(1), 9u);
  EXPECT_EQ(cost.Of(4000000), 6000007u);
  EXPECT_EQ(cost.Of(UINT64_MAX), UINT64_MAX);
}

TEST(StepCosts, ALineIsFoundAgain) {
  const MeasuredStep steps[] = {{100, 1200}, {1000, 3000}, {50000, 101000}};
  const KernelCost cost = FitCost(steps, 50);
  EXPECT_NEAR(static_cast<double>(cost.ticks_per_step), 1000, 1);
  EXPECT_NEAR(static_cast<double>(cost.ticks_per_million), 2e6, 20);
  EXPECT_EQ(cost.calibrated_steps, 3u);
  EXPECT_GT(cost.tightness, 0.998);
}

TEST(StepCosts, NoMeasuredStepTakesLongerThanItsCost) {
  const MeasuredStep steps[] = {{100, 500}, {100, 900}, {2000, 1100}, {4000, 8000}, {9000, 3000}};
  for (size_t n = 1; n <= std::size(steps); ++n) {
    const auto some = std::span(steps).first(n);
    const KernelCost cost = FitCost(some, 60);
    double least = 1;
    for (const MeasuredStep& step : some) {
      EXPECT_LE(step.ticks, cost.Of(step.work)) << n << " steps";
      least = std::min(least, static_cast<double>(step.ticks) / static_cast<double>(cost.Of(step.work)));
    }
    EXPECT_DOUBLE_EQ(cost.tightness, least);
  }
}

TEST(StepCosts, OneStepSharesItsTimeBetweenTheFixedPartAndItsWork) {
  const MeasuredStep one[] = {{1000, 560}};
  EXPECT_EQ(FitCost(one, 60).ticks_per_step, 60u);
  EXPECT_EQ(FitCost(one, 60).ticks_per_million, 500000u);
}

constexpr const char* kGraph = R"(graph "g"
%0 "x": float32[6]
%1 "a": float32[6]
%2 "y": float32[6]
inputs %0
outputs %2
%1 = clamp(%0) "CLAMP" {max = 1.0, min = 0.0} from [4]
%2 = mul(%1, %1) "MUL" {activation = "none"} from [5]
)";

Conversion Convert(const StepCosts& costs) {
  std::string error;
  auto graph = ir::ParseGraph(kGraph, error);
  EXPECT_TRUE(graph.has_value()) << error;
  ConvertOptions options;
  options.costs = costs;
  return ConvertGraph(std::move(*graph), {}, options);
}

TEST(StepCosts, APlanStatesWhatTheFileSays) {
  std::string problem;
  const Conversion made = Convert(*ParseStepCosts(kFile, problem));
  ASSERT_TRUE(made.diagnostics.ok());
  test::PlanRunner runner(made.plan);
  EXPECT_EQ(runner.plan().clock_hz(), 1000000000u);
  // The interpreter counts an iteration of its own for each step.
  ASSERT_EQ(runner.plan().costs().size(), 2u);
  EXPECT_EQ(runner.plan().costs()[0], 70u + 11);  // 1.5 * 7, rounded up.
  EXPECT_EQ(runner.plan().costs()[1], 50u + 1);
}

TEST(StepCosts, AKernelWithoutACostIsNamed) {
  StepCosts costs = test::UnitCosts();
  costs.kernels.erase("mul of float32 and float32 to float32");
  const Conversion made = Convert(costs);
  ASSERT_EQ(made.diagnostics.all().size(), 1u);
  EXPECT_EQ(
      made.diagnostics.all()[0].ToString(),
      "g:5(MUL): error: the costs have no kernel \"mul of float32 and float32 to float32\"; measure this model too "
      "(takt bench MODEL ... --write-costs FILE), or add its line");
  EXPECT_TRUE(made.plan.empty());
}

}  // namespace
}  // namespace takt::backend
