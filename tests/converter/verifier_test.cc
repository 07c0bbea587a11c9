// One mutation of a good graph for each rule of the verifier.
#include "converter/ir/verifier.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <ostream>
#include <string>
#include <utility>

#include "converter/ir/text.h"

namespace takt {
namespace {

constexpr const char* kGood = R"(graph "g"
%0 "in": int8[1,4] quant(0.5:0) source 0
%1 "w": int8[4,4] quant(axis 0, 0.5:0, 0.25:0, 0.125:0, 1.0:0) source 1 = [1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8]
%2 "b": int32[4] source 2 = [1, 2, 3, 4]
%3 "mid": int8[1,4] quant(0.5:0) source 3
%4 "out": int8[2,4] quant(0.5:0) source 4
%5 "half": int8[1,4] quant(0.5:0) view(%4 + 4)
%6 "first": int8[1,4] quant(0.5:0) view(%4 + 0, strides [4, 1])
inputs %0
outputs %4
%3 = fully_connected(%0, %1, %2) "FULLY_CONNECTED" {activation = "none"} from [7]
%5 = copy(%3) "COPY" from [8]
%6 = copy(%0) "COPY" from [9]
)";

ir::Graph Good() {
  std::string error;
  auto graph = ir::ParseGraph(kGood, error);
  EXPECT_TRUE(graph.has_value()) << error;
  return graph.value_or(ir::Graph());
}

std::string Errors(const ir::Graph& graph) {
  Diagnostics diagnostics;
  const bool verified = ir::Verify(graph, diagnostics);
  EXPECT_EQ(verified, diagnostics.ok());
  std::string text;
  for (const Diagnostic& d : diagnostics.all()) text += d.ToString() + "\n";
  return text;
}

TEST(Verifier, AcceptsTheGoodGraph) {
  EXPECT_EQ(Errors(Good()), "");
}

struct Case {
  const char* name;
  std::function<void(ir::Graph&)> mutate;
  const char* error;
};
void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}

const Case kCases[] = {
    {"Dimension",
     [](auto& g) {
       g.tensor(3).dims = {1, 0};
     },
     "g:mid: error: has dimension 0; dimensions are positive"},
    {"Elements",
     [](auto& g) {
       g.tensor(3).dims = {32769, 32768};
     },
     "g:mid: error: tensor [32769, 32768] has more than 2^30 elements; it may have at most that"},
    {"DataBytes", [](auto& g) { g.tensor(2).dims = {5}; }, "g:b: error: has 16 bytes of data; its shape needs 20"},
    {"ViewOfNothing", [](auto& g) { g.tensor(5).view->base = 99; }, "g:half: error: is a view of itself or of nothing"},
    {"ViewOfItself", [](auto& g) { g.tensor(5).view->base = 5; }, "g:half: error: is a view of itself or of nothing"},
    {"ViewOfView", [](auto& g) { g.tensor(5).view->base = 6; }, "g:half: error: is a view of a view"},
    {"ViewBehindBase", [](auto& g) { g.tensor(5).view->offset_bytes = 5; },
     "g:half: error: is a view of bytes 5 to 9 of a tensor of 8"},
    {"ViewBeforeBase", [](auto& g) { g.tensor(5).view->offset_bytes = -1; },
     "g:half: error: is a view of bytes -1 to 3"},
    {"StridesBehindBase",
     [](auto& g) {
       g.tensor(6).view->strides = {4, 3};
     },
     "g:first: error: is a view of bytes 0 to 10 of a tensor of 8"},
    {"StrideCount", [](auto& g) { g.tensor(6).view->strides = {4}; },
     "g:first: error: is a view with 1 strides for rank 2"},
    {"ScalePairs", [](auto& g) { g.tensor(1).quantization->zero_points.pop_back(); },
     "g:w: error: has 4 scales and 3 zero points; they come in pairs"},
    {"NoScale", [](auto& g) { g.tensor(0).quantization = ir::Quantization(); },
     "g:in: error: has 0 scales and 0 zero points"},
    {"ScaleZero", [](auto& g) { g.tensor(0).quantization->scales = {0}; },
     "g:in: error: has scale 0; scales are finite and positive"},
    {"ScaleNan", [](auto& g) { g.tensor(0).quantization->scales = {NAN}; }, "g:in: error: has scale nan"},
    {"ScaleInfinite", [](auto& g) { g.tensor(0).quantization->scales = {std::numeric_limits<float>::infinity()}; },
     "g:in: error: has scale inf"},
    {"ScaleAxis", [](auto& g) { g.tensor(1).quantization->axis = 2; },
     "g:w: error: has 4 scales, which dimension 2 does not have"},
    {"ScaleCount",
     [](auto& g) {
       g.tensor(1).dims = {2, 8};
     },
     "g:w: error: has 4 scales, which dimension 0 does not have"},
    {"InputRange", [](auto& g) { g.inputs.push_back(50); }, "g: error: has input 50, which does not exist"},
    {"InputTwice", [](auto& g) { g.inputs.push_back(0); }, "g:in: error: is a graph input twice, or also a constant"},
    {"InputConstant", [](auto& g) { g.inputs.push_back(1); }, "g:w: error: is a graph input twice, or also a constant"},
    {"OutputRange", [](auto& g) { g.outputs.push_back(-1); }, "g: error: has output -1, which does not exist"},
    {"OutputUnwritten", [](auto& g) { g.nodes.clear(); }, "g:out: error: is a graph output, but nothing writes it"},
    {"OutputTwice", [](auto& g) { g.outputs.push_back(4); }, "g:out: error: is a graph output twice"},
    {"OutputConstant", [](auto& g) { g.outputs.push_back(1); },
     "g:w: error: is a graph output twice, or also a graph input or a constant"},
    {"OutputInput", [](auto& g) { g.outputs.push_back(0); },
     "g:in: error: is a graph output twice, or also a graph input"},
    {"ReadRange", [](auto& g) { g.nodes[1].inputs = {50}; }, "g:8(COPY): error: reads tensor 50, which does not exist"},
    {"ReadBeforeWrite", [](auto& g) { std::swap(g.nodes[0], g.nodes[1]); },
     "g:8(COPY):mid: error: is read before it is written"},
    {"WriteRange", [](auto& g) { g.nodes[1].outputs = {50}; },
     "g:8(COPY): error: writes tensor 50, which does not exist"},
    {"WrittenTwice", [](auto& g) { g.nodes[2].outputs = {3}; },
     "g:9(COPY):mid: error: is written, but has a value already"},
    {"ConstantWritten", [](auto& g) { g.nodes[2].outputs = {1}; },
     "g:9(COPY):w: error: is written, but has a value already"},
    {"Op", [](auto& g) { g.nodes[1].op = Op::kNone; }, "g:8(COPY): error: has an op that is not in the op table"},
    {"Arity",
     [](auto& g) {
       g.nodes[1].inputs = {3, 3};
     },
     "g:8(COPY): error: has 2 inputs and 1 outputs; copy takes 1 to 1 and 1"},
    {"AbsentInput", [](auto& g) { g.nodes[0].inputs[2] = ir::kNoTensor; },
     "g:7(FULLY_CONNECTED): error: lacks input 2"},
    {"AttributeMissing", [](auto& g) { g.nodes[1].op = Op::kTranspose; },
     "g:8(COPY): error: lacks attribute permutation"},
    {"AttributeKind", [](auto& g) { g.nodes[0].attributes["activation"] = 1.0; },
     "g:7(FULLY_CONNECTED): error: has attribute activation of another kind"},
    {"AttributeUnknown", [](auto& g) { g.nodes[1].attributes["color"] = int64_t{1}; },
     "g:8(COPY): error: has attribute color, which copy does not know"},
    {"ShapeRule",
     [](auto& g) {
       g.tensor(0).dims = {1, 5};
     },
     "g:7(FULLY_CONNECTED): error: the last dimension of"},
    {"Shape",
     [](auto& g) {
       g.tensor(3).dims = {4, 1};
     },
     "g:7(FULLY_CONNECTED):mid: error: is int8[4,1]; fully_connected gives int8[1,4]"},
    {"Type", [](auto& g) { g.tensor(5).type = DataType::kUint8; },
     "g:8(COPY):half: error: is uint8[1,4]; copy gives int8[1,4]"},
};

