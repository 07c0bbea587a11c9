// logic: function. select: none. Operands broadcast.
#include "converter/frontend/onnx_node.h"
#include "converter/frontend/tflite_node.h"
#include "converter/ir/constants.h"
#include "converter/ir/size_limits.h"
#include "converter/ops/binary.h"
#include "converter/ops/onnx_expression.h"
#include "converter/ops/quantized_params.h"
#include "converter/ops/selections.h"
#include "converter/ops/shape_rules.h"

namespace takt::ir {
namespace {

std::string InferLogic(const Graph& graph, const Node& node, std::vector<TensorType>& outputs) {
  if (graph.tensor(node.inputs[0]).type != DataType::kBool) return "takes boolean operands";
  const bool one = node.StringOr("function", "") == schema::EnumNameLogicFunction(schema::LogicFunction::negation);
  if (node.inputs.size() != (one ? 1 : 2)) return "has another number of operands than its function takes";
  return InferBroadcast(graph, node, 0, DataType::kBool, outputs);
}

void LowerLogic(const Node&, backend::StepBuilder& step) {
  const Node node = step.node();
  const auto* function =
      EnumValue(schema::EnumValuesLogicFunction(), schema::EnumNameLogicFunction, node.StringOr("function", ""));
  if (function == nullptr) return step.Error("unknown logical function");
  step.Set(Op::kLogic, Numerics::kAny, schema::LogicParams(*function), node.inputs, node.outputs);
}

std::string InferSelect(const Graph& graph, const Node& node, std::vector<TensorType>& outputs) {
  if (graph.tensor(node.inputs[0]).type != DataType::kBool) return "takes a boolean condition";
  return InferBroadcast(graph, node, 1, graph.tensor(node.inputs[1]).type, outputs);
}

void LowerSelect(const Node&, backend::StepBuilder& step) {
  const Node node = step.node();
  for (size_t i : {1, 2}) {
    if (step.tensor(node.inputs[i]).quantization != step.tensor(node.outputs[0]).quantization)
      return step.Error("moves stored values; requantize the operands to the output's scale", node.inputs[i]);
  }
  step.Set(Op::kSelect, Numerics::kAny, schema::SelectParams(), node.inputs, node.outputs);
}

void ImportAnd(frontend::TfliteNode& node) {
  if (node.CheckArity(2, 2, 1))
    node.Add(Op::kLogic, {node.input(0), node.input(1)}, {{"function", std::string("conjunction")}});
}
void ImportOr(frontend::TfliteNode& node) {
  if (node.CheckArity(2, 2, 1))
    node.Add(Op::kLogic, {node.input(0), node.input(1)}, {{"function", std::string("disjunction")}});
}
void ImportNot(frontend::TfliteNode& node) {
  if (node.CheckArity(1, 1, 1)) node.Add(Op::kLogic, {node.input(0)}, {{"function", std::string("negation")}});
}

void ImportSelectV2(frontend::TfliteNode& node) {
  if (!node.CheckArity(3, 3, 1)) return;
  const TensorId a = node.ToOutputScale(node.input(1)), b = node.ToOutputScale(node.input(2));
  node.Add(Op::kSelect, {node.input(0), a, b});
}

/// A condition of rank 1 chooses along the first dimension of its operands, not the last.
void ImportSelect(frontend::TfliteNode& node) {
  if (!node.CheckArity(3, 3, 1)) return;
  const Tensor condition = node.tensor(node.input(0));
  const size_t rank = node.tensor(node.input(1)).dims.size();
  if (condition.dims.size() == 1 && rank > 1) {
    const TensorId rows = node.NewTensor(condition, "/condition");
    node.graph().tensor(rows).dims.resize(rank, 1);
    node.AddTo(Op::kReshape, {node.input(0)}, {rows});
    node.set_input(0, rows);
  }
  ImportSelectV2(node);
}

/// Indices of the elements that hold, one row for each: their number must be known.
void ImportWhere(frontend::TfliteNode& node) {
  if (!node.CheckArity(1, 1, 1)) return;
  const Tensor& condition = node.tensor(node.input(0));
  const auto values = condition.is_constant() ? IntegerValues(condition) : std::nullopt;
  if (!values)
    return node.Error("has an output whose size depends on data; only a constant condition is supported",
                      node.input(0));
  const auto rank = static_cast<int32_t>(condition.dims.size());
  std::vector<int64_t> indices;
  for (size_t i = 0; i < values->size(); ++i) {
    if ((*values)[i] == 0) continue;
    auto rest = static_cast<int64_t>(condition.element_count());
    auto at = static_cast<int64_t>(i);
    for (const int32_t dim : condition.dims) {
      rest /= dim;
      indices.push_back(at / rest);
      at %= rest;
    }
  }
  if (indices.empty()) return node.Error("finds no element; tensors must not be empty", node.input(0));
  Tensor& output = node.graph().tensor(node.output(0));
  output.dims = {static_cast<int32_t>(indices.size()) / rank, rank};
  output.data = std::make_shared<const Bytes>(ToBytes(indices));
}

void EmitOnnxLogic(frontend::OnnxNode& node, const char* function) {
  if (!node.CheckInputs(2, 2) || !node.CheckOutputs(1)) return;
  node.SetOutput(
      0, node.Emit(Op::kLogic, {node.input(0), node.BroadcastOperand()}, {{"function", std::string(function)}}));
}
void ImportOnnxAnd(frontend::OnnxNode& node) {
  EmitOnnxLogic(node, "conjunction");
}
void ImportOnnxOr(frontend::OnnxNode& node) {
  EmitOnnxLogic(node, "disjunction");
}
void ImportOnnxXor(frontend::OnnxNode& node) {
  EmitOnnxLogic(node, "exclusive_disjunction");
}
void ImportOnnxNot(frontend::OnnxNode& node) {
  if (!node.CheckInputs(1, 1) || !node.CheckOutputs(1)) return;
  node.SetOutput(0, node.Emit(Op::kLogic, {node.input(0)}, {{"function", std::string("negation")}}));
}
void ImportOnnxWhere(frontend::OnnxNode& node) {
  if (!node.CheckInputs(3, 3) || !node.CheckOutputs(1)) return;
  node.SetOutput(0, node.Emit(Op::kSelect, {node.input(0), node.input(1), node.input(2)}));
}

/// x + bias below -lambd, x - bias above lambd, 0 between.
void ImportOnnxShrink(frontend::OnnxNode& node) {
  if (!node.CheckInputs(1, 1) || !node.CheckOutputs(1)) return;
  const OnnxExpression e(node);
  node.SetOutput(0, e.Widened(node.input(0), [&](TensorId x) {
    const TensorId bias = e.Scalar(x, node.Float("bias", 0)), lambd = e.Scalar(x, node.Float("lambd", 0.5));
    const TensorId below = e.Compare("less", x, e.Unary("neg", lambd)), above = e.Compare("greater", x, lambd);
    return e.Select(below, e.Add(x, bias), e.Select(above, e.Subtract(x, bias), e.Scalar(x, 0)));
  }));
}

/// Keeps what is not below (upper) or not above diagonal k of the last two dimensions.
void ImportOnnxTrilu(frontend::OnnxNode& node) {
  if (!node.CheckInputs(1, 2) || !node.CheckOutputs(1)) return;
  const std::vector<int32_t> dims = node.dims(node.input(0));
  if (dims.size() < 2) return node.Error("takes an input of rank 2 or more");
  const auto k = node.has_input(1) ? node.ConstantInts(1) : std::vector<int64_t>{0};
  if (!k || k->size() != 1) return node.Error("k must be one value");
  const bool upper = node.Int("upper", 1) != 0;
  const int32_t rows = dims[dims.size() - 2], columns = dims.back();
  if (!MayMake(node, DataType::kBool, {rows, columns}, node.input(0))) return;
  Bytes kept;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c) kept.push_back(upper ? c - r >= (*k)[0] : c - r <= (*k)[0]);
  const OnnxExpression e(node);
  const TensorId mask = node.Constant(DataType::kBool, {rows, columns}, std::move(kept));
  node.SetOutput(0, e.Select(mask, node.input(0), e.Scalar(node.input(0), 0)));
}

constexpr AttributeRule kLogicAttributes[] = {{"function", AttributeKind::kString, true}};
constexpr TfliteImport kLogicTflite[] = {
    {84, "LOGICAL_OR", ImportOr}, {86, "LOGICAL_AND", ImportAnd}, {87, "LOGICAL_NOT", ImportNot}};
constexpr TfliteImport kSelectTflite[] = {{64, "SELECT", ImportSelect},
                                          {85, "ONE_HOT", ImportOneHot},
                                          {109, "WHERE", ImportWhere},
                                          {113, "MATRIX_DIAG", ImportMatrixDiag},
                                          {115, "MATRIX_SET_DIAG", ImportMatrixSetDiag},
                                          {123, "SELECT_V2", ImportSelectV2},
                                          {147, "BUCKETIZE", ImportBucketize}};
constexpr OnnxImport kLogicOnnx[] = {
    {"And", 1, ImportOnnxAnd}, {"Or", 1, ImportOnnxOr}, {"Xor", 1, ImportOnnxXor}, {"Not", 1, ImportOnnxNot}};
constexpr OnnxImport kSelectOnnx[] = {
    {"Where", 9, ImportOnnxWhere}, {"Shrink", 9, ImportOnnxShrink}, {"Trilu", 14, ImportOnnxTrilu}};

}  // namespace

extern const OpDef kLogicDef;
extern const OpDef kSelectDef;
const OpDef kLogicDef = {Op::kLogic,   kLogicAttributes,       InferLogic, LowerLogic,
                         kLogicTflite, NpuClass::kElementwise, kLogicOnnx, CommuteElementwise};
const OpDef kSelectDef = {
    Op::kSelect, {}, InferSelect, LowerSelect, kSelectTflite, NpuClass::kElementwise, kSelectOnnx, CommuteElementwise};

}  // namespace takt::ir
