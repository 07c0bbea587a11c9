// add: function (add, subtract), activation. mul: activation. Operands broadcast.
#include <cmath>

#include "converter/frontend/onnx_node.h"
#include "converter/frontend/tflite_node.h"
#include "converter/ir/constants.h"
#include "converter/ops/binary.h"
#include "converter/ops/onnx_expression.h"
#include "converter/ops/quantized_params.h"
#include "converter/ops/shape_rules.h"

namespace takt::ir {
namespace {

void LowerAdd(const Node&, backend::StepBuilder& step) {
  const Node node = step.node();
  if (!CheckQuantized(step)) return;
  const Tensor& a = step.tensor(node.inputs[0]);
  const Tensor& b = step.tensor(node.inputs[1]);
  const bool subtract = node.StringOr("function", "add") == "subtract";
  if (IsPlainInteger(a.type))
    return LowerPlainBinary(step, subtract ? schema::BinaryFunction::subtract : schema::BinaryFunction::add);
  const schema::AddParams params =
      MakeAddParams(step, {ScaleOf(a), ZeroPointOf(a)}, {ScaleOf(b), ZeroPointOf(b)}, step.tensor(node.outputs[0]),
                    node.StringOr("activation", "none"), subtract);
  step.Set(Op::kAdd, StepNumerics(step, node.inputs[0]), params, node.inputs, node.outputs);
}

void LowerMul(const Node&, backend::StepBuilder& step) {
  const Node node = step.node();
  if (!CheckQuantized(step)) return;
  const Tensor& a = step.tensor(node.inputs[0]);
  const Tensor& b = step.tensor(node.inputs[1]);
  const Tensor& output = step.tensor(node.outputs[0]);
  if (IsPlainInteger(a.type)) return LowerPlainBinary(step, schema::BinaryFunction::multiply);
  float scale = 0;
  FixedMultiplier fixed;
  if (IsInteger(a.type)) {
    if (step.numerics() == Numerics::kTflite) {
      fixed = QuantizeMultiplier(static_cast<double>(ScaleOf(a)) * static_cast<double>(ScaleOf(b)) /
                                 static_cast<double>(ScaleOf(output)));
    } else {
      scale = CheckedScale(ScaleOf(a) * ScaleOf(b) / ScaleOf(output), step);
    }
  }
  const schema::MulParams params(StoredClamp(node.StringOr("activation", "none"), output), scale, fixed.multiplier,
                                 fixed.shift, static_cast<int16_t>(ZeroPointOf(a)),
                                 static_cast<int16_t>(ZeroPointOf(b)), static_cast<int16_t>(ZeroPointOf(output)), 0);
  step.Set(Op::kMul, StepNumerics(step, node.inputs[0]), params, node.inputs, node.outputs);
}

template <typename Options>
void Import(frontend::TfliteNode& node, Op op, const char* function) {
  if (!node.CheckArity(2, 2, 1)) return;
  const auto* options = node.options<Options>();
  std::map<std::string, Attribute> attributes;
  attributes["activation"] = options ? node.Activation(options->fused_activation_function()) : std::string("none");
  if (op == Op::kAdd) attributes["function"] = std::string(function);
  node.Add(op, {node.input(0), node.input(1)}, attributes);
}

void ImportAdd(frontend::TfliteNode& node) {
  Import<tflite::AddOptions>(node, Op::kAdd, "add");
}
void ImportSub(frontend::TfliteNode& node) {
  Import<tflite::SubOptions>(node, Op::kAdd, "subtract");
}
void ImportMul(frontend::TfliteNode& node) {
  Import<tflite::MulOptions>(node, Op::kMul, "");
}

/// A chain of additions, in the operands' order.
void ImportAddN(frontend::TfliteNode& node) {
  if (!node.CheckArity(2, 1 << 16, 1)) return;
  TensorId sum = node.input(0);
  for (int i = 1; i + 1 < node.input_count(); ++i) {
    const TensorId partial = node.NewTensor(node.tensor(node.output(0)), "/sum" + std::to_string(i));
    node.AddTo(Op::kAdd, {sum, node.input(i)}, {partial});
    sum = partial;
  }
  node.Add(Op::kAdd, {sum, node.input(node.input_count() - 1)});
}

void ImportOnnxAdd(frontend::OnnxNode& node) {
  if (!node.CheckInputs(2, 2) || !node.CheckOutputs(1)) return;
  node.SetOutput(0, OnnxExpression(node).Add(node.input(0), node.BroadcastOperand()));
}
void ImportOnnxSub(frontend::OnnxNode& node) {
  if (!node.CheckInputs(2, 2) || !node.CheckOutputs(1)) return;
  node.SetOutput(0, OnnxExpression(node).Subtract(node.input(0), node.BroadcastOperand()));
}
void ImportOnnxMul(frontend::OnnxNode& node) {
  if (!node.CheckInputs(2, 2) || !node.CheckOutputs(1)) return;
  node.SetOutput(0, OnnxExpression(node).Multiply(node.input(0), node.BroadcastOperand()));
}

/// Any number of operands, added one after the other.
TensorId OnnxTotal(frontend::OnnxNode& node) {
  TensorId sum = node.input(0);
  for (int i = 1; i < node.input_count(); ++i) sum = OnnxExpression(node).Add(sum, node.input(i));
  return sum;
}

void ImportOnnxSum(frontend::OnnxNode& node) {
  if (node.CheckInputs(1, 1 << 16) && node.CheckOutputs(1)) node.SetOutput(0, OnnxTotal(node));
}

void ImportOnnxMean(frontend::OnnxNode& node) {
  if (!node.CheckInputs(1, 1 << 16) || !node.CheckOutputs(1)) return;
  const TensorId count = node.FloatConstant({1}, {static_cast<float>(node.input_count())});
  node.SetOutput(0, node.Emit(Op::kBinary, {OnnxTotal(node), count}, {{"function", std::string("divide")}}));
}

/// y = x * a + b for each channel, a = scale / sqrt(variance + epsilon), b = bias - mean * a.
void ImportOnnxBatchNormalization(frontend::OnnxNode& node) {
  if (!node.CheckInputs(5, 5) || !node.CheckOutputs(1)) return;
  if (node.Int("training_mode", 0) != 0) return node.Error("is in training mode; export the model for inference");
  const std::vector<int32_t> x = node.dims(node.input(0));
  if (x.size() < 2) return node.Error("takes an input of rank 2 or more");
  std::vector<std::vector<float>> values;
  for (int i = 1; i < 5; ++i) {
    const TensorId id = node.input(i);
    if (!node.is_constant(id) || node.tensor(id).type != DataType::kFloat32 ||
        node.tensor(id).element_count() != x[1]) {
      return node.Error("scale, bias, mean and variance must be float32 constants, one value a channel", id);
    }
    values.push_back(Elements<float>(node.tensor(id)));
  }
  const double epsilon = node.Float("epsilon", 1e-5);
  std::vector<float> a;
  std::vector<float> b;
  for (size_t c = 0; c < values[0].size(); ++c) {
    const double gain = static_cast<double>(values[0][c]) / std::sqrt(static_cast<double>(values[3][c]) + epsilon);
    a.push_back(static_cast<float>(gain));
    b.push_back(static_cast<float>(static_cast<double>(values[1][c]) - static_cast<double>(values[2][c]) * gain));
  }
  std::vector<int32_t> dims(x.size() - 1, 1);
  dims[0] = x[1];
  const TensorId scaled = node.Emit(Op::kMul, {node.input(0), node.FloatConstant(dims, a)});
  node.SetOutput(0, node.Emit(Op::kAdd, {scaled, node.FloatConstant(dims, b)}));
}

constexpr AttributeRule kAddAttributes[] = {{"function", AttributeKind::kString, false},
                                            {"activation", AttributeKind::kString, false}};
constexpr AttributeRule kMulAttributes[] = {{"activation", AttributeKind::kString, false}};
constexpr TfliteImport kAddTflite[] = {{0, "ADD", ImportAdd}, {41, "SUB", ImportSub}, {106, "ADD_N", ImportAddN}};
constexpr OnnxImport kAddOnnx[] = {
    {"Add", 1, ImportOnnxAdd}, {"Sub", 1, ImportOnnxSub}, {"Sum", 1, ImportOnnxSum}, {"Mean", 1, ImportOnnxMean}};
constexpr OnnxImport kMulOnnx[] = {{"Mul", 1, ImportOnnxMul}, {"BatchNormalization", 1, ImportOnnxBatchNormalization}};
constexpr TfliteImport kMulTflite[] = {{18, "MUL", ImportMul}};

}  // namespace

extern const OpDef kAddDef;
extern const OpDef kMulDef;
const OpDef kAddDef = {Op::kAdd, kAddAttributes,     InferBroadcastOfInputs,
                       LowerAdd, kAddTflite,         NpuClass::kElementwise,
                       kAddOnnx, CommuteElementwise, QuantRule::kFree};
const OpDef kMulDef = {Op::kMul, kMulAttributes,     InferBroadcastOfInputs,
                       LowerMul, kMulTflite,         NpuClass::kElementwise,
                       kMulOnnx, CommuteElementwise, QuantRule::kFree};

}  // namespace takt::ir
