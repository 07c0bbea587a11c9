// local_response_normalization: radius, bias, alpha, beta. l2_normalization: int8. Along the last axis.
#include <algorithm>
#include <cmath>

#include "converter/frontend/onnx_node.h"
#include "converter/frontend/tflite_node.h"
#include "converter/ir/op_def.h"
#include "converter/ir/size_limits.h"
#include "converter/ops/onnx_expression.h"
#include "converter/ops/quantized_params.h"

namespace takt::ir {
namespace {

std::string Infer(const Graph& graph, const Node& node, std::vector<TensorType>& outputs) {
  const Tensor& input = graph.tensor(node.inputs[0]);
  if (input.type != DataType::kFloat32) return "takes float32";
  if (input.dims.empty()) return "input has no axis";
  outputs = {{input.type, input.dims}};
  return "";
}

void Lower(const Node&, backend::StepBuilder& step) {
  const Node node = step.node();
  const auto number = [&](const char* name) { return static_cast<float>(node.FloatOr(name, 0)); };
  const schema::LocalResponseNormalizationParams params(static_cast<int32_t>(node.Int("radius")), number("bias"),
                                                        number("alpha"), number("beta"));
  step.Set(Op::kLocalResponseNormalization, Numerics::kAny, params, node.inputs, node.outputs);
}

std::string InferL2(const Graph& graph, const Node& node, std::vector<TensorType>& outputs) {
  const Tensor& input = graph.tensor(node.inputs[0]);
  if (input.type != DataType::kInt8) return "takes int8";
  if (input.dims.empty()) return "input has no axis";
  if (input.dims.back() > 33025) return "adds up more than 33025 squares of 16 bits; normalize fewer channels";
  outputs = {{input.type, input.dims}};
  return "";
}

void LowerL2(const Node&, backend::StepBuilder& step) {
  const Node node = step.node();
  if (!CheckQuantized(step)) return;
  const Tensor &input = step.tensor(node.inputs[0]), &output = step.tensor(node.outputs[0]);
  if (step.numerics() == Numerics::kTflite && (ScaleOf(output) != 0x1p-7f || ZeroPointOf(output) != 0))
    return step.Error("TFLite's integer kernel has an output of scale 1/128 and zero point 0", node.outputs[0]);
  const schema::L2NormalizationParams params(1.0f / ScaleOf(output), static_cast<int16_t>(ZeroPointOf(input)),
                                             static_cast<int16_t>(ZeroPointOf(output)));
  step.Set(Op::kL2Normalization, step.numerics(), params, node.inputs, node.outputs);
}

void ImportLocalResponse(frontend::TfliteNode& node) {
  if (!node.CheckArity(1, 1, 1)) return;
  const auto* options = node.options<tflite::LocalResponseNormalizationOptions>();
  if (options == nullptr) return node.Error("has no LocalResponseNormalizationOptions");
  const auto real = [](float v) { return Attribute(static_cast<double>(v)); };
  node.AddFloat(Op::kLocalResponseNormalization, {node.ToFloat(node.input(0))},
                {{"radius", int64_t{options->radius()}},
                 {"bias", real(options->bias())},
                 {"alpha", real(options->alpha())},
                 {"beta", real(options->beta())}});
}

using Function = std::string;

/// Over the last axis, which stays as 1.
TensorId EmitReduce(frontend::TfliteNode& node, const Function& function, TensorId x) {
  const auto last = static_cast<int64_t>(node.tensor(x).dims.size()) - 1;
  return node.Emit(Op::kReduce, {x},
                   {{"function", function}, {"axes", std::vector<int64_t>{last}}, {"keep_dims", int64_t{1}}});
}
TensorId EmitUnary(frontend::TfliteNode& node, const Function& function, TensorId x) {
  return node.Emit(Op::kUnary, {x}, {{"function", function}});
}
TensorId EmitBinary(frontend::TfliteNode& node, const Function& function, TensorId a, TensorId b) {
  return node.Emit(Op::kBinary, {a, b}, {{"function", function}});
}

bool HasAxis(frontend::TfliteNode& node) {
  if (!node.CheckArity(1, 1, 1)) return false;
  if (node.tensor(node.input(0)).dims.empty()) return node.Error("input has no axis"), false;
  return true;
}

/// x / max(sqrt(sum of x^2), 1e-6); int8 has an op of its own.
void ImportL2(frontend::TfliteNode& node) {
  if (!HasAxis(node)) return;
  const auto* options = node.options<tflite::L2NormOptions>();
  const std::string activation = options ? node.Activation(options->fused_activation_function()) : "none";
  const bool int8 = node.tensor(node.input(0)).type == DataType::kInt8;
  if (int8 && node.tensor(node.output(0)).type == DataType::kInt8 && activation == "none") {
    node.Add(Op::kL2Normalization, {node.input(0)});
    return;
  }
  node.Note("becomes 5 steps: square, sum, square root, maximum, divide");
  const TensorId x = node.ToFloat(node.input(0));
  const TensorId norm = EmitUnary(node, "sqrt", EmitReduce(node, "sum", EmitUnary(node, "square", x)));
  node.AddFloat(Op::kBinary, {x, EmitBinary(node, "maximum", norm, node.Scalar(1e-6f))},
                {{"function", Function("divide")}, {"activation", activation}});
}

/// (x - max) - log(sum of exp(x - max))
void ImportLogSoftmax(frontend::TfliteNode& node) {
  if (!HasAxis(node)) return;
  node.Note("becomes 6 steps: maximum, subtract, exp, sum, log, subtract");
  const TensorId x = node.ToFloat(node.input(0));
  const TensorId centered = EmitBinary(node, "subtract", x, EmitReduce(node, "maximum", x));
  const TensorId log = EmitUnary(node, "log", EmitReduce(node, "sum", EmitUnary(node, "exp", centered)));
  node.AddFloat(Op::kBinary, {centered, log}, {{"function", Function("subtract")}});
}

/// The grid of 2^num_bits values that has 0 and comes nearest to [min, max]; halves go up.
void ImportFakeQuant(frontend::TfliteNode& node) {
  if (!node.CheckArity(1, 1, 1)) return;
  const auto* options = node.options<tflite::FakeQuantOptions>();
  if (options == nullptr) return node.Error("has no FakeQuantOptions");
  const int bits = options->num_bits();
  if (bits < 2 || bits > 16 || !(options->min() <= 0 && options->max() >= 0 && options->min() < options->max()))
    return node.Error("needs 2 to 16 bits and a range that holds 0");
  const float first = options->narrow_range() ? 1.0f : 0.0f, last = static_cast<float>((1 << bits) - 1);
  const float scale = (options->max() - options->min()) / (last - first);
  const float zero_point = std::clamp(std::round(first - options->min() / scale), first, last);
  const float low = (first - zero_point) * scale, high = (last - zero_point) * scale;
  node.Note("becomes 7 steps: clamp, subtract, multiply, add, floor, multiply, add");
  const TensorId clamped =
      node.Emit(Op::kClamp, {node.input(0)}, {{"min", static_cast<double>(low)}, {"max", static_cast<double>(high)}});
  const TensorId from_low = EmitBinary(node, "subtract", clamped, node.Scalar(low));
  const TensorId steps = EmitBinary(node, "multiply", from_low, node.Scalar(1.0f / scale));
  const TensorId index = EmitUnary(node, "floor", EmitBinary(node, "add", steps, node.Scalar(0.5f)));
  node.Add(Op::kBinary, {EmitBinary(node, "multiply", index, node.Scalar(scale)), node.Scalar(low)},
           {{"function", Function("add")}});
}

/// Across channels, which are dimension 1; the sum has `size` terms, alpha divides by it.
void ImportOnnxLrn(frontend::OnnxNode& node) {
  if (!node.CheckInputs(1, 1) || !node.CheckOutputs(1)) return;
  const int64_t size = node.Int("size", 0);
  if (size < 1 || size % 2 == 0) return node.Error("size " + std::to_string(size) + " is not odd and positive");
  const TensorId y = node.Emit(Op::kLocalResponseNormalization, {node.ToNhwc(node.input(0))},
                               {{"radius", (size - 1) / 2},
                                {"bias", node.Float("bias", 1.0)},
                                {"alpha", node.Float("alpha", 1e-4) / static_cast<double>(size)},
                                {"beta", node.Float("beta", 0.75)}});
  node.SetOutput(0, node.FromNhwc(y, node.dims(node.input(0)).size()));
}

TensorId EmitOnnxMean(frontend::OnnxNode& node, TensorId x, const std::vector<int64_t>& axes) {
  return node.Emit(Op::kMean, {x}, {{"axes", axes}, {"keep_dims", int64_t{1}}});
}

/// (x - mean) / sqrt(variance + epsilon) over the axes, times scale, plus bias if there is one. Outputs 1 and 2, where
/// used, are the mean and 1 / sqrt(variance + epsilon).
void EmitOnnxNormalization(frontend::OnnxNode& node, const std::vector<int64_t>& axes, TensorId scale, TensorId bias) {
  const TensorId x = node.input(0);
  const TensorId mean = EmitOnnxMean(node, x, axes);
  const TensorId centered = node.Emit(Op::kAdd, {x, mean}, {{"function", std::string("subtract")}});
  const TensorId squares = node.Emit(Op::kUnary, {centered}, {{"function", std::string("square")}});
  const TensorId epsilon = node.FloatConstant({1}, {static_cast<float>(node.Float("epsilon", 1e-5))});
  const TensorId variance = node.Emit(Op::kAdd, {EmitOnnxMean(node, squares, axes), epsilon});
  const TensorId factor = node.Emit(Op::kUnary, {variance}, {{"function", std::string("rsqrt")}});
  const TensorId y = node.Emit(Op::kMul, {node.Emit(Op::kMul, {centered, factor}), scale});
  if (node.output_count() > 1) node.SetOutput(1, mean);
  if (node.output_count() > 2) node.SetOutput(2, factor);
  node.SetOutput(0, bias == kNoTensor ? y : node.Emit(Op::kAdd, {y, bias}));
}

void ImportOnnxLayer(frontend::OnnxNode& node) {
  if (!node.CheckInputs(2, 3) || !node.CheckOutputs(3)) return;
  const size_t rank = node.dims(node.input(0)).size();
  const auto first = node.Axis(node.Int("axis", -1), rank);
  if (!first) return;
  std::vector<int64_t> axes;
  for (size_t i = *first; i < rank; ++i) axes.push_back(static_cast<int64_t>(i));
  EmitOnnxNormalization(node, axes, node.input(1), node.input(2));
}

/// Over the spatial dimensions of each channel; scale and bias are per channel.
void ImportOnnxInstance(frontend::OnnxNode& node) {
  if (!node.CheckInputs(3, 3) || !node.CheckOutputs(1)) return;
  const std::vector<int32_t> x = node.dims(node.input(0));
  if (x.size() < 3) return node.Error("takes an input of rank 3 or more");
  std::vector<int64_t> axes;
  for (size_t i = 2; i < x.size(); ++i) axes.push_back(static_cast<int64_t>(i));
  std::vector<int32_t> channels(x.size() - 1, 1);
  channels[0] = x[1];
  EmitOnnxNormalization(node, axes, node.Reshape(node.input(1), channels), node.Reshape(node.input(2), channels));
}

/// (x - max) - log(sum of exp(x - max)) along an axis; before opset 13, over all dimensions from it on.
void ImportOnnxLogSoftmax(frontend::OnnxNode& node) {
  if (!node.CheckInputs(1, 1) || !node.CheckOutputs(1)) return;
  const OnnxExpression e(node);
  const size_t rank = node.dims(node.input(0)).size();
  const bool rows = node.opset() < 13;
  const auto axis = node.Axis(node.Int("axis", rows ? 1 : -1), rank);
  if (!axis) return;
  std::vector<int64_t> axes;
  for (size_t d = *axis; d < (rows ? rank : *axis + 1); ++d) axes.push_back(static_cast<int64_t>(d));
  const TensorId x = node.input(0);
  const TensorId centered = e.Subtract(x, e.Reduce("maximum", x, axes));
  node.SetOutput(0, e.Subtract(centered, e.Unary("log", e.Reduce("sum", e.Unary("exp", centered), axes))));
}

/// x / (sum of |x|^p)^(1/p) along an axis, p = 1 or 2.
void ImportOnnxLpNormalization(frontend::OnnxNode& node) {
  if (!node.CheckInputs(1, 1) || !node.CheckOutputs(1)) return;
  const OnnxExpression e(node);
  const auto axis = node.Axis(node.Int("axis", -1), node.dims(node.input(0)).size());
  const int64_t p = node.Int("p", 2);
  if (!axis) return;
  if (p != 1 && p != 2) return node.Error("p " + std::to_string(p) + " is not 1 or 2");
  const TensorId x = node.input(0);
  const TensorId sum = e.Reduce("sum", e.Unary(p == 1 ? "abs" : "square", x), {static_cast<int64_t>(*axis)});
  node.SetOutput(0, e.Binary("divide", x, p == 1 ? sum : e.Unary("sqrt", sum)));
}

/// Over each group of channels and all behind them. Scale and bias: one a group before opset 21, then one a channel.
void ImportOnnxGroup(frontend::OnnxNode& node) {
  if (!node.CheckInputs(3, 3) || !node.CheckOutputs(1)) return;
  const std::vector<int32_t> dims = node.dims(node.input(0));
  const int32_t groups = Dim(node.Int("num_groups", 0));
  if (dims.size() < 3 || groups < 1 || dims[1] % groups != 0)
    return node.Error("takes an input of rank 3 or more whose channels are a multiple of num_groups");
  const bool by_group = node.opset() < 21;
  const int32_t channels = dims[1] / groups;
  const std::vector<int32_t> each = {groups, by_group ? 1 : channels, 1};
  const TensorId x = node.input(0);
  int32_t rest = 1;
  for (size_t d = 2; d < dims.size(); ++d) rest *= dims[d];
  node.set_input(0, node.Reshape(x, {dims[0], groups, channels, rest}));
  EmitOnnxNormalization(node, {2, 3}, node.Reshape(node.input(1), each), node.Reshape(node.input(2), each));
  if (!node.failed()) node.SetOutput(0, node.Reshape(node.outputs()[0], dims));
}

constexpr AttributeRule kAttributes[] = {{"radius", AttributeKind::kInt, true},
                                         {"bias", AttributeKind::kFloat, true},
                                         {"alpha", AttributeKind::kFloat, true},
                                         {"beta", AttributeKind::kFloat, true}};
constexpr TfliteImport kL2Tflite[] = {{11, "L2_NORMALIZATION", ImportL2}};
constexpr TfliteImport kTflite[] = {{13, "LOCAL_RESPONSE_NORMALIZATION", ImportLocalResponse},
                                    {50, "LOG_SOFTMAX", ImportLogSoftmax},
                                    {80, "FAKE_QUANT", ImportFakeQuant}};
constexpr OnnxImport kOnnx[] = {{"LRN", 1, ImportOnnxLrn},
                                {"LayerNormalization", 17, ImportOnnxLayer},
                                {"InstanceNormalization", 6, ImportOnnxInstance},
                                {"GroupNormalization", 18, ImportOnnxGroup},
                                {"LogSoftmax", 1, ImportOnnxLogSoftmax},
                                {"LpNormalization", 1, ImportOnnxLpNormalization}};

}  // namespace

extern const OpDef kLocalResponseNormalizationDef;
const OpDef kLocalResponseNormalizationDef = {
    Op::kLocalResponseNormalization, kAttributes, Infer, Lower, kTflite, NpuClass::kNone, kOnnx};
extern const OpDef kL2NormalizationDef;
const OpDef kL2NormalizationDef = {Op::kL2Normalization, {}, InferL2, LowerL2, kL2Tflite};

}  // namespace takt::ir
