// What ONNX's own cases (onnx_conformance.cc) don't cover: opsets, arithmetic on shapes, functions of
// the model, quantized inputs and outputs, layouts around gathers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "converter/backend/convert.h"
#include "converter/ir/constants.h"
#include "tests/converter/onnx_builder.h"
#include "tests/support/messages.h"
#include "tests/support/plan_runner.h"

namespace takt {
namespace {

using test::Errors;
using test::OnnxBuilder;

Conversion Convert(const OnnxBuilder& builder, const frontend::OnnxOptions& onnx = {}) {
  return ConvertOnnx(builder.Bytes(), "test.onnx", onnx, {});
}

/// The first output for one input of floats.
std::vector<float> Outputs(const OnnxBuilder& builder, const std::vector<float>& input,
                           const frontend::OnnxOptions& onnx = {}) {
  const Conversion made = Convert(builder, onnx);
  if (made.plan.empty()) return ADD_FAILURE() << Errors(made), std::vector<float>();
  return test::Floats(test::PlanRunner(made.plan).Run({ir::ToBytes(input)})[0]);
}

void SetInt(onnx::NodeProto& node, const char* name, int64_t value) {
  onnx::AttributeProto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::INT);
  attribute->set_i(value);
}
void SetString(onnx::NodeProto& node, const char* name, const char* value) {
  onnx::AttributeProto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::STRING);
  attribute->set_s(value);
}

TEST(OnnxOpsets, GiveOneResult) {
  const std::vector<float> input = test::Values(192, 7);
  OnnxBuilder b = test::SmallCnn();
  const std::vector<float> want = Outputs(b, input);
  for (int opset = 7; opset <= 17; ++opset) {
    b.model().mutable_opset_import(0)->set_version(opset);
    EXPECT_EQ(Outputs(b, input), want) << "opset " << opset;
  }
}

/// As exporters write x.view(x.size(0), -1).
TEST(OnnxShapes, ChainsOfIntegersAreEvaluated) {
  OnnxBuilder b;
  b.Input("x", {2, 3, 4});
  b.Constant("zero", {}, std::vector<int64_t>{0});
  b.Constant("axes", {1}, std::vector<int64_t>{0});
  b.Constant("rest", {1}, std::vector<int64_t>{-1});
  b.Node("Shape", {"x"}, "s");
  b.Node("Gather", {"s", "zero"}, "n");
  b.Node("Unsqueeze", {"n", "axes"}, "n1");
  SetInt(b.Node("Concat", {"n1", "rest"}, "shape"), "axis", 0);
  b.Node("Reshape", {"x", "shape"}, "r");
  b.Node("Relu", {"r"}, "y");
  b.Output("y", {2, 12});
  const Conversion made = Convert(b);
  EXPECT_EQ(Errors(made), "");
  EXPECT_EQ(made.graph.tensor(made.graph.outputs.at(0)).dims, (std::vector<int32_t>{2, 12}));
}

/// As exporters write interpolate(x, scale_factor=1.5): the size goes through floats.
TEST(OnnxShapes, ChainsOfFloatsAreEvaluated) {
  OnnxBuilder b;
  b.Input("x", {1, 1, 4, 6});
  b.Constant("begin", {1}, std::vector<int64_t>{2});
  b.Constant("end", {1}, std::vector<int64_t>{4});
  b.Constant("front_end", {1}, std::vector<int64_t>{2});
  b.Constant("front", {1}, std::vector<int64_t>{0});
  b.Constant("factor", {}, std::vector<float>{1.5f});
  b.Node("Shape", {"x"}, "s");
  b.Node("Slice", {"s", "begin", "end"}, "hw");
  SetInt(b.Node("Cast", {"hw"}, "f"), "to", onnx::TensorProto::FLOAT);
  b.Node("Mul", {"f", "factor"}, "g");
  b.Node("Floor", {"g"}, "h");
  SetInt(b.Node("Cast", {"h"}, "i"), "to", onnx::TensorProto::INT64);
  b.Node("Slice", {"s", "front", "front_end"}, "nc");
  SetInt(b.Node("Concat", {"nc", "i"}, "sizes"), "axis", 0);
  b.Node("Resize", {"x", "", "", "sizes"}, "y");
  b.Output("y", {1, 1, 6, 9});
  EXPECT_EQ(Outputs(b, test::Values(24, 1)).size(), 54u);
}

