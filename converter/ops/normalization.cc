// local_response_normalization: radius, bias, alpha, beta. Along the last axis.
#include <algorithm>
#include <cmath>

#include "converter/frontend/tflite_node.h"
#include "converter/ir/op_def.h"
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

/// x / max(sqrt(sum of x^2), 1e-6)
void ImportL2(frontend::TfliteNode& node) {
  if (!HasAxis(node)) return;
  const auto* options = node.options<tflite::L2NormOptions>();
  const std::string activation = options ? node.Activation(options->fused_activation_function()) : "none";
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

constexpr AttributeRule kAttributes[] = {{"radius", AttributeKind::kInt, true},
                                         {"bias", AttributeKind::kFloat, true},
                                         {"alpha", AttributeKind::kFloat, true},
                                         {"beta", AttributeKind::kFloat, true}};
constexpr TfliteImport kTflite[] = {{11, "L2_NORMALIZATION", ImportL2},
                                    {13, "LOCAL_RESPONSE_NORMALIZATION", ImportLocalResponse},
                                    {50, "LOG_SOFTMAX", ImportLogSoftmax},
                                    {80, "FAKE_QUANT", ImportFakeQuant}};

}  // namespace

extern const OpDef kLocalResponseNormalizationDef;
const OpDef kLocalResponseNormalizationDef = {Op::kLocalResponseNormalization, kAttributes, Infer, Lower, kTflite};

}  // namespace takt::ir
