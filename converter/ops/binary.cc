// binary: function, activation. Operands broadcast.
#include "converter/ops/binary.h"

#include <algorithm>
#include <cmath>

#include "converter/frontend/onnx_node.h"
#include "converter/frontend/tflite_node.h"
#include "converter/ops/onnx_expression.h"
#include "converter/ops/quantized_params.h"
#include "converter/ops/shape_rules.h"

namespace takt::ir {

void LowerPlainBinary(backend::StepBuilder& step, schema::BinaryFunction function) {
  const Node node = step.node();
  const schema::Clamp clamp = StoredClamp(node.StringOr("activation", "none"), step.tensor(node.outputs[0]));
  const schema::BinaryParams params(clamp, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, function, 0);
  step.Set(Op::kBinary, Numerics::kAny, params, node.inputs, node.outputs);
}

namespace {

constexpr char kDivide[] = "divide";
constexpr char kMaximum[] = "maximum";
constexpr char kMinimum[] = "minimum";
constexpr char kExclusiveOr[] = "exclusive_or";
constexpr char kRightShift[] = "right_shift";

/// Scales of fp32_rne, multipliers of tflite (schema/plan.fbs).
struct OutputStages {
  float a_scale = 0, b_scale = 0;
  FixedMultiplier a, b, output;
  int left_shift = 0;
};

/// wide: int16.
OutputStages SquaredDifference(backend::StepBuilder& step, float a, float b, float out, bool wide) {
  OutputStages stages;
  if (step.numerics() == Numerics::kTflite) {
    stages.left_shift = wide ? 0 : 7;
    const double twice = 2.0 * static_cast<double>(std::max(a, b));
    stages.a = QuantizeMultiplier(static_cast<double>(a) / twice);
    stages.b = QuantizeMultiplier(static_cast<double>(b) / twice);
    stages.output = QuantizeMultiplier(twice * twice / ((1 << 2 * stages.left_shift) * static_cast<double>(out)));
  } else {
    const float root = std::sqrt(out);
    stages.a_scale = CheckedScale(a / root, step);
    stages.b_scale = CheckedScale(b / root, step);
  }
  return stages;
}

OutputStages Prelu(backend::StepBuilder& step, float x, float alpha, float out) {
  OutputStages stages;
  if (step.numerics() == Numerics::kTflite) {
    const auto real = static_cast<double>(x);
    stages.a = QuantizeMultiplier(real / static_cast<double>(out));
    stages.b = QuantizeMultiplier(real * static_cast<double>(alpha) / static_cast<double>(out));
  } else {
    stages.a_scale = CheckedScale(x / out, step);
    stages.b_scale = CheckedScale(x * alpha / out, step);
  }
  return stages;
}

void LowerQuantized(backend::StepBuilder& step, schema::BinaryFunction function) {
  using enum schema::BinaryFunction;
  const Node node = step.node();
  const Tensor& a = step.tensor(node.inputs[0]);
  const Tensor& b = step.tensor(node.inputs[1]);
  const Tensor& output = step.tensor(node.outputs[0]);
  const bool extreme = function == maximum || function == minimum;
  if (extreme && (!SameQuantization(a, output) || !SameQuantization(b, output)))
    return step.Error("maximum and minimum compare stored values; requantize the operands to the output's scale");
  if (!extreme && function != squared_difference && function != prelu)
    return step.Error(std::string("has no quantized rule for ") + schema::EnumNameBinaryFunction(function) +
                      "; keep the operator in float32");
  OutputStages stages;
  if (function == squared_difference)
    stages = SquaredDifference(step, ScaleOf(a), ScaleOf(b), ScaleOf(output), output.type == DataType::kInt16);
  if (function == prelu) stages = Prelu(step, ScaleOf(a), ScaleOf(b), ScaleOf(output));
  const auto narrow = [](int32_t shift) { return static_cast<int8_t>(shift); };
  const schema::BinaryParams params(
      StoredClamp(node.StringOr("activation", "none"), output), stages.a_scale, stages.b_scale, stages.a.multiplier,
      stages.b.multiplier, stages.output.multiplier, narrow(stages.a.shift), narrow(stages.b.shift),
      narrow(stages.output.shift), narrow(stages.left_shift), static_cast<int16_t>(ZeroPointOf(a)),
      static_cast<int16_t>(ZeroPointOf(b)), static_cast<int16_t>(ZeroPointOf(output)), function, 0);
  step.Set(Op::kBinary, extreme ? Numerics::kAny : step.numerics(), params, node.inputs, node.outputs);
}

void Lower(const Node&, backend::StepBuilder& step) {
  const Node node = step.node();
  const auto* function =
      EnumValue(schema::EnumValuesBinaryFunction(), schema::EnumNameBinaryFunction, node.StringOr("function", ""));
  if (function == nullptr) return step.Error("unknown binary function");
  if (!IsInteger(step.tensor(node.inputs[0]).type)) return LowerPlainBinary(step, *function);
  if (CheckQuantized(step)) LowerQuantized(step, *function);
}

void ImportFunction(frontend::TfliteNode& node, const char* function) {
  if (node.CheckArity(2, 2, 1))
    node.Add(Op::kBinary, {node.input(0), node.input(1)}, {{"function", std::string(function)}});
}

void ImportExtreme(frontend::TfliteNode& node, const char* function) {
  if (!node.CheckArity(2, 2, 1)) return;
  const TensorId a = node.ToOutputScale(node.input(0)), b = node.ToOutputScale(node.input(1));
  node.Add(Op::kBinary, {a, b}, {{"function", std::string(function)}});
}

/// Quantized operands are computed in float32.
void ImportInFloat(frontend::TfliteNode& node, const char* function, const std::string& activation = "none") {
  if (!node.CheckArity(2, 2, 1)) return;
  const std::map<std::string, Attribute> attributes = {{"function", std::string(function)}, {"activation", activation}};
  if (!IsInteger(node.tensor(node.input(0)).type))
    node.Add(Op::kBinary, {node.input(0), node.input(1)}, attributes);
  else
    node.AddFloat(Op::kBinary, {node.ToFloat(node.input(0)), node.ToFloat(node.input(1))}, attributes);
}

void ImportDiv(frontend::TfliteNode& node) {
  const auto* options = node.options<tflite::DivOptions>();
  ImportInFloat(node, "divide", options ? node.Activation(options->fused_activation_function()) : "none");
}
void ImportFloorDiv(frontend::TfliteNode& node) {
  ImportInFloat(node, "floor_divide");
}
void ImportFloorMod(frontend::TfliteNode& node) {
  ImportInFloat(node, "floor_modulo");
}
void ImportPow(frontend::TfliteNode& node) {
  ImportInFloat(node, "power");
}
void ImportMaximum(frontend::TfliteNode& node) {
  ImportExtreme(node, "maximum");
}
void ImportMinimum(frontend::TfliteNode& node) {
  ImportExtreme(node, "minimum");
}
void ImportSquaredDifference(frontend::TfliteNode& node) {
  ImportFunction(node, "squared_difference");
}
void ImportPrelu(frontend::TfliteNode& node) {
  ImportFunction(node, "prelu");
}

void ImportAtan2(frontend::TfliteNode& node) {
  ImportInFloat(node, "atan2");
}

/// int8 and int16 of bits, not of quantized values.
template <const char* kFunction>
void ImportBits(frontend::TfliteNode& node) {
  if (!node.CheckArity(2, 2, 1)) return;
  const DataType type = node.tensor(node.input(0)).type;
  if (type == DataType::kInt32 || type == DataType::kInt64) return ImportFunction(node, kFunction);
  if (type != DataType::kInt8 && type != DataType::kInt16)
    return node.Error("takes int8, int16, int32 or int64; cast to one of them when exporting", node.input(0));
  const auto widened = [&](int i) {
    Tensor wide = node.tensor(node.input(i));
    wide.type = DataType::kInt32;
    wide.quantization.reset();
    const TensorId id = node.NewTensor(wide, "/int32_" + std::to_string(i));
    node.AddTo(Op::kCast, {node.input(i)}, {id});
    return id;
  };
  const TensorId a = widened(0), b = widened(1);
  node.Add(Op::kCast, {node.Emit(Op::kBinary, {a, b}, {{"function", std::string(kFunction)}})});
}

void ImportOnnxDiv(frontend::OnnxNode& node) {
  if (!node.CheckInputs(2, 2) || !node.CheckOutputs(1)) return;
  node.SetOutput(0, OnnxExpression(node).Binary(kDivide, node.input(0), node.BroadcastOperand()));
}

/// Base and exponent may differ in type; the result has the base's.
void ImportOnnxPow(frontend::OnnxNode& node) {
  if (!node.CheckInputs(2, 2) || !node.CheckOutputs(1)) return;
  const OnnxExpression e(node);
  const TensorId base = e.Widen(node.input(0)), exponent = e.Widen(node.BroadcastOperand());
  if (node.failed()) return;
  const DataType type = node.tensor(base).type;
  const DataType computed = node.tensor(exponent).type == type ? type : DataType::kFloat32;
  const TensorId y = e.Binary("power", e.Cast(base, computed), e.Cast(exponent, computed));
  node.SetOutput(0, e.Cast(y, node.tensor(node.input(0)).type));
}

/// Any number of operands, one after the other.
template <const char* kFunction>
void ImportOnnxExtreme(frontend::OnnxNode& node) {
  if (!node.CheckInputs(1, 1 << 16) || !node.CheckOutputs(1)) return;
  TensorId best = node.input(0);
  for (int i = 1; i < node.input_count(); ++i) best = OnnxExpression(node).Binary(kFunction, best, node.input(i));
  node.SetOutput(0, best);
}

/// The remainder has the divisor's sign; with fmod the dividend's: sign(a) * (|a| modulo |b|).
void ImportOnnxMod(frontend::OnnxNode& node) {
  if (!node.CheckInputs(2, 2) || !node.CheckOutputs(1)) return;
  const OnnxExpression e(node);
  const TensorId a = e.Widen(node.input(0)), b = e.Widen(node.input(1));
  const TensorId y =
      node.Int("fmod", 0) == 0
          ? e.Binary("floor_modulo", a, b)
          : e.Multiply(e.Unary("sign", a), e.Binary("floor_modulo", e.Unary("abs", a), e.Unary("abs", b)));
  if (!node.failed()) node.SetOutput(0, e.Cast(y, node.tensor(node.input(0)).type));
}

/// Unsigned: times 2^b modulo 2^n, or divided by it.
void ImportOnnxBitShift(frontend::OnnxNode& node) {
  if (!node.CheckInputs(2, 2) || !node.CheckOutputs(1)) return;
  const std::string direction = node.String("direction", "");
  if (direction != "LEFT" && direction != "RIGHT") return node.Error("direction must be LEFT or RIGHT");
  const OnnxExpression e(node);
  const TensorId a = e.Widen(node.input(0)), b = e.Widen(node.input(1));
  const TensorId factor = e.Binary("power", e.Scalar(b, 2), b);
  const TensorId y = direction == "LEFT" ? e.Multiply(a, factor) : e.Binary(kDivide, a, factor);
  if (!node.failed()) node.SetOutput(0, e.Cast(y, node.tensor(node.input(0)).type));
}

/// Before opset 7, a slope for each channel has rank 1.
void ImportOnnxPrelu(frontend::OnnxNode& node) {
  if (!node.CheckInputs(2, 2) || !node.CheckOutputs(1)) return;
  TensorId slope = node.input(1);
  const std::vector<int32_t> x = node.dims(node.input(0));
  if (node.opset() < 7 && node.dims(slope).size() == 1 && x.size() > 2) {
    std::vector<int32_t> dims(x.size() - 1, 1);
    dims[0] = node.dims(slope)[0];
    slope = node.Reshape(slope, dims);
  }
  node.SetOutput(0, node.Emit(Op::kBinary, {node.input(0), slope}, {{"function", std::string("prelu")}}));
}

void ImportOnnxReciprocal(frontend::OnnxNode& node) {
  if (!node.CheckInputs(1, 1) || !node.CheckOutputs(1)) return;
  const TensorId one = node.FloatConstant({1}, {1.0f});
  node.SetOutput(0, node.Emit(Op::kBinary, {one, node.input(0)}, {{"function", std::string("divide")}}));
}

constexpr AttributeRule kAttributes[] = {{"function", AttributeKind::kString, true},
                                         {"activation", AttributeKind::kString, false}};
constexpr TfliteImport kTflite[] = {{42, "DIV", ImportDiv},
                                    {54, "PRELU", ImportPrelu},
                                    {55, "MAXIMUM", ImportMaximum},
                                    {57, "MINIMUM", ImportMinimum},
                                    {78, "POW", ImportPow},
                                    {90, "FLOOR_DIV", ImportFloorDiv},
                                    {95, "FLOOR_MOD", ImportFloorMod},
                                    {99, "SQUARED_DIFFERENCE", ImportSquaredDifference},
                                    {156, "ATAN2", ImportAtan2},
                                    {160, "BITWISE_XOR", ImportBits<kExclusiveOr>},
                                    {161, "RIGHT_SHIFT", ImportBits<kRightShift>}};
constexpr OnnxImport kOnnx[] = {{"Div", 1, ImportOnnxDiv},
                                {"Pow", 1, ImportOnnxPow},
                                {"PRelu", 1, ImportOnnxPrelu},
                                {"Max", 1, ImportOnnxExtreme<kMaximum>},
                                {"Min", 1, ImportOnnxExtreme<kMinimum>},
                                {"Mod", 10, ImportOnnxMod},
                                {"BitShift", 11, ImportOnnxBitShift},
                                {"Reciprocal", 1, ImportOnnxReciprocal}};

}  // namespace

extern const OpDef kBinaryDef;
const OpDef kBinaryDef = {Op::kBinary, kAttributes,       InferBroadcastOfInputs,
                          Lower,       kTflite,           NpuClass::kElementwise,
                          kOnnx,       CommuteElementwise};

}  // namespace takt::ir
