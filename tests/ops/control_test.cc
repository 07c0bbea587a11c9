// if, while: graphs as text, folded where conversion knows the way, else run as control steps.
#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "converter/backend/convert.h"
#include "converter/ir/text.h"
#include "converter/ir/verifier.h"
#include "tests/support/messages.h"
#include "tests/support/plan_runner.h"

namespace takt::test {
namespace {

using Numbers = std::vector<int32_t>;
using test::Errors;

ir::Graph Parsed(const std::string& text) {
  std::string error;
  const auto graph = ir::ParseGraph(text, error);
  EXPECT_TRUE(graph.has_value()) << error;
  return graph.value_or(ir::Graph());
}

Bytes Packed(int32_t value) {
  Bytes bytes(sizeof(value));
  std::memcpy(bytes.data(), &value, sizeof(value));
  return bytes;
}

/// A plan of graphs whose inputs and outputs are one int32 each.
class Program {
 public:
  explicit Program(const std::string& text, uint32_t max_trips = 0) {
    ConvertOptions options;
    options.max_trips = max_trips;
    made = ConvertGraph(Parsed(text), {}, options);
    EXPECT_EQ(Errors(made), "");
    if (!made.plan.empty()) runner.emplace(made.plan);
  }

  Numbers Run(const Numbers& inputs) {
    Set(inputs);
    EXPECT_TRUE(runner->net().Invoke().ok());
    return Outputs();
  }
  void Set(const Numbers& inputs) {
    for (uint32_t i = 0; i < inputs.size(); ++i) {
      const Bytes bytes = Packed(inputs[i]);
      std::memcpy(runner->net().input(i).bytes.data(), bytes.data(), bytes.size());
    }
  }
  Numbers Outputs() {
    Numbers outputs;
    for (uint32_t i = 0; i < runner->plan().output_count(); ++i)
      outputs.push_back(runner->net().output(i).as<int32_t>()[0]);
    return outputs;
  }
  int Count(Op op) const {
    int count = 0;
    for (uint32_t s = 0; s < runner->plan().step_count(); ++s) count += runner->plan().step(s).op == op;
    return count;
  }

  Conversion made;
  std::optional<PlanRunner> runner;
};

/// (i, a, b) -> (i + 1, b, a + b) while i < n.
std::string Fibonacci(const std::string& n) {
  return R"(graph "fibonacci"
%0 "n": int32[1])" +
         n + R"(
%1 "i": int32[1] = [0]
%2 "a": int32[1] = [0]
%3 "b": int32[1] = [1]
%4 "i_end": int32[1]
%5 "a_end": int32[1]
%6 "b_end": int32[1]
%7 "start": int32[1]
%8 "a_start": int32[1]
inputs %7
outputs %5, %6
%8 = binary(%7, %2) {function = "add"}
%4, %5, %6 = while(%1, %8, %3, %0) "WHILE"
body {
graph "condition"
%0 "i": int32[1]
%1 "a": int32[1]
%2 "b": int32[1]
%3 "n": int32[1]
%4 "go": boolean[1]
inputs %0, %1, %2, %3
outputs %4
%4 = compare(%0, %3) {function = "less"}
}
body {
graph "body"
%0 "i": int32[1]
%1 "a": int32[1]
%2 "b": int32[1]
%3 "n": int32[1]
%4 "one": int32[1] = [1]
%5 "next": int32[1]
%6 "sum": int32[1]
%7 "same": int32[1]
inputs %0, %1, %2, %3
outputs %5, %7, %6
%5 = binary(%0, %4) {function = "add"}
%7 = copy(%2)
%6 = binary(%1, %2) {function = "add"}
}
)";
}

TEST(While, IsUnrolledWhereItsTripsCanBeCounted) {
  Program program(Fibonacci(" = [10]"));
  EXPECT_EQ(program.Count(Op::kLoop), 0);
  EXPECT_EQ(program.Run({0}), (Numbers{55, 89}));
  EXPECT_EQ(program.Run({1}), (Numbers{89, 144}));
}

TEST(While, OfNoTripGivesWhatItTakes) {
  Program program(Fibonacci(" = [0]"));
  EXPECT_EQ(program.Count(Op::kLoop), 0);
  EXPECT_EQ(program.Run({7}), (Numbers{7, 1}));
}