/// y = scale(x) twice, where scale(a) = a * factor is the model's own function and `factor` its attribute.
OnnxBuilder WithFunction() {
  OnnxBuilder b;
  b.Input("x", {3});
  b.Output("y", {3});
  auto* own = b.model().add_opset_import();
  own->set_domain("own");
  own->set_version(1);
  onnx::FunctionProto* f = b.model().add_functions();
  f->set_name("Scale");
  f->set_domain("own");
  f->add_input("a");
  f->add_output("b");
  f->add_attribute("factor");
  f->add_opset_import()->set_version(13);
  onnx::NodeProto* constant = f->add_node();
  constant->set_op_type("Constant");
  constant->add_output("f");
  onnx::AttributeProto* value = constant->add_attribute();
  value->set_name("value_float");
  value->set_ref_attr_name("factor");
  value->set_type(onnx::AttributeProto::FLOAT);
  onnx::NodeProto* product = f->add_node();
  product->set_op_type("Mul");
  product->add_input("a");
  product->add_input("f");
  product->add_output("b");
  for (const auto& [in, out, factor] : {std::tuple("x", "between", 3.0f), std::tuple("between", "y", 5.0f)}) {
    onnx::NodeProto& call = b.Node("Scale", {in}, out);
    call.set_domain("own");
    onnx::AttributeProto* attribute = call.add_attribute();
    attribute->set_name("factor");
    attribute->set_type(onnx::AttributeProto::FLOAT);
    attribute->set_f(factor);
  }
  return b;
}

TEST(OnnxFunctions, OfTheModelAreInlined) {
  EXPECT_EQ(Outputs(WithFunction(), {1, -2, 0.5f}), (std::vector<float>{15, -30, 7.5f}));
}

TEST(OnnxFunctions, ThatCallThemselvesAreErrors) {
  OnnxBuilder b = WithFunction();
  onnx::NodeProto* product = b.model().mutable_functions(0)->mutable_node(1);
  product->set_op_type("Scale");
  product->set_domain("own");
  product->mutable_input()->RemoveLast();
  const Conversion made = Convert(b);
  EXPECT_TRUE(made.plan.empty());
  EXPECT_NE(Errors(made).find("nested too deep"), std::string::npos) << Errors(made);
}

/// uint8 -> QLinearMatMul -> uint8: the plan binds uint8 and multiplies int8.
TEST(OnnxQuantized, UnsignedInputsAndOutputsStayUnsigned) {
  OnnxBuilder b;
  b.Input("x", {1, 2});
  b.Constant("s", {}, std::vector<float>{0.5f});
  b.Constant("z", {}, std::vector<uint8_t>{10});
  b.Constant("w", {2, 2}, std::vector<int8_t>{1, 2, -3, 4});
  b.Constant("ws", {}, std::vector<float>{1.0f});
  b.Constant("wz", {}, std::vector<int8_t>{0});
  b.Node("QLinearMatMul", {"x", "s", "z", "w", "ws", "wz", "s", "z"}, "y");
  b.Output("y", {1, 2});
  for (auto* value : {b.model().mutable_graph()->mutable_input(0), b.model().mutable_graph()->mutable_output(0)})
    value->mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::UINT8);
  const Conversion made = Convert(b);
  ASSERT_EQ(Errors(made), "");
  // x = {20, 7}: (10, -3) * w = (19, 8), plus the zero point.
  EXPECT_EQ(test::PlanRunner(made.plan).Run({{20, 7}})[0], (test::Bytes{29, 18}));
  EXPECT_TRUE(std::any_of(made.graph.nodes.begin(), made.graph.nodes.end(),
                          [](const ir::Node& n) { return n.op == Op::kFullyConnected; }));
  for (const ir::Node& n : made.graph.nodes) EXPECT_NE(n.op, Op::kDequantize);
}

/// The function of the only step, or how many steps there are.
std::string OnlyFunction(const OnnxBuilder& b) {
  const Conversion made = Convert(b);
  EXPECT_EQ(Errors(made), "");
  if (made.graph.nodes.size() != 1) return std::to_string(made.graph.nodes.size()) + " steps";
  return made.graph.nodes[0].StringOr("function", "none");
}

