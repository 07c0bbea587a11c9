// compare: function. Operands broadcast; the output is boolean.
#include <cmath>
#include <limits>

#include "converter/frontend/onnx_node.h"
#include "converter/frontend/tflite_node.h"
#include "converter/ops/binary.h"
#include "converter/ops/onnx_expression.h"
#include "converter/ops/quantized_params.h"
#include "converter/ops/shape_rules.h"

namespace takt::ir {
namespace {

std::string Infer(const Graph& graph, const Node& node, std::vector<TensorType>& outputs) {
  return InferBroadcast(graph, node, 0, DataType::kBool, outputs);
}

void Lower(const Node&, backend::StepBuilder& step) {
  const Node node = step.node();
  const auto* function =
      EnumValue(schema::EnumValuesCompareFunction(), schema::EnumNameCompareFunction, node.StringOr("function", ""));
  if (function == nullptr) return step.Error("unknown comparison");
  if (!CheckQuantized(step)) return;
  const Tensor& a = step.tensor(node.inputs[0]);
  const Tensor& b = step.tensor(node.inputs[1]);
  float scales[2] = {};
  FixedMultiplier multipliers[2];
  if (step.numerics() == Numerics::kTflite) {
    multipliers[0] = QuantizeMultiplier(static_cast<double>(ScaleOf(a)));
    multipliers[1] = QuantizeMultiplier(static_cast<double>(ScaleOf(b)));
  } else {
    scales[0] = ScaleOf(a);
    scales[1] = ScaleOf(b);
  }
  const schema::CompareParams params(scales[0], scales[1], multipliers[0].multiplier, multipliers[1].multiplier,
                                     static_cast<int8_t>(multipliers[0].shift),
                                     static_cast<int8_t>(multipliers[1].shift), static_cast<int16_t>(ZeroPointOf(a)),
                                     static_cast<int16_t>(ZeroPointOf(b)), *function, 0);
  step.Set(Op::kCompare, StepNumerics(step, node.inputs[0]), params, node.inputs, node.outputs);
}

template <const char* kFunction>
void Import(frontend::TfliteNode& node) {
  if (node.CheckArity(2, 2, 1))
    node.Add(Op::kCompare, {node.input(0), node.input(1)}, {{"function", std::string(kFunction)}});
}

template <const char* kFunction>
void ImportOnnx(frontend::OnnxNode& node) {
  if (!node.CheckInputs(2, 2) || !node.CheckOutputs(1)) return;
  node.SetOutput(0, OnnxExpression(node).Compare(kFunction, node.input(0), node.BroadcastOperand()));
}

/// Only a NaN differs from itself.
void ImportOnnxIsNan(frontend::OnnxNode& node) {
  if (!node.CheckInputs(1, 1) || !node.CheckOutputs(1)) return;
  node.SetOutput(0, OnnxExpression(node).Compare("not_equal", node.input(0), node.input(0)));
}

void ImportOnnxIsInf(frontend::OnnxNode& node) {
  if (!node.CheckInputs(1, 1) || !node.CheckOutputs(1)) return;
  const OnnxExpression e(node);
  const bool positive = node.Int("detect_positive", 1) != 0, negative = node.Int("detect_negative", 1) != 0;
  const TensorId x = positive && negative ? e.Unary("abs", node.input(0)) : node.input(0);
  const double infinity = std::numeric_limits<double>::infinity();
  const TensorId of = e.Scalar(x, positive ? infinity : negative ? -infinity : std::nan(""));  // NaN equals nothing.
  node.SetOutput(0, e.Compare("equal", x, of));
}

constexpr char kEqual[] = "equal";
constexpr char kNotEqual[] = "not_equal";
constexpr char kGreater[] = "greater";
constexpr char kGreaterEqual[] = "greater_equal";
constexpr char kLess[] = "less";
constexpr char kLessEqual[] = "less_equal";

constexpr AttributeRule kAttributes[] = {{"function", AttributeKind::kString, true}};
constexpr TfliteImport kTflite[] = {{58, "LESS", Import<kLess>},
                                    {61, "GREATER", Import<kGreater>},
                                    {62, "GREATER_EQUAL", Import<kGreaterEqual>},
                                    {63, "LESS_EQUAL", Import<kLessEqual>},
                                    {71, "EQUAL", Import<kEqual>},
                                    {72, "NOT_EQUAL", Import<kNotEqual>}};
constexpr OnnxImport kOnnx[] = {{"Equal", 1, ImportOnnx<kEqual>},
                                {"Greater", 1, ImportOnnx<kGreater>},
                                {"GreaterOrEqual", 12, ImportOnnx<kGreaterEqual>},
                                {"Less", 1, ImportOnnx<kLess>},
                                {"LessOrEqual", 12, ImportOnnx<kLessEqual>},
                                {"IsNaN", 9, ImportOnnxIsNan},
                                {"IsInf", 10, ImportOnnxIsInf}};

}  // namespace

extern const OpDef kCompareDef;
const OpDef kCompareDef = {Op::kCompare, kAttributes,       Infer, Lower, kTflite, NpuClass::kElementwise,
                           kOnnx,        CommuteElementwise};

}  // namespace takt::ir