TEST(While, StaysALoopOfAsManyTripsWhereItIsLong) {
  Program program(Fibonacci(" = [2000]"));
  EXPECT_EQ(program.Count(Op::kLoop), 1);
  uint32_t a = 0, b = 1;
  for (int i = 0; i < 2000; ++i) b = std::exchange(a, b) + b;
  EXPECT_EQ(program.Run({0}), (Numbers{static_cast<int32_t>(a), static_cast<int32_t>(b)}));
}

/// n is an input.
std::string OpenFibonacci() {
  std::string text = Fibonacci("");
  text.replace(text.find("inputs %7"), 9, "inputs %7, %0");
  return text;
}

TEST(While, AsksForABoundWhereTripsDependOnData) {
  const Conversion made = ConvertGraph(Parsed(OpenFibonacci()), {}, {});
  EXPECT_NE(Errors(made).find("fibonacci(WHILE): error: is a loop whose number of trips does not follow"),
            std::string::npos)
      << Errors(made);
  EXPECT_NE(Errors(made).find("--max-trips"), std::string::npos);
  EXPECT_TRUE(made.plan.empty());
}

TEST(While, RunsAsOftenAsDataSays) {
  Program program(OpenFibonacci(), 12);
  EXPECT_EQ(program.Count(Op::kLoop), 1);
  EXPECT_EQ(program.Run({0, 10}), (Numbers{55, 89}));
  EXPECT_EQ(program.Run({0, 0}), (Numbers{0, 1}));
  EXPECT_EQ(program.Run({5, 1}), (Numbers{1, 6}));
  EXPECT_EQ(program.Run({0, 12}), (Numbers{144, 233}));
}

TEST(While, FailsBeyondItsBoundAndRunsAgain) {
  Program program(OpenFibonacci(), 12);
  program.Set({0, 13});
  EXPECT_EQ(program.runner->net().Invoke().site(), Site::kInvokeTrips);
  EXPECT_EQ(program.Run({0, 10}), (Numbers{55, 89}));
}

TEST(While, GivesTheSameStepByStepAndAfterACancelInTheMiddle) {
  Program program(OpenFibonacci(), 12);
  Interpreter& net = program.runner->net();
  for (int cut = 0; cut < 60; ++cut) {
    program.Set({0, 10});
    ASSERT_TRUE(net.Begin().ok());
    for (int i = 0; i < cut && net.Step(1) == Progress::kMore; ++i) continue;
    net.Cancel();
    const Progress end = net.Step(1);
    net.ClearCancel();
    if (end == Progress::kFailed && net.status().code() == StatusCode::kInvalidState) break;  // It was done already.
    EXPECT_EQ(net.status().code(), StatusCode::kCancelled);
    program.Set({0, 10});
    ASSERT_TRUE(net.Begin().ok());
    Progress progress = Progress::kMore;
    while (progress == Progress::kMore) progress = net.Step(1);
    EXPECT_EQ(progress, Progress::kDone);
    EXPECT_EQ(program.Outputs(), (Numbers{55, 89})) << cut;
  }
}

/// x < 0: -x, else x + x.
constexpr const char* kChoice = R"(graph "choice"
%0 "x": int32[1]
%1 "zero": int32[1] = [0]
%2 "negative": boolean[1]
%3 "y": int32[1]
inputs %0
outputs %3
%2 = compare(%0, %1) {function = "less"}
%3 = if(%2, %0) "IF"
body {
graph "then"
%0 "x": int32[1]
%1 "zero": int32[1] = [0]
%2 "y": int32[1]
inputs %0
outputs %2
%2 = binary(%1, %0) {function = "subtract"}
}
body {
graph "else"
%0 "x": int32[1]
%1 "y": int32[1]
inputs %0
outputs %1
%1 = binary(%0, %0) {function = "add"}
}
)";

TEST(If, TakesOneOfItsBodies) {
  Program program(kChoice);
  EXPECT_EQ(program.Count(Op::kSkipIf), 2);
  EXPECT_EQ(program.Run({-3}), Numbers{3});
  EXPECT_EQ(program.Run({3}), Numbers{6});
}

TEST(If, OnAConstantIsItsBody) {
  std::string text = kChoice;
  text.replace(text.find("compare(%0"), 10, "compare(%1");
  Program program(text);
  EXPECT_EQ(program.Count(Op::kSkipIf), 0);
  EXPECT_EQ(program.Run({-3}), Numbers{-6});
}

