// arg_reduce: axis, smallest. cumulative_sum: axis, exclusive, reverse. top_k: axis, k, smallest. reverse_sequence:
// axis, batch_axis.
#include "converter/base/saturate.h"
#include "converter/frontend/onnx_node.h"
#include "converter/frontend/tflite_node.h"
#include "converter/ir/op_def.h"
#include "converter/ops/onnx_expression.h"
#include "converter/ops/onnx_gather.h"
#include "converter/ops/onnx_index_map.h"
#include "converter/ops/quantized_params.h"

namespace takt::ir {
namespace {

std::string CheckAxis(const Tensor& input, int64_t axis) {
  return axis >= 0 && axis < static_cast<int64_t>(input.dims.size())
             ? ""
             : "axis " + std::to_string(axis) + " is outside of " + DimsText(input.dims);
}

std::string InferArg(const Graph& graph, const Node& node, std::vector<TensorType>& outputs) {
  const Tensor& input = graph.tensor(node.inputs[0]);
  std::string reason = CheckAxis(input, node.Int("axis"));
  if (!reason.empty()) return reason;
  std::vector<int32_t> dims = input.dims;
  dims.erase(dims.begin() + node.Int("axis"));
  outputs = {{graph.tensor(node.outputs[0]).type, dims}};
  return "";
}

std::string InferSum(const Graph& graph, const Node& node, std::vector<TensorType>& outputs) {
  const Tensor& input = graph.tensor(node.inputs[0]);
  outputs = {{input.type, input.dims}};
  return CheckAxis(input, node.Int("axis"));
}

std::string InferTopK(const Graph& graph, const Node& node, std::vector<TensorType>& outputs) {
  const Tensor& input = graph.tensor(node.inputs[0]);
  const int64_t axis = node.Int("axis"), k = node.Int("k");
  std::string reason = CheckAxis(input, axis);
  if (!reason.empty()) return reason;
  std::vector<int32_t> dims = input.dims;
  int32_t& size = dims[static_cast<size_t>(axis)];
  if (k < 1 || k > size) return "k is " + std::to_string(k) + "; allowed is 1 to " + std::to_string(size);
  size = static_cast<int32_t>(k);
  outputs = {{input.type, dims}, {graph.tensor(node.outputs[1]).type, dims}};
  return "";
}

std::string InferReverse(const Graph& graph, const Node& node, std::vector<TensorType>& outputs) {
  const Tensor &input = graph.tensor(node.inputs[0]), &lengths = graph.tensor(node.inputs[1]);
  const int64_t axis = node.Int("axis"), batch = node.Int("batch_axis");
  for (const int64_t a : {axis, batch})
    if (std::string reason = CheckAxis(input, a); !reason.empty()) return reason;
  if (axis == batch) return "the batch is along the axis that is reversed";
  if (lengths.type != DataType::kInt32 && lengths.type != DataType::kInt64) return "lengths must be int32 or int64";
  if (lengths.dims != std::vector<int32_t>{input.dims[static_cast<size_t>(batch)]})
    return "has lengths of shape " + DimsText(lengths.dims) + "; there is one for each index of the batch axis";
  outputs = {{input.type, input.dims}};
  return "";
}

void LowerArg(const Node&, backend::StepBuilder& step) {
  const Node node = step.node();
  const schema::ArgReduceParams params(static_cast<uint8_t>(node.Int("axis")), node.IntOr("smallest", 0) != 0);
  step.Set(Op::kArgReduce, Numerics::kAny, params, node.inputs, node.outputs);
}

void LowerSum(const Node&, backend::StepBuilder& step) {
  const Node node = step.node();
  if (IsInteger(step.tensor(node.inputs[0]).type)) return step.Error("takes float32, int32 or int64");
  const schema::CumulativeSumParams params(static_cast<uint8_t>(node.Int("axis")), node.IntOr("exclusive", 0) != 0,
                                           node.IntOr("reverse", 0) != 0);
  step.Set(Op::kCumulativeSum, Numerics::kAny, params, node.inputs, node.outputs);
}

void LowerTopK(const Node&, backend::StepBuilder& step) {
  const Node node = step.node();
  if (!SameQuantization(step.tensor(node.inputs[0]), step.tensor(node.outputs[0])))
    return step.Error("keeps its input's quantization; give its output the same", node.outputs[0]);
  const schema::TopKParams params(static_cast<uint8_t>(node.Int("axis")), node.IntOr("smallest", 0) != 0);
  step.Set(Op::kTopK, Numerics::kAny, params, node.inputs, node.outputs);
}

void LowerReverse(const Node&, backend::StepBuilder& step) {
  const Node node = step.node();
  if (!SameQuantization(step.tensor(node.inputs[0]), step.tensor(node.outputs[0])))
    return step.Error("keeps its input's quantization; give its output the same", node.outputs[0]);
  const schema::ReverseSequenceParams params(static_cast<uint8_t>(node.Int("axis")),
                                             static_cast<uint8_t>(node.Int("batch_axis")));
  step.Set(Op::kReverseSequence, Numerics::kAny, params, node.inputs, node.outputs);
}

/// The axis that input 1 names, from the front.
std::optional<int64_t> ReadAxis(frontend::TfliteNode& node) {
  if (!node.CheckArity(2, 2, 1)) return std::nullopt;
  const auto axes = node.ConstantInts(1);
  if (!axes) return std::nullopt;
  if (axes->size() != 1) {
    node.Error("has " + std::to_string(axes->size()) + " axes; one is allowed", node.input(1));
    return std::nullopt;
  }
  return node.Axis((*axes)[0], node.tensor(node.input(0)).dims.size());
}

void ImportArg(frontend::TfliteNode& node, bool smallest) {
  if (const auto axis = ReadAxis(node))
    node.Add(Op::kArgReduce, {node.input(0)}, {{"axis", *axis}, {"smallest", int64_t{smallest}}});
}
void ImportArgMax(frontend::TfliteNode& node) {
  ImportArg(node, false);
}
void ImportArgMin(frontend::TfliteNode& node) {
  ImportArg(node, true);
}

void ImportCumsum(frontend::TfliteNode& node) {
  const auto axis = ReadAxis(node);
  if (!axis) return;
  const auto* options = node.options<tflite::CumsumOptions>();
  node.Add(Op::kCumulativeSum, {node.input(0)},
           {{"axis", *axis},
            {"exclusive", int64_t{options != nullptr && options->exclusive()}},
            {"reverse", int64_t{options != nullptr && options->reverse()}}});
}

/// Along the last axis.
void ImportTopK(frontend::TfliteNode& node) {
  if (!node.CheckArity(2, 2, 2)) return;
  const auto k = node.ConstantInts(1);
  const size_t rank = node.tensor(node.input(0)).dims.size();
  if (!k) return;
  if (k->size() != 1 || rank == 0) return node.Error("takes one k, and an input of at least one dimension");
  node.Add(Op::kTopK, {node.input(0)}, {{"axis", static_cast<int64_t>(rank) - 1}, {"k", (*k)[0]}});
}

void ImportReverse(frontend::TfliteNode& node) {
  if (!node.CheckArity(2, 2, 1)) return;
  const auto* options = node.options<tflite::ReverseSequenceOptions>();
  const size_t rank = node.tensor(node.input(0)).dims.size();
  const auto axis = node.Axis(options != nullptr ? options->seq_dim() : 0, rank);
  const auto batch = node.Axis(options != nullptr ? options->batch_dim() : 0, rank);
  if (!axis || !batch) return;
  node.Add(Op::kReverseSequence, {node.input(0), node.input(1)},
           {{"axis", static_cast<int64_t>(*axis)}, {"batch_axis", static_cast<int64_t>(*batch)}});
}

bool CommuteSum(std::span<const int64_t> permutation, Node& node) {
  node.attributes["axis"] = permutation[static_cast<size_t>(node.Int("axis"))];
  return true;
}

/// The last of equal values is the first from the end.
void EmitOnnxArg(frontend::OnnxNode& node, bool smallest) {
  if (!node.CheckInputs(1, 1) || !node.CheckOutputs(1)) return;
  const OnnxExpression e(node);
  std::vector<int32_t> dims = node.dims(node.input(0));
  const auto axis = node.Axis(node.Int("axis", 0), dims.size());
  if (!axis) return;
  const bool last = node.Int("select_last_index", 0) != 0;
  const int64_t size = dims[*axis];
  TensorId x = e.Widen(node.input(0));
  if (last) x = SliceOnnx(node, x, {{*axis, size - 1, -size - 1, -1}});
  Tensor output;
  output.type = DataType::kInt64;
  TensorId y = node.EmitTyped(Op::kArgReduce, {x}, std::move(output),
                              {{"axis", static_cast<int64_t>(*axis)}, {"smallest", int64_t{smallest}}});
  if (last) y = e.Subtract(e.IntScalar(y, size - 1), y);
  if (node.failed()) return;
  const bool keep = node.Int("keepdims", 1) != 0;
  if (keep) dims[*axis] = 1;
  if (!keep) dims.erase(dims.begin() + static_cast<ptrdiff_t>(*axis));
  node.SetOutput(0, node.Reshape(y, dims));
}
void ImportOnnxArgMax(frontend::OnnxNode& node) {
  EmitOnnxArg(node, false);
}
void ImportOnnxArgMin(frontend::OnnxNode& node) {
  EmitOnnxArg(node, true);
}

void ImportOnnxCumSum(frontend::OnnxNode& node) {
  if (!node.CheckInputs(2, 2) || !node.CheckOutputs(1)) return;
  const auto given = node.ConstantScalar(1);
  if (!given) return;
  const auto axis = node.Axis(Saturated(*given), node.dims(node.input(0)).size());
  if (!axis) return;
  const std::map<std::string, Attribute> attributes = {{"axis", static_cast<int64_t>(*axis)},
                                                       {"exclusive", node.Int("exclusive", 0)},
                                                       {"reverse", node.Int("reverse", 0)}};
  node.SetOutput(0, OnnxExpression(node).Widened(
                        node.input(0), [&](TensorId x) { return node.Emit(Op::kCumulativeSum, {x}, attributes); }));
}

constexpr AttributeRule kArgAttributes[] = {{"axis", AttributeKind::kInt, true},
                                            {"smallest", AttributeKind::kInt, false}};
constexpr AttributeRule kSumAttributes[] = {{"axis", AttributeKind::kInt, true},
                                            {"exclusive", AttributeKind::kInt, false},
                                            {"reverse", AttributeKind::kInt, false}};
constexpr AttributeRule kTopKAttributes[] = {
    {"axis", AttributeKind::kInt, true}, {"k", AttributeKind::kInt, true}, {"smallest", AttributeKind::kInt, false}};
constexpr AttributeRule kReverseAttributes[] = {{"axis", AttributeKind::kInt, true},
                                                {"batch_axis", AttributeKind::kInt, true}};
constexpr TfliteImport kTopKTflite[] = {{48, "TOPK_V2", ImportTopK}};
constexpr TfliteImport kReverseTflite[] = {{112, "REVERSE_SEQUENCE", ImportReverse}};
constexpr TfliteImport kArgTflite[] = {{56, "ARG_MAX", ImportArgMax}, {79, "ARG_MIN", ImportArgMin}};
constexpr TfliteImport kSumTflite[] = {{128, "CUMSUM", ImportCumsum}};
constexpr OnnxImport kArgOnnx[] = {{"ArgMax", 1, ImportOnnxArgMax}, {"ArgMin", 1, ImportOnnxArgMin}};
constexpr OnnxImport kTopKOnnx[] = {{"TopK", 1, ImportOnnxTopK}};
constexpr OnnxImport kReverseOnnx[] = {{"ReverseSequence", 10, ImportOnnxReverseSequence}};
constexpr OnnxImport kSumOnnx[] = {{"CumSum", 11, ImportOnnxCumSum}};

}  // namespace

extern const OpDef kArgReduceDef;
extern const OpDef kCumulativeSumDef;
extern const OpDef kTopKDef;
extern const OpDef kReverseSequenceDef;
const OpDef kArgReduceDef = {Op::kArgReduce, kArgAttributes, InferArg, LowerArg, kArgTflite, NpuClass::kNone, kArgOnnx};
const OpDef kCumulativeSumDef = {Op::kCumulativeSum, kSumAttributes,  InferSum, LowerSum,
                                 kSumTflite,         NpuClass::kNone, kSumOnnx, CommuteSum};
const OpDef kTopKDef = {Op::kTopK, kTopKAttributes, InferTopK, LowerTopK, kTopKTflite, NpuClass::kNone, kTopKOnnx};
const OpDef kReverseSequenceDef = {Op::kReverseSequence, kReverseAttributes, InferReverse, LowerReverse,
                                   kReverseTflite,       NpuClass::kNone,    kReverseOnnx};

}  // namespace takt::ir
