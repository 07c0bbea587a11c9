// Steps cut to a bound: the same bytes, no step longer than the bound, or an error. (tests/ops cuts every op's cases.)
#include "converter/backend/step_split.h"

#include <gtest/gtest.h>

#include <random>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "converter/backend/convert.h"
#include "converter/ir/text.h"
#include "engine/core/scheduler.h"
#include "schema/plan_generated.h"
#include "tests/converter/model_files.h"
#include "tests/support/messages.h"
#include "tests/support/plan_runner.h"
#include "tests/support/unit_costs.h"

namespace takt {
namespace {

using test::Bytes;
using test::Messages;
using test::PlanRunner;

ConvertOptions Options(uint64_t max_step_us, Numerics numerics = Numerics::kFp32Rne) {
  ConvertOptions options;
  options.costs = test::UnitCosts();
  options.max_step_us = max_step_us;
  options.numerics = numerics;
  return options;
}

/// Small integers, which are finite floats too.
std::vector<Bytes> RandomInputs(const Plan& plan) {
  std::mt19937 random(3);
  std::vector<Bytes> inputs;
  for (uint32_t i = 0; i < plan.input_count(); ++i) {
    const uint16_t tensor = plan.input(i).tensor;
    Bytes& bytes = inputs.emplace_back(plan.tensor_bytes(tensor));
    const bool is_float = plan.tensor(tensor).type == DataType::kFloat32;
    for (size_t k = 0; k < bytes.size(); ++k)
      bytes[k] = static_cast<uint8_t>(!is_float ? random() : k % 4 == 3 ? 0x3F : k % 4 == 2 ? random() % 128 : 0);
  }
  return inputs;
}

/// Outputs of two invocations.
std::vector<Bytes> Outputs(PlanRunner& runner) {
  std::vector<Bytes> outputs;
  for (int i = 0; i < 2; ++i)
    for (Bytes& bytes : runner.Run(RandomInputs(runner.plan()))) outputs.push_back(std::move(bytes));
  return outputs;
}

TEST(StepSplit, RealModelsGiveTheSameBytes) {
  int cut = 0;
  for (const std::string& path : test::ModelFiles()) {
    const Bytes model = test::ReadBytes(path);
    for (const Numerics numerics : {Numerics::kFp32Rne, Numerics::kTflite}) {
      const Conversion whole = ConvertTflite(model, path, Options(0, numerics));
      if (!whole.diagnostics.ok()) continue;
      PlanRunner runner(whole.plan);
      const std::vector<Bytes> expected = Outputs(runner);
      const uint64_t bound = LongestStep(runner.plan()) / 6 + 1;
      const Conversion parts = ConvertTflite(model, path, Options(bound, numerics));
      SCOPED_TRACE(path + "\n" + Messages(parts));
      EXPECT_EQ(parts.plan.empty(), !parts.diagnostics.ok());
      if (parts.plan.empty()) continue;
      PlanRunner in_parts(parts.plan);
      EXPECT_LE(LongestStep(in_parts.plan()), bound);
      EXPECT_GT(in_parts.plan().step_count(), runner.plan().step_count());
      EXPECT_EQ(Outputs(in_parts), expected);
      ++cut;
    }
  }
  EXPECT_GE(cut, 4);
}

ir::Graph Graph(const std::string& text) {
  std::string error;
  auto graph = ir::ParseGraph(text, error);
  EXPECT_TRUE(graph.has_value()) << error;
  return *graph;
}

constexpr const char* kChain = R"(graph "g"
%0 "x": float32[1, 5, 4]
%1 "a": float32[1, 5, 4]
%2 "b": float32[1, 5]
%3 "y": float32[1, 5]
inputs %0
outputs %3
%1 = clamp(%0) "CLAMP" {max = 1.0, min = 0.0} from [4]
%2 = reduce(%1) "SUM" {axes = [2], function = "sum", keep_dims = 0} from [5]
%3 = clamp(%2) "END" {max = 1.0, min = 0.0} from [6]
)";

TEST(StepSplit, HalvesAlongTheOutermostDimension) {
  const Conversion made = ConvertGraph(Graph(kChain), {}, Options(21));
  ASSERT_TRUE(made.diagnostics.ok()) << Messages(made);
  PlanRunner runner(made.plan);
  EXPECT_EQ(runner.plan().step_count(), 3u);
}

/// Padded behind only, along rows and along columns.
TEST(StepSplit, PadsStayAtTheirSides) {
  const std::pair<std::string, std::string> cases[] = {{"1, 9, 1, 2", "kernel = [3, 1], pads = [0, 0, 2, 0]"},
                                                       {"1, 1, 9, 2", "kernel = [1, 3], pads = [0, 0, 0, 2]"}};
  for (const auto& [dims, window] : cases) {
    SCOPED_TRACE(window);
    const std::string text =
        absl::StrCat("graph \"g\"\n%0 \"x\": float32[", dims, "]\n%1 \"y\": float32[", dims,
                     "]\ninputs %0\noutputs %1\n%1 = average_pool2d(%0) {", window, ", strides = [1, 1]}\n");
    const Conversion whole = ConvertGraph(Graph(text), {}, Options(0));
    ASSERT_TRUE(whole.diagnostics.ok()) << Messages(whole);
    PlanRunner runner(whole.plan);
    const Conversion parts = ConvertGraph(Graph(text), {}, Options(LongestStep(runner.plan()) / 3 + 1));
    ASSERT_TRUE(parts.diagnostics.ok()) << Messages(parts);
    PlanRunner in_parts(parts.plan);
    EXPECT_GT(in_parts.plan().step_count(), runner.plan().step_count());
    EXPECT_EQ(Outputs(in_parts), Outputs(runner));
  }
}

TEST(StepSplit, AStepThatCannotBeCutIsNamedWithItsCostAndTheRemedy) {
  const char* const total =
      "graph \"g\"\n%0 \"x\": float32[4, 5]\n%1 \"y\": float32[]\ninputs %0\noutputs %1\n"
      "%1 = reduce(%0) \"SUM\" {axes = [0, 1], function = \"sum\", keep_dims = 0} from [5]\n";
  const Conversion made = ConvertGraph(Graph(total), {}, Options(20));
  EXPECT_TRUE(made.plan.empty());
  EXPECT_EQ(
      Messages(made),
      "g:5(SUM): error: reduce takes 21.0 us, it can't be cut, and --max-step-us allows 20: use a smaller layer, a "
      "faster kernel or a longer bound\n");
}

TEST(StepSplit, ABoundBelowTheShortestPartIsNamed) {
  ConvertOptions options = Options(30);
  for (auto& [name, cost] : options.costs->kernels) cost.ticks_per_step = 29;
  const Conversion made = ConvertGraph(Graph(kChain), {}, options);
  EXPECT_NE(Messages(made).find("g:4(CLAMP): error: clamp takes 50.0 us, its parts 31.0 us, the shortest it can be cut "
                                "into, and --max-step-us allows 30"),
            std::string::npos)
      << Messages(made);
}

/// A convolution without pads under 3 x 3 cells: its output is two pixels smaller.
std::string Convolution(const std::string& x, const std::string& y) {
  return absl::StrCat(
      "graph \"g\"\n%0 \"x\": float32[", x, "]\n%1 \"w\": float32[8, 3, 3, 4] = base64 \"",
      absl::Base64Escape(std::string(8 * 3 * 3 * 4 * 4, '\x3c')),
      "\"\n%2 \"b\": float32[8] = [0, 0, 0, 0, 0, 0, 0, 0]\n%3 \"y\": float32[", y,
      "]\ninputs %0\noutputs %3\n%3 = conv2d(%0, %1, %2) \"CONV\" {activation = \"none\", pads = [0, 0, "
      "0, 0], strides = [1, 1]} from [1]\n");
}

int CopiesOf(const Plan& plan) {
  int copies = 0;
  for (uint32_t i = 0; i < plan.step_count(); ++i) copies += plan.step(i).op == Op::kCopy;
  return copies;
}

uint64_t ConstantBytes(const Bytes& plan) {
  uint64_t bytes = 0;
  for (const schema::Constant* constant : *schema::GetPlan(plan.data())->constants()) bytes += constant->bytes();
  return bytes;
}

/// Columns under a tall kernel are copied, but rows are not; parts of a pixel share its copy; weights are stored once.
TEST(StepSplit, CopiesOnlyWhereNoDensePartIsShortEnough) {
  struct Case {
    const char *x, *y;
    uint64_t bound;
    int copies;
  };
  constexpr uint64_t kCell = 3 * 3 * 4, kPixel = 8 * kCell;
  for (const Case& c :
       {Case{"1, 10, 3, 4", "1, 8, 1, 8", kPixel + 1, 0}, Case{"1, 3, 10, 4", "1, 1, 8, 8", kPixel + 1, 8},
        Case{"1, 3, 10, 4", "1, 1, 8, 8", 4 * kPixel + 1, 2}, Case{"1, 3, 10, 4", "1, 1, 8, 8", kCell + 1, 8}}) {
    SCOPED_TRACE(absl::StrCat(c.x, ", bound ", c.bound));
    const Conversion whole = ConvertGraph(Graph(Convolution(c.x, c.y)), {}, Options(0));
    const Conversion parts = ConvertGraph(Graph(Convolution(c.x, c.y)), {}, Options(c.bound));
    ASSERT_TRUE(whole.diagnostics.ok() && parts.diagnostics.ok()) << Messages(whole) << Messages(parts);
    PlanRunner runner(whole.plan), in_parts(parts.plan);
    EXPECT_LE(LongestStep(in_parts.plan()), c.bound);
    EXPECT_EQ(CopiesOf(in_parts.plan()), c.copies);
    EXPECT_EQ(ConstantBytes(parts.plan), ConstantBytes(whole.plan));
    EXPECT_EQ(Outputs(in_parts), Outputs(runner));
  }
}

/// Half a row of the output needs half of each of the fifty rows of x.
TEST(StepSplit, CopiesAreWithinTheBoundToo) {
  const char* const rows =
      "graph \"g\"\n%0 \"x\": float32[50, 4]\n%1 \"i\": int32[2]\n%2 \"y\": float32[2, 4]\n"
      "inputs %0, %1\noutputs %2\n%2 = gather(%0, %1) {axis = 0, batch_dims = 0}\n";
  const Conversion whole = ConvertGraph(Graph(rows), {}, Options(0));
  const Conversion parts = ConvertGraph(Graph(rows), {}, Options(4));
  ASSERT_TRUE(whole.diagnostics.ok() && parts.diagnostics.ok()) << Messages(whole) << Messages(parts);
  PlanRunner runner(whole.plan), in_parts(parts.plan);
  EXPECT_LE(LongestStep(in_parts.plan()), 4u);
  EXPECT_GT(CopiesOf(in_parts.plan()), 100 / 3);
  EXPECT_EQ(Outputs(in_parts), Outputs(runner));
}

TEST(StepSplit, NoStepBecomesMorePartsThanAPlanHasRoomFor) {
  std::string text = kChain;
  for (size_t at = 0; (at = text.find("1, 5", at)) != std::string::npos; ++at) text.replace(at, 4, "1, 5000");
  const std::string messages = Messages(ConvertGraph(Graph(text), {}, Options(2)));
  EXPECT_NE(messages.find("would become more than 4096 parts"), std::string::npos) << messages;
}

constexpr const char* kTwoStates = R"(graph "g"
%0 "x": float32[2]
%1 "s": float32[2]
%2 "t": float32[2]
%3 "next_s": float32[2]
%4 "next_t": float32[2]
%5 "y": float32[2]
inputs %0
outputs %5
state %1, %3
state %2, %4
%3 = add(%1, %0) "A" {activation = "none"}
%4 = add(%2, %3) "B" {activation = "none"}
%5 = mul(%3, %4) "C" {activation = "none"}
)";

TEST(StepSplit, TheCommitOfStatesIsOneStep) {
  const Conversion made = ConvertGraph(Graph(kTwoStates), {}, Options(6));
  ASSERT_TRUE(made.diagnostics.ok()) << Messages(made);
  PlanRunner runner(made.plan);
  EXPECT_EQ(LongestStep(runner.plan()), 6u);  // Two copies of two elements, each with the step's own iteration.
  EXPECT_EQ(Messages(ConvertGraph(Graph(kTwoStates), {}, Options(5))),
            "g: error: the copies of next states, which run as one step, take 6 us, and --max-step-us allows 5: use "
            "--state-in-place or a longer bound\n");
}

}  // namespace
}  // namespace takt
