// clamp: min, max (real). unary: function, alpha.
#include <algorithm>
#include <limits>

#include "converter/frontend/onnx_node.h"
#include "converter/frontend/tflite_node.h"
#include "converter/ir/op_def.h"
#include "converter/ops/int16_functions.h"
#include "converter/ops/onnx_expression.h"
#include "converter/ops/quantized_params.h"
#include "converter/ops/shape_rules.h"
#include "converter/ops/unary_table.h"

namespace takt::ir {
namespace {

void LowerClamp(const Node&, backend::StepBuilder& step) {
  const Node node = step.node();
  if (!CheckQuantized(step)) return;
  const schema::Clamp clamp =
      StoredClamp(node.FloatOr("min", std::numeric_limits<float>::lowest()),
                  node.FloatOr("max", std::numeric_limits<float>::max()), step.tensor(node.outputs[0]));
  step.Set(Op::kClamp, Numerics::kAny, schema::ClampParams(clamp), node.inputs, node.outputs);
}

bool FunctionOf(const std::string& name, schema::UnaryFunction& function) {
  for (schema::UnaryFunction f : schema::EnumValuesUnaryFunction()) {
    if (name == schema::EnumNameUnaryFunction(f)) {
      function = f;
      return true;
    }
  }
  return false;
}

void LowerUnary(const Node&, backend::StepBuilder& step) {
  const Node node = step.node();
  schema::UnaryFunction function{};
  if (!FunctionOf(node.StringOr("function", ""), function)) return step.Error("unknown unary function");
  const double alpha = node.FloatOr("alpha", 0);
  const schema::UnaryParams params(static_cast<float>(alpha), function);
  const DataType input = step.tensor(node.inputs[0]).type;
  const bool plain = input == DataType::kFloat32 || input == DataType::kInt32 || input == DataType::kInt64;
  if (plain) return step.Set(Op::kUnary, Numerics::kAny, params, node.inputs, node.outputs);
  if (input == DataType::kInt16) return LowerUnaryInt16(step, function, alpha);
  if (input != DataType::kInt8)
    return step.Error("a unary function takes int8, int16, float32, or (abs, neg, sign, square) int32 and int64");
  if (!CheckQuantized(step)) return;
  const std::vector<int8_t> table = UnaryTable(step, function, alpha);
  if (table.empty()) return;
  const TensorId id = step.Constant("table", DataType::kInt8, {256}, table);
  step.Set(Op::kUnary, Numerics::kAny, params, {node.inputs[0], id}, node.outputs);
}

constexpr char kSigmoid[] = "logistic";
constexpr char kTanh[] = "tanh";
constexpr char kExp[] = "exp";
constexpr char kLog[] = "log";
constexpr char kSqrt[] = "sqrt";
constexpr char kAbs[] = "abs";
constexpr char kNeg[] = "neg";
constexpr char kSin[] = "sin";
constexpr char kCos[] = "cos";
constexpr char kFloor[] = "floor";
constexpr char kCeil[] = "ceil";
constexpr char kRound[] = "round";
constexpr char kSign[] = "sign";
constexpr char kHardSwish[] = "hard_swish";
constexpr char kRsqrt[] = "rsqrt";
constexpr char kSquare[] = "square";
constexpr char kTan[] = "tan";
constexpr char kAsin[] = "asin";
constexpr char kAcos[] = "acos";
constexpr char kAtan[] = "atan";
constexpr char kSinh[] = "sinh";
constexpr char kCosh[] = "cosh";
constexpr char kAsinh[] = "asinh";
constexpr char kAcosh[] = "acosh";
constexpr char kAtanh[] = "atanh";
constexpr char kErf[] = "erf";
constexpr char kSoftplus[] = "softplus";
constexpr char kSoftsign[] = "softsign";
constexpr char kMish[] = "mish";

void ImportClamp(frontend::TfliteNode& node, const std::string& activation) {
  if (!node.CheckArity(1, 1, 1)) return;
  const Tensor& output = node.tensor(node.output(0));
  if (IsInteger(output.type) && !SameQuantization(node.tensor(node.input(0)), output)) {
    node.Add(Op::kRequantize, {node.input(0)}, {{"activation", activation}});
    return;
  }
  double min = 0;
  double max = 0;
  ActivationRange(activation, min, max);
  node.Add(Op::kClamp, {node.input(0)}, {{"min", min}, {"max", max}});
}

void ImportUnary(frontend::TfliteNode& node, const std::string& function, double alpha = 0) {
  if (node.CheckArity(1, 1, 1)) node.Add(Op::kUnary, {node.input(0)}, {{"function", function}, {"alpha", alpha}});
}

void ImportRelu(frontend::TfliteNode& node) {
  ImportClamp(node, "relu");
}
void ImportRelu6(frontend::TfliteNode& node) {
  ImportClamp(node, "relu6");
}
void ImportReluN1To1(frontend::TfliteNode& node) {
  ImportClamp(node, "relu_n1_to_1");
}
void ImportRelu0To1(frontend::TfliteNode& node) {
  if (!node.CheckArity(1, 1, 1)) return;
  node.Add(Op::kClamp, {node.ToOutputScale(node.input(0))}, {{"min", 0.0}, {"max", 1.0}});
}
template <const char* kFunction>
void ImportFunction(frontend::TfliteNode& node) {
  ImportUnary(node, kFunction);
}
void ImportGelu(frontend::TfliteNode& node) {
  const auto* options = node.options<tflite::GeluOptions>();
  ImportUnary(node, options != nullptr && options->approximate() ? "gelu_tanh" : "gelu");
}
void ImportLogistic(frontend::TfliteNode& node) {
  ImportUnary(node, "logistic");
}
void ImportTanh(frontend::TfliteNode& node) {
  ImportUnary(node, "tanh");
}
void ImportElu(frontend::TfliteNode& node) {
  ImportUnary(node, "elu", 1.0);
}
void ImportHardSwish(frontend::TfliteNode& node) {
  ImportUnary(node, "hard_swish");
}
void ImportLeakyRelu(frontend::TfliteNode& node) {
  const auto* options = node.options<tflite::LeakyReluOptions>();
  ImportUnary(node, "leaky_relu", options ? static_cast<double>(options->alpha()) : 0.0);
}

void EmitOnnxClamp(frontend::OnnxNode& node, double min, double max) {
  node.SetOutput(0, node.Emit(Op::kClamp, {node.input(0)}, {{"min", min}, {"max", max}}));
}

constexpr double kLowest = std::numeric_limits<float>::lowest();
constexpr double kHighest = std::numeric_limits<float>::max();

void ImportOnnxRelu(frontend::OnnxNode& node) {
  if (node.CheckInputs(1, 1) && node.CheckOutputs(1)) EmitOnnxClamp(node, 0, kHighest);
}

void ImportOnnxClip6(frontend::OnnxNode& node) {
  if (node.CheckInputs(1, 1) && node.CheckOutputs(1))
    EmitOnnxClamp(node, node.Float("min", kLowest), node.Float("max", kHighest));
}

/// Constant bounds of floats are a clamp; others are maximum and minimum.
void ImportOnnxClip11(frontend::OnnxNode& node) {
  if (!node.CheckInputs(1, 3) || !node.CheckOutputs(1)) return;
  const auto is_plain = [&](int i) { return !node.has_input(i) || node.is_constant(node.input(i)); };
  if (is_plain(1) && is_plain(2) && node.tensor(node.input(0)).type == DataType::kFloat32) {
    const auto min = node.has_input(1) ? node.ConstantScalar(1) : kLowest;
    const auto max = node.has_input(2) ? node.ConstantScalar(2) : kHighest;
    if (min && max) EmitOnnxClamp(node, std::min(*min, *max), *max);
    return;
  }
  const OnnxExpression e(node);
  TensorId y = node.input(0);
  if (node.has_input(1)) y = e.Binary("maximum", y, node.input(1));
  if (node.has_input(2)) y = e.Binary("minimum", y, node.input(2));
  node.SetOutput(0, y);
}

template <const char* kFunction>
void ImportOnnxUnary(frontend::OnnxNode& node) {
  if (!node.CheckInputs(1, 1) || !node.CheckOutputs(1)) return;
  const OnnxExpression e(node);
  node.SetOutput(0, e.Widened(node.input(0), [&](TensorId x) { return e.Unary(kFunction, x); }));
}

/// Functions with a parameter `alpha`.
void ImportOnnxWithAlpha(frontend::OnnxNode& node, const std::string& function, double fallback) {
  if (!node.CheckInputs(1, 1) || !node.CheckOutputs(1)) return;
  node.SetOutput(
      0, node.Emit(Op::kUnary, {node.input(0)}, {{"function", function}, {"alpha", node.Float("alpha", fallback)}}));
}
void ImportOnnxLeakyRelu(frontend::OnnxNode& node) {
  ImportOnnxWithAlpha(node, "leaky_relu", 0.01);
}
void ImportOnnxElu(frontend::OnnxNode& node) {
  ImportOnnxWithAlpha(node, "elu", 1.0);
}

void ImportOnnxCelu(frontend::OnnxNode& node) {
  ImportOnnxWithAlpha(node, "celu", 1.0);
}
void ImportOnnxThresholdedRelu(frontend::OnnxNode& node) {
  ImportOnnxWithAlpha(node, "thresholded_relu", 1.0);
}

/// gamma * elu(x)
void ImportOnnxSelu(frontend::OnnxNode& node) {
  if (!node.CheckInputs(1, 1) || !node.CheckOutputs(1)) return;
  const OnnxExpression e(node);
  const TensorId y = e.Unary("elu", node.input(0), node.Float("alpha", 1.67326319217681884765625));
  node.SetOutput(0, e.Multiply(y, e.Scalar(y, node.Float("gamma", 1.05070102214813232421875))));
}

/// alpha * x + beta within [0, 1]; the function has the beta 0.5, another one moves x.
void ImportOnnxHardSigmoid(frontend::OnnxNode& node) {
  if (!node.CheckInputs(1, 1) || !node.CheckOutputs(1)) return;
  const double alpha = node.Float("alpha", 0.2), beta = node.Float("beta", 0.5);
  const OnnxExpression e(node);
  TensorId x = node.input(0);
  if (beta != 0.5 && alpha == 0) return node.Error("has alpha 0, with which it is a constant");
  if (beta != 0.5) x = e.Add(x, e.Scalar(x, (beta - 0.5) / alpha));
  node.SetOutput(0, e.Unary("hard_sigmoid", x, alpha));
}

void ImportOnnxGelu(frontend::OnnxNode& node) {
  if (!node.CheckInputs(1, 1) || !node.CheckOutputs(1)) return;
  const bool tanh = node.String("approximate", "none") == "tanh";
  node.SetOutput(0, OnnxExpression(node).Unary(tanh ? "gelu_tanh" : "gelu", node.input(0)));
}

constexpr AttributeRule kClampAttributes[] = {{"min", AttributeKind::kFloat, true},
                                              {"max", AttributeKind::kFloat, true}};
constexpr AttributeRule kUnaryAttributes[] = {{"function", AttributeKind::kString, true},
                                              {"alpha", AttributeKind::kFloat, false}};
constexpr TfliteImport kClampTflite[] = {{19, "RELU", ImportRelu},
                                         {21, "RELU6", ImportRelu6},
                                         {20, "RELU_N1_TO_1", ImportReluN1To1},
                                         {152, "RELU_0_TO_1", ImportRelu0To1}};
constexpr TfliteImport kUnaryTflite[] = {{14, "LOGISTIC", ImportLogistic},
                                         {28, "TANH", ImportTanh},
                                         {111, "ELU", ImportElu},
                                         {117, "HARD_SWISH", ImportHardSwish},
                                         {98, "LEAKY_RELU", ImportLeakyRelu},
                                         {8, "FLOOR", ImportFunction<kFloor>},
                                         {47, "EXP", ImportFunction<kExp>},
                                         {59, "NEG", ImportFunction<kNeg>},
                                         {66, "SIN", ImportFunction<kSin>},
                                         {73, "LOG", ImportFunction<kLog>},
                                         {75, "SQRT", ImportFunction<kSqrt>},
                                         {76, "RSQRT", ImportFunction<kRsqrt>},
                                         {92, "SQUARE", ImportFunction<kSquare>},
                                         {101, "ABS", ImportFunction<kAbs>},
                                         {104, "CEIL", ImportFunction<kCeil>},
                                         {108, "COS", ImportFunction<kCos>},
                                         {116, "ROUND", ImportFunction<kRound>},
                                         {150, "GELU", ImportGelu},
                                         {158, "SIGN", ImportFunction<kSign>}};
constexpr OnnxImport kClampOnnx[] = {
    {"Relu", 1, ImportOnnxRelu}, {"Clip", 6, ImportOnnxClip6}, {"Clip", 11, ImportOnnxClip11}};
constexpr OnnxImport kUnaryOnnx[] = {{"LeakyRelu", 1, ImportOnnxLeakyRelu},
                                     {"Elu", 1, ImportOnnxElu},
                                     {"HardSwish", 14, ImportOnnxUnary<kHardSwish>},
                                     {"Sigmoid", 1, ImportOnnxUnary<kSigmoid>},
                                     {"Tanh", 1, ImportOnnxUnary<kTanh>},
                                     {"Exp", 1, ImportOnnxUnary<kExp>},
                                     {"Log", 1, ImportOnnxUnary<kLog>},
                                     {"Sqrt", 1, ImportOnnxUnary<kSqrt>},
                                     {"Abs", 1, ImportOnnxUnary<kAbs>},
                                     {"Neg", 1, ImportOnnxUnary<kNeg>},
                                     {"Sin", 1, ImportOnnxUnary<kSin>},
                                     {"Cos", 1, ImportOnnxUnary<kCos>},
                                     {"Floor", 1, ImportOnnxUnary<kFloor>},
                                     {"Ceil", 1, ImportOnnxUnary<kCeil>},
                                     {"Round", 1, ImportOnnxUnary<kRound>},
                                     {"Sign", 1, ImportOnnxUnary<kSign>},
                                     {"Tan", 7, ImportOnnxUnary<kTan>},
                                     {"Asin", 7, ImportOnnxUnary<kAsin>},
                                     {"Acos", 7, ImportOnnxUnary<kAcos>},
                                     {"Atan", 7, ImportOnnxUnary<kAtan>},
                                     {"Sinh", 9, ImportOnnxUnary<kSinh>},
                                     {"Cosh", 9, ImportOnnxUnary<kCosh>},
                                     {"Asinh", 9, ImportOnnxUnary<kAsinh>},
                                     {"Acosh", 9, ImportOnnxUnary<kAcosh>},
                                     {"Atanh", 9, ImportOnnxUnary<kAtanh>},
                                     {"Erf", 9, ImportOnnxUnary<kErf>},
                                     {"Softplus", 1, ImportOnnxUnary<kSoftplus>},
                                     {"Softsign", 1, ImportOnnxUnary<kSoftsign>},
                                     {"Mish", 18, ImportOnnxUnary<kMish>},
                                     {"Celu", 12, ImportOnnxCelu},
                                     {"ThresholdedRelu", 10, ImportOnnxThresholdedRelu},
                                     {"Selu", 1, ImportOnnxSelu},
                                     {"HardSigmoid", 1, ImportOnnxHardSigmoid},
                                     {"Gelu", 20, ImportOnnxGelu}};

}  // namespace

extern const OpDef kClampDef;
extern const OpDef kUnaryDef;
const OpDef kClampDef = {Op::kClamp, kClampAttributes,   InferAsInput,
                         LowerClamp, kClampTflite,       NpuClass::kElementwise,
                         kClampOnnx, CommuteElementwise, QuantRule::kShared};
const OpDef kUnaryDef = {Op::kUnary, kUnaryAttributes,   InferAsInput,
                         LowerUnary, kUnaryTflite,       NpuClass::kElementwise,
                         kUnaryOnnx, CommuteElementwise, QuantRule::kFree};

}  // namespace takt::ir
