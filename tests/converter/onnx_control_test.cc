// If, Loop and Scan: what is known at conversion goes, the rest becomes control steps; order and names of nodes.
#include <gtest/gtest.h>

#include <algorithm>

#include "converter/backend/convert.h"
#include "converter/ir/constants.h"
#include "tests/converter/onnx_builder.h"
#include "tests/support/messages.h"
#include "tests/support/plan_runner.h"

namespace takt {
namespace {

using test::Errors;
using test::OnnxBuilder;

Conversion Convert(const OnnxBuilder& builder, const ConvertOptions& options = {},
                   const frontend::OnnxOptions& onnx = {}) {
  return ConvertOnnx(builder.Bytes(), "test.onnx", onnx, options);
}

/// All outputs for one input of floats.
std::vector<std::vector<float>> Results(const Conversion& made, const std::vector<float>& input) {
  std::vector<std::vector<float>> outputs;
  if (made.plan.empty()) {
    ADD_FAILURE() << Errors(made);
    return outputs;
  }
  for (const auto& bytes : test::PlanRunner(made.plan).Run({ir::ToBytes(input)}))
    outputs.push_back(test::Floats(bytes));
  return outputs;
}

size_t Count(const Conversion& made, Op op) {
  return static_cast<size_t>(std::count_if(made.graph.nodes.begin(), made.graph.nodes.end(),
                                           [op](const ir::Node& node) { return node.op == op; }));
}

/// y = x * factor, of the graph around it.
OnnxBuilder Scaled(float factor) {
  OnnxBuilder body;
  body.Constant("factor", {1}, std::vector<float>{factor});
  body.Node("Mul", {"x", "factor"}, "scaled");
  body.Output("scaled", {1, 3});
  return body;
}

void AddIf(OnnxBuilder& b, const std::string& condition, OnnxBuilder then_branch, OnnxBuilder else_branch) {
  onnx::NodeProto& node = b.Node("If", {condition}, "y");
  OnnxBuilder::Graph(node, "then_branch", then_branch);
  OnnxBuilder::Graph(node, "else_branch", else_branch);
}

TEST(OnnxIf, ReadsOnlyTheBranchThatAConstantTakes) {
  OnnxBuilder broken;
  broken.Node("Det", {"x"}, "d");
  broken.Output("d", {1, 3});
  for (const bool taken : {true, false}) {
    OnnxBuilder b;
    b.Input("x", {1, 3});
    b.Constant("condition", {}, std::vector<uint8_t>{taken});
    b.model().mutable_graph()->mutable_initializer(0)->set_data_type(onnx::TensorProto::BOOL);
    AddIf(b, "condition", taken ? Scaled(2) : broken, taken ? broken : Scaled(2));
    b.Output("y", {1, 3});
    EXPECT_EQ(Results(Convert(b), {1, 2, 3}).at(0), (std::vector<float>{2, 4, 6}));
  }
}

/// Both branches read x and a value between; one nests another.
TEST(OnnxIf, DataDecides) {
  OnnxBuilder b;
  b.Input("x", {1, 3});
  b.Constant("zero", {1, 1}, std::vector<float>{0});
  b.Node("Neg", {"x"}, "n");
  b.Node("ReduceSum", {"x"}, "sum");
  b.Node("Greater", {"sum", "zero"}, "positive");
  b.Node("ReduceMax", {"x"}, "max");
  b.Constant("two", {1, 1}, std::vector<float>{2});
  b.Node("Greater", {"max", "two"}, "large");
  OnnxBuilder passes_on;
  passes_on.Output("n", {1, 3});
  OnnxBuilder nested;
  AddIf(nested, "large", Scaled(10), Scaled(2));
  nested.Output("y", {1, 3});
  AddIf(b, "positive", nested, passes_on);
  b.Output("y", {1, 3});
  const Conversion made = Convert(b);
  EXPECT_EQ(Results(made, {1, 2, 1}).at(0), (std::vector<float>{2, 4, 2}));
  EXPECT_EQ(Results(made, {1, 3, 1}).at(0), (std::vector<float>{10, 30, 10}));
  EXPECT_EQ(Results(made, {-1, -3, 1}).at(0), (std::vector<float>{1, 3, -1}));
}

TEST(OnnxIf, BranchesOfTwoShapesAreRefused) {
  OnnxBuilder b;
  b.Input("x", {1, 3});
  b.Constant("zero", {1, 1}, std::vector<float>{0});
  b.Node("ReduceSum", {"x"}, "sum");
  b.Node("Greater", {"sum", "zero"}, "positive");
  OnnxBuilder whole;
  whole.Output("x", {1, 3});
  OnnxBuilder part;
  part.Output("sum", {1, 1});
  AddIf(b, "positive", whole, part);
  b.Output("y", {1, 3});
  const std::string errors = Errors(Convert(b));
  EXPECT_NE(errors.find("a body's outputs and its own differ"), std::string::npos) << errors;
}

/// v = v + x each trip, which is stacked as well; `trips` and `condition` as given.
void AddSummingLoop(OnnxBuilder& b, const std::string& trips, const std::string& condition, const char* stack) {
  OnnxBuilder body;
  body.Input("trip", {});
  body.Input("go", {});
  body.Input("v", {1, 3});
  body.Node("Add", {"v", "x"}, "next");
  body.Constant("limit", {1, 1}, std::vector<float>{100});
  body.Node("ReduceSum", {"next"}, "sum");
  body.Node("Less", {"sum", "limit"}, "below");
  body.Constant("scalar", {0}, std::vector<int64_t>{});
  body.Node("Reshape", {"below", "scalar"}, "another");
  body.Output(condition.empty() ? "go" : "another", {});
  body.Output("next", {1, 3});
  if (stack != nullptr) body.Output("next", {1, 3});
  onnx::NodeProto& loop = b.Node("Loop", {trips, condition, "start"}, "end");
  if (stack != nullptr) loop.add_output(stack);
  OnnxBuilder::Graph(loop, "body", body);
}

OnnxBuilder WithLoop(int64_t trips, const std::string& condition, const char* stack) {
  OnnxBuilder b;
  b.Input("x", {1, 3});
  b.Constant("start", {1, 3}, std::vector<float>{0, 0, 0});
  if (trips > 0) b.Constant("trips", {}, std::vector<int64_t>{trips});
  b.Constant("true", {}, std::vector<uint8_t>{1});
  b.model().mutable_graph()->mutable_initializer()->rbegin()->set_data_type(onnx::TensorProto::BOOL);
  AddSummingLoop(b, trips > 0 ? "trips" : "", condition, stack);
  b.Output("end", {1, 3});
  if (stack != nullptr) b.Output(stack, {trips, 1, 3});
  return b;
}

TEST(OnnxLoop, FewTripsAreUnrolledManyStayALoop) {
  for (const int64_t trips : {4, 1500}) {
    const Conversion made = Convert(WithLoop(trips, "", "all"));
    const auto outputs = Results(made, {1, 2, -3});
    ASSERT_EQ(outputs.size(), 2u);
    const auto n = static_cast<float>(trips);
    EXPECT_EQ(outputs[0], (std::vector<float>{n, 2 * n, -3 * n}));
    ASSERT_EQ(outputs[1].size(), static_cast<size_t>(3 * trips));
    for (int64_t t = 0; t < trips; ++t) EXPECT_EQ(outputs[1][static_cast<size_t>(3 * t + 1)], 2 * float(t + 1));
    EXPECT_LT(made.graph.nodes.size(), 40u);
  }
}

TEST(OnnxLoop, DataEndsIt) {
  EXPECT_NE(Errors(Convert(WithLoop(0, "true", nullptr))).find("--max-trips"), std::string::npos);
  ConvertOptions options;
  options.max_trips = 200;
  EXPECT_EQ(Results(Convert(WithLoop(0, "true", nullptr), options), {1, 2, 1}).at(0), (std::vector<float>{25, 50, 25}));
  // Its bound ends it first.
  EXPECT_EQ(Results(Convert(WithLoop(7, "true", nullptr)), {1, 2, 1}).at(0), (std::vector<float>{7, 14, 7}));
  const std::string errors = Errors(Convert(WithLoop(7, "true", "all")));
  EXPECT_NE(errors.find("their number depends on data"), std::string::npos) << errors;
}

/// The value doubles in length each trip, and the trip's number is arithmetic on shapes.
TEST(OnnxLoop, ShapesMayChangeFromTripToTrip) {
  OnnxBuilder body;
  body.Input("trip", {});
  body.Input("go", {});
  body.Input("v", {3});
  OnnxBuilder::Ints(body.Node("Concat", {"v", "v"}, "next"), "unused", {0});
  onnx::AttributeProto* axis = body.model().mutable_graph()->mutable_node(0)->mutable_attribute(0);
  axis->set_name("axis");
  axis->set_type(onnx::AttributeProto::INT);
  axis->set_i(0);
  body.Constant("one", {}, std::vector<int64_t>{1});
  body.Node("Less", {"trip", "one"}, "another");
  body.Output("another", {});
  body.Output("next", {6});
  OnnxBuilder b;
  b.Input("x", {3});
  OnnxBuilder::Graph(b.Node("Loop", {"", "", "x"}, "y"), "body", body);
  b.Output("y", {12});
  EXPECT_EQ(Results(Convert(b), {1, 2, 3}).at(0), (std::vector<float>{1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3}));
}

/// Sums from the last column to the first, and gives them as columns in the order of the input.
TEST(OnnxScan, TakesAxesAndDirections) {
  OnnxBuilder body;
  body.Input("sum", {2});
  body.Input("column", {2});
  body.Node("Add", {"sum", "column"}, "next");
  body.Output("next", {2});
  body.Output("next", {2});
  OnnxBuilder b;
  b.Input("x", {2, 3});
  b.Constant("zero", {2}, std::vector<float>{0, 0});
  onnx::NodeProto& scan = b.Node("Scan", {"zero", "x"}, "last");
  scan.add_output("all");
  OnnxBuilder::Graph(scan, "body", body);
  onnx::AttributeProto* count = scan.add_attribute();
  count->set_name("num_scan_inputs");
  count->set_type(onnx::AttributeProto::INT);
  count->set_i(1);
  for (const char* name : {"scan_input_axes", "scan_input_directions", "scan_output_axes", "scan_output_directions"})
    OnnxBuilder::Ints(scan, name, {1});
  b.Output("last", {2});
  b.Output("all", {2, 3});
  const auto outputs = Results(Convert(b), {1, 2, 3, 10, 20, 30});
  ASSERT_EQ(outputs.size(), 2u);
  EXPECT_EQ(outputs[0], (std::vector<float>{6, 60}));
  EXPECT_EQ(outputs[1], (std::vector<float>{6, 5, 3, 60, 50, 30}));
}

TEST(OnnxOrder, NodesMayStandInAnyOrder) {
  OnnxBuilder b;
  b.Input("x", {1, 3});
  b.Node("Relu", {"n"}, "y");
  b.Node("Neg", {"x"}, "n");
  b.Output("y", {1, 3});
  EXPECT_EQ(Results(Convert(b), {1, -2, 3}).at(0), (std::vector<float>{0, 2, 0}));
}

TEST(OnnxOrder, NamesTheNodesOfACycle) {
  OnnxBuilder b;
  b.Input("x", {1, 3});
  b.Node("Add", {"x", "c"}, "a").set_name("first");
  b.Node("Neg", {"a"}, "c").set_name("second");
  b.Node("Neg", {"x"}, "y");
  b.Output("y", {1, 3});
  const std::string errors = Errors(Convert(b));
  EXPECT_NE(errors.find("0(Add first): error: is on a cycle"), std::string::npos) << errors;
  EXPECT_NE(errors.find("1(Neg second): error: is on a cycle"), std::string::npos) << errors;
}

/// As voice activity detectors ask for their sampling rate.
TEST(OnnxInputs, OptionMakesOneAConstant) {
  OnnxBuilder b;
  b.Input("x", {1, 3});
  b.Input("rate", {});
  b.model().mutable_graph()->mutable_input(1)->mutable_type()->mutable_tensor_type()->set_elem_type(
      onnx::TensorProto::INT64);
  b.Constant("wanted", {}, std::vector<int64_t>{16000});
  b.Node("Equal", {"rate", "wanted"}, "same");
  AddIf(b, "same", Scaled(2), Scaled(3));
  b.Output("y", {1, 3});
  frontend::OnnxOptions onnx;
  for (const double rate : {16000, 8000}) {
    onnx.constants["rate"] = {rate};
    const Conversion made = Convert(b, {}, onnx);
    EXPECT_EQ(Count(made, Op::kIf) + made.graph.inputs.size(), 1u);
    EXPECT_EQ(Results(made, {1, 2, 3}).at(0)[0], rate == 16000 ? 2.0f : 3.0f);
  }
  onnx.constants["rate"] = {1, 2};
  EXPECT_NE(Errors(Convert(b, {}, onnx)).find("takes 1 values"), std::string::npos);
  onnx.constants["rate"] = {0.5};
  EXPECT_NE(Errors(Convert(b, {}, onnx)).find("takes 1 values"), std::string::npos);
  onnx.constants = {{"other", {1}}};
  EXPECT_NE(Errors(Convert(b, {}, onnx)).find("no such input"), std::string::npos);
}

/// --shape of one input gives the size of a dimension that another names.
TEST(OnnxInputs, DimensionsOfOneNameHaveOneSize) {
  OnnxBuilder b;
  b.Input("x", {1, 1});
  b.Input("h", {1, 1});
  for (int i = 0; i < 2; ++i) {
    auto* shape = b.model().mutable_graph()->mutable_input(i)->mutable_type()->mutable_tensor_type()->mutable_shape();
    shape->mutable_dim(1)->set_dim_param("length");
  }
  b.Node("Add", {"x", "h"}, "y");
  b.Output("y", {1, 1});
  frontend::OnnxOptions onnx;
  onnx.shapes["x"] = {1, 5};
  const Conversion made = Convert(b, {}, onnx);
  ASSERT_EQ(Errors(made), "");
  EXPECT_EQ(made.graph.tensor(made.graph.inputs.at(1)).dims, (std::vector<int32_t>{1, 5}));
}

}  // namespace
}  // namespace takt
