// States from the graph to the plan: initial values, commit, reset, bytes that save and restore them.
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "converter/backend/convert.h"
#include "converter/ir/text.h"
#include "converter/ir/verifier.h"
#include "tests/support/plan_runner.h"

namespace takt {
namespace {

using test::Bytes;
using test::PlanRunner;

/// Adds up what it is given, from 3 and 4 on.
constexpr const char* kSums = R"(graph "sums"
%0 "x": float32[2]
%1 "sum": float32[2]
%2 "first": float32[2] = [3.0, 4.0]
%3 "next": float32[2]
%4 "y": float32[2]
inputs %0
outputs %4
state %1, %3, %2
%3 = add(%1, %0) "ADD" {activation = "none"}
%4 = mul(%3, %3) "MUL" {activation = "none"}
)";

ir::Graph Sums() {
  std::string error;
  const auto graph = ir::ParseGraph(kSums, error);
  EXPECT_TRUE(graph.has_value()) << error;
  EXPECT_EQ(ir::PrintGraph(*graph), kSums);
  return *graph;
}

Bytes Convert(const ir::Graph& graph) {
  const Conversion made = ConvertGraph(graph, {}, {});
  for (const Diagnostic& d : made.diagnostics.all()) ADD_FAILURE() << d.ToString();
  return made.plan;
}

Bytes Two(float a, float b) {
  const float values[] = {a, b};
  Bytes bytes(sizeof values);
  std::memcpy(bytes.data(), values, sizeof values);
  return bytes;
}

Bytes Next(PlanRunner& runner) {
  return runner.Run({Two(1, 2)})[0];
}

std::span<std::byte> StateArena(PlanRunner& runner) {
  for (uint32_t i = 0; i < runner.plan().arena_count(); ++i)
    if (runner.plan().arena(i).kind == ArenaKind::kState) return runner.arena(i);
  return {};
}

TEST(State, StartsAtItsInitialValueAndReturnsToItAtAReset) {
  PlanRunner runner(Convert(Sums()));
  EXPECT_EQ(Next(runner), Two(16, 36));
  EXPECT_EQ(Next(runner), Two(25, 64));
  ASSERT_TRUE(runner.net().ResetState().ok());
  EXPECT_EQ(Next(runner), Two(16, 36));
}

TEST(State, IsSavedAndRestoredByCopyingItsArena) {
  PlanRunner runner(Convert(Sums()));
  Next(runner);
  const std::span<std::byte> arena = StateArena(runner);
  ASSERT_GE(arena.size(), 2 * sizeof(float));
  const std::vector<std::byte> saved(arena.begin(), arena.end());
  EXPECT_EQ(Next(runner), Two(25, 64));
  EXPECT_EQ(Next(runner), Two(36, 100));
  std::memcpy(arena.data(), saved.data(), saved.size());
  EXPECT_EQ(Next(runner), Two(25, 64));
  // In another interpreter as well.
  PlanRunner other(Convert(Sums()));
  std::memcpy(StateArena(other).data(), saved.data(), saved.size());
  EXPECT_EQ(Next(other), Two(25, 64));
}

TEST(State, StaysAsItWasWhenARunIsDroppedBeforeTheCommit) {
  PlanRunner runner(Convert(Sums()));
  Next(runner);
  for (uint32_t steps = 1; steps <= 2; ++steps) {
    ASSERT_TRUE(runner.net().Begin().ok());
    EXPECT_EQ(runner.net().Step(steps), Progress::kMore);
  }
  EXPECT_EQ(Next(runner), Two(25, 64));
}

/// Two filters of an svdf, which may write their next values over what they remember.
constexpr const char* kFilters = R"(graph "filters"
%0 "x": float32[1,1]
%1 "feature": float32[2,1] = [2.0, 3.0]
%2 "time": float32[2,3] = [1.0, 10.0, 100.0, 1.0, 2.0, 4.0]
%3 "bias": float32[2] = [0.0, 0.5]
%4 "state": float32[1,6]
%5 "y": float32[1,2]
%6 "next": float32[1,6]
inputs %0
outputs %5
state %4, %6
%5, %6 = svdf(%0, %1, %2, %3, %4) "SVDF" {rank = 1}
)";

TEST(State, IsUpdatedInPlaceIfAsked) {
  std::string error;
  const auto graph = ir::ParseGraph(kFilters, error);
  ASSERT_TRUE(graph.has_value()) << error;
  const Conversion made = ConvertGraph(*graph, {}, {.state_in_place = true});
  ASSERT_EQ(made.diagnostics.all().size(), 1u);
  EXPECT_NE(made.diagnostics.all()[0].ToString().find("saves 24 bytes"), std::string::npos);
  PlanRunner shadowed(Convert(*graph)), runner(made.plan);
  EXPECT_EQ(runner.plan().state(0).shadow, kNoTensor);
  EXPECT_LT(runner.plan().arena(0).bytes, shadowed.plan().arena(0).bytes);
  EXPECT_EQ(runner.plan().step_count() + 1, shadowed.plan().step_count());
  Bytes x(sizeof(float));
  for (float v = 1; v < 5; ++v) {
    std::memcpy(x.data(), &v, sizeof v);
    EXPECT_EQ(runner.Run({x}), shadowed.Run({x}));
  }
}

/// Another step reads it as well.
TEST(State, IsShadowedWhereItMustBe) {
  ir::Graph graph = Sums();
  graph.nodes[1].inputs = {1, 1};
  const Conversion made = ConvertGraph(graph, {}, {.state_in_place = true});
  EXPECT_TRUE(made.diagnostics.all().empty());
  EXPECT_NE(PlanRunner(made.plan).plan().state(0).shadow, kNoTensor);
}

TEST(State, HasAnInitialValueOfItsBytes) {
  ir::Graph graph = Sums();
  graph.tensor(2).dims = {1};
  graph.tensor(2).data = std::make_shared<const ir::Bytes>(4);
  Diagnostics diagnostics;
  EXPECT_FALSE(ir::Verify(graph, diagnostics));
  ASSERT_EQ(diagnostics.error_count(), 1u);
  EXPECT_NE(diagnostics.all()[0].ToString().find("is the initial value of a state, but no constant of its bytes"),
            std::string::npos);
}

}  // namespace
}  // namespace takt