class VerifierRule : public testing::TestWithParam<Case> {};

TEST_P(VerifierRule, IsReported) {
  ir::Graph graph = Good();
  GetParam().mutate(graph);
  EXPECT_NE(Errors(graph).find(GetParam().error), std::string::npos) << Errors(graph);
}

INSTANTIATE_TEST_SUITE_P(Rules, VerifierRule, testing::ValuesIn(kCases),
                         [](const auto& rule) { return rule.param.name; });

TEST(Verifier, ReportsSeveralRulesInOneRun) {
  ir::Graph graph = Good();
  graph.tensor(0).quantization->scales = {0};
  graph.nodes[1].attributes["color"] = int64_t{1};
  graph.outputs.push_back(50);
  const std::string errors = Errors(graph);
  EXPECT_EQ(std::count(errors.begin(), errors.end(), '\n'), 3) << errors;
}

/// Rules add and multiply in 64 bits.
TEST(Verifier, RefusesSizesBeyond32Bits) {
  const std::pair<const char*, const char*> cases[] = {
      {"%2 = concatenation(%0, %1) {axis = 0}", "tensor [2147483647] has more than 2^30 elements"},
      {"%2 = pad(%0) {after = [2147483647], before = [2147483647]}", "tensor [2147483647] has more than 2^30"},
      {"%2 = pad(%0) {after = [0], before = [4294967296]}", "has attribute before beyond 32 bits"},
  };
  for (const auto& [node, message] : cases) {
    std::string error;
    const auto graph =
        ir::ParseGraph(std::string("graph \"g\"\n%0 \"a\": int8[1073741824]\n%1 \"b\": int8[1073741824]\n"
                                   "%2 \"c\": int8[1]\ninputs %0, %1\noutputs %2\n") +
                           node + "\n",
                       error);
    ASSERT_TRUE(graph.has_value()) << error;
    EXPECT_NE(Errors(*graph).find(message), std::string::npos) << node << "\n" << Errors(*graph);
  }
}

}  // namespace
}  // namespace takt