/// Collatz: steps until x is 1, counted by an inner loop of one trip and an if.
constexpr const char* kCollatz = R"(graph "collatz"
%0 "x": int32[1]
%1 "count": int32[1] = [0]
%2 "x_end": int32[1]
%3 "count_end": int32[1]
inputs %0
outputs %3, %2
%2, %3 = while(%0, %1) "OUTER" {max_trips = 200}
body {
graph "condition"
%0 "x": int32[1]
%1 "count": int32[1]
%2 "one": int32[1] = [1]
%3 "go": boolean[1]
inputs %0, %1
outputs %3
%3 = compare(%0, %2) {function = "not_equal"}
}
body {
graph "body"
%0 "x": int32[1]
%1 "count": int32[1]
%2 "halved": int32[1]
%3 "halvings": int32[1]
%4 "one": int32[1] = [1]
%5 "over": boolean[1]
%6 "next": int32[1]
%7 "total": int32[1]
inputs %0, %1
outputs %6, %7
%2, %3 = while(%0, %1) "INNER" {max_trips = 31}
body {
graph "condition"
%0 "x": int32[1]
%1 "count": int32[1]
%2 "two": int32[1] = [2]
%3 "rest": int32[1]
%4 "zero": int32[1] = [0]
%5 "even": boolean[1]
inputs %0, %1
outputs %5
%3 = binary(%0, %2) {function = "floor_modulo"}
%5 = compare(%3, %4) {function = "equal"}
}
body {
graph "body"
%0 "x": int32[1]
%1 "count": int32[1]
%2 "two": int32[1] = [2]
%3 "one": int32[1] = [1]
%4 "half": int32[1]
%5 "more": int32[1]
inputs %0, %1
outputs %4, %5
%4 = binary(%0, %2) {function = "floor_divide"}
%5 = binary(%1, %3) {function = "add"}
}
%5 = compare(%2, %4) {function = "not_equal"}
%6, %7 = if(%5, %2, %3) "IF"
body {
graph "then"
%0 "x": int32[1]
%1 "count": int32[1]
%2 "three": int32[1] = [3]
%3 "one": int32[1] = [1]
%4 "triple": int32[1]
%5 "next": int32[1]
%6 "more": int32[1]
inputs %0, %1
outputs %5, %6
%4 = binary(%0, %2) {function = "multiply"}
%5 = binary(%4, %3) {function = "add"}
%6 = binary(%1, %3) {function = "add"}
}
body {
graph "else"
%0 "x": int32[1]
%1 "count": int32[1]
%2 "x_copy": int32[1]
%3 "count_copy": int32[1]
inputs %0, %1
outputs %2, %3
%2 = copy(%0)
%3 = copy(%1)
}
}
)";

TEST(Control, NestsLoopsAndBranches) {
  Program program(kCollatz);
  EXPECT_EQ(program.Count(Op::kLoop), 2);
  EXPECT_EQ(program.Count(Op::kSkipIf), 2);
  for (const auto& [x, count] : {std::pair{1, 0}, {2, 1}, {3, 7}, {6, 8}, {7, 16}, {27, 111}, {97, 118}})
    EXPECT_EQ(program.Run({x}), (Numbers{count, 1})) << x;
}

TEST(Control, TextRoundTrips) {
  const ir::Graph graph = Parsed(kCollatz);
  EXPECT_TRUE(Parsed(ir::PrintGraph(graph)) == graph);
  Diagnostics diagnostics;
  EXPECT_TRUE(ir::Verify(graph, diagnostics));
}

TEST(Control, OfWrongBodiesIsNamed) {
  const std::pair<std::string, const char*> edits[] = {
      {"outputs %5, %7, %6", "outputs %5, %7"},
      {"%4 = compare(%0, %3) {function = \"less\"}", "%4 = compare(%0, %3) {function = \"less\"}\n%3 = copy(%0)"},
      {"inputs %0, %1, %2, %3\noutputs %4", "inputs %0, %1, %2\noutputs %4"}};
  for (const auto& [from, to] : edits) {
    std::string text = OpenFibonacci();
    text.replace(text.find(from), from.size(), to);
    Diagnostics diagnostics;
    EXPECT_FALSE(ir::Verify(Parsed(text), diagnostics)) << to;
  }
}

}  // namespace
}  // namespace takt::test