TEST(OnnxFunctions, WrittenAsArithmeticBecomeOneStep) {
  OnnxBuilder gelu;
  gelu.Input("x", {4});
  gelu.Output("y", {4});
  gelu.Constant("root", {}, std::vector<float>{1.4142135381698608f});
  gelu.Constant("one", {}, std::vector<float>{1});
  gelu.Constant("half", {}, std::vector<float>{0.5f});
  gelu.Node("Div", {"x", "root"}, "a");
  gelu.Node("Erf", {"a"}, "b");
  gelu.Node("Add", {"b", "one"}, "c");
  gelu.Node("Mul", {"x", "c"}, "d");
  gelu.Node("Mul", {"d", "half"}, "y");
  EXPECT_EQ(OnlyFunction(gelu), "gelu");
  OnnxBuilder swish;
  swish.Input("x", {4});
  swish.Output("y", {4});
  swish.Constant("three", {}, std::vector<float>{3});
  swish.Constant("six", {}, std::vector<float>{6});
  swish.Constant("zero", {}, std::vector<float>{0});
  swish.Node("Add", {"x", "three"}, "a");
  swish.Node("Clip", {"a", "zero", "six"}, "b");
  swish.Node("Mul", {"x", "b"}, "c");
  swish.Node("Div", {"c", "six"}, "y");
  EXPECT_EQ(OnlyFunction(swish), "hard_swish");
  OnnxBuilder mish;
  mish.Input("x", {4});
  mish.Output("y", {4});
  mish.Node("Softplus", {"x"}, "a");
  mish.Node("Tanh", {"a"}, "b");
  mish.Node("Mul", {"x", "b"}, "y");
  EXPECT_EQ(OnlyFunction(mish), "mish");
  // Another factor is another function.
  gelu.Constant("other", {}, std::vector<float>{0.25f});
  gelu.model().mutable_graph()->mutable_node(4)->set_input(1, "other");
  EXPECT_EQ(OnlyFunction(gelu), "5 steps");
}

/// Weights that the import turns round stay integers, so that quantized convolutions become integer steps.
TEST(OnnxQuantized, ConvolutionsBecomeIntegerSteps) {
  OnnxBuilder b;
  b.Input("x", {1, 2, 3, 3});
  b.Constant("s", {}, std::vector<float>{0.5f});
  b.Constant("z", {}, std::vector<uint8_t>{10});
  b.Constant("w", {3, 2, 2, 2}, std::vector<int8_t>(24, 1));
  b.Constant("ws", {3}, std::vector<float>{0.5f, 0.25f, 1.0f});
  b.Constant("wz", {3}, std::vector<int8_t>{0, 0, 0});
  b.Node("QuantizeLinear", {"x", "s", "z"}, "xq");
  b.Node("DequantizeLinear", {"xq", "s", "z"}, "xd");
  SetInt(b.Node("DequantizeLinear", {"w", "ws", "wz"}, "wd"), "axis", 0);
  b.Node("Conv", {"xd", "wd"}, "c");
  b.Node("QuantizeLinear", {"c", "s", "z"}, "cq");
  b.Node("DequantizeLinear", {"cq", "s", "z"}, "y");
  b.Output("y", {1, 3, 2, 2});
  const Conversion made = Convert(b);
  ASSERT_EQ(Errors(made), "");
  for (const ir::Node& node : made.graph.nodes) {
    if (node.op == Op::kConv2d) {
      EXPECT_EQ(made.graph.tensor(node.inputs[0]).type, DataType::kInt8);
    }
  }
  // Each cell sums 8 products of 1 with the weights' scales.
  EXPECT_EQ(Outputs(b, std::vector<float>(18, 1.0f)), (std::vector<float>{4, 4, 4, 4, 2, 2, 2, 2, 8, 8, 8, 8}));
}

/// Between convolutions, neither a reflected border nor an upsampling needs the other layout.
TEST(OnnxLayout, GathersAndResizesKeepTheLayout) {
  OnnxBuilder b(11);
  b.Input("x", {1, 3, 6, 6});
  b.Constant("w", {3, 3, 3, 3}, test::Values(81, 1));
  b.Constant("pads", {8}, std::vector<int64_t>{0, 0, 1, 1, 0, 0, 1, 1});
  b.Constant("scales", {4}, std::vector<float>{1, 1, 2, 2});
  b.Node("Conv", {"x", "w"}, "a");
  SetString(b.Node("Pad", {"a", "pads"}, "p"), "mode", "reflect");
  onnx::NodeProto& resize = b.Node("Resize", {"p", "", "scales"}, "r");
  SetString(resize, "mode", "linear");
  SetString(resize, "coordinate_transformation_mode", "pytorch_half_pixel");
  b.Node("Conv", {"r", "w"}, "y");
  b.Output("y", {1, 3, 10, 10});
  const Conversion made = Convert(b);
  ASSERT_EQ(Errors(made), "");
  const auto transposes = std::count_if(made.graph.nodes.begin(), made.graph.nodes.end(),
                                        [](const ir::Node& n) { return n.op == Op::kTranspose; });
  EXPECT_EQ(transposes, 2);  // Of the input and of the output.
}

}  // namespace
}  // namespace takt
