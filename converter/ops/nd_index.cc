// gather_nd: batch_dims. scatter_nd: function, size (the output's dims). update_slice: none.
#include <algorithm>
#include <string>

#include "converter/frontend/tflite_node.h"
#include "converter/ir/op_def.h"
#include "converter/ops/binary.h"
#include "converter/ops/indexed.h"
#include "converter/ops/onnx_gather.h"
#include "converter/ops/quantized_params.h"

namespace takt::ir {
namespace {

using Dims = std::vector<int32_t>;

std::string CheckIndices(const Tensor& indices, size_t batch_dims, size_t most) {
  if (indices.type != DataType::kInt32 && indices.type != DataType::kInt64) return "indices must be int32 or int64";
  if (indices.dims.size() <= batch_dims) return "indices have no dimension behind the batch";
  if (static_cast<size_t>(indices.dims.back()) > most)
    return "indices of " + std::to_string(indices.dims.back()) + " values name more than the " + std::to_string(most) +
           " dimensions that there are";
  return "";
}

/// The rows of indices, then the dims of x from `first` on.
Dims PartDims(const Tensor& indices, const Dims& x, size_t first) {
  Dims dims(indices.dims.begin(), indices.dims.end() - 1);
  dims.insert(dims.end(), x.begin() + static_cast<ptrdiff_t>(first), x.end());
  return dims;
}

std::string InferGather(const Graph& graph, const Node& node, std::vector<TensorType>& outputs) {
  const Tensor &x = graph.tensor(node.inputs[0]), &indices = graph.tensor(node.inputs[1]);
  const auto batch_dims = static_cast<size_t>(node.IntOr("batch_dims", 0));
  if (batch_dims > x.dims.size()) return "batch_dims " + std::to_string(batch_dims) + " is above the rank of its input";
  std::string reason = CheckIndices(indices, batch_dims, x.dims.size() - batch_dims);
  if (!reason.empty()) return reason;
  if (!std::equal(x.dims.begin(), x.dims.begin() + static_cast<ptrdiff_t>(batch_dims), indices.dims.begin()))
    return "batch dimensions of " + DimsText(x.dims) + " and " + DimsText(indices.dims) + " differ";
  const Dims dims = PartDims(indices, x.dims, batch_dims + static_cast<size_t>(indices.dims.back()));
  if (dims.size() > kMaxRank) return "the output would have more than 6 dimensions";
  outputs = {{x.type, dims}};
  return "";
}

std::string InferScatter(const Graph& graph, const Node& node, std::vector<TensorType>& outputs) {
  const Tensor &updates = graph.tensor(node.inputs[0]), &indices = graph.tensor(node.inputs[1]);
  const auto& size = node.Ints("size");
  const Dims dims(size.begin(), size.end());
  if (dims.size() > kMaxRank) return "the output would have more than 6 dimensions";
  std::string reason = CheckIndices(indices, 0, dims.size());
  if (!reason.empty()) return reason;
  if (const Dims part = PartDims(indices, dims, static_cast<size_t>(indices.dims.back())); updates.dims != part)
    return "updates of shape " + DimsText(updates.dims) + " do not fit; theirs is " + DimsText(part);
  if (node.inputs.size() == 3 && graph.tensor(node.inputs[2]).dims != dims)
    return "scatters into shape " + DimsText(graph.tensor(node.inputs[2]).dims) + ", not " + DimsText(dims);
  outputs = {{updates.type, dims}};
  return "";
}

std::string InferUpdate(const Graph& graph, const Node& node, std::vector<TensorType>& outputs) {
  const Tensor &update = graph.tensor(node.inputs[0]), &starts = graph.tensor(node.inputs[1]);
  const Tensor& x = graph.tensor(node.inputs[2]);
  if (starts.type != DataType::kInt32 && starts.type != DataType::kInt64) return "starts must be int32 or int64";
  if (x.dims.empty() || starts.dims != Dims{static_cast<int32_t>(x.dims.size())})
    return "starts have one value for each dimension of " + DimsText(x.dims);
  bool fits = update.type == x.type && update.dims.size() == x.dims.size();
  for (size_t d = 0; fits && d < x.dims.size(); ++d) fits = update.dims[d] <= x.dims[d];
  if (!fits) return "an update of shape " + DimsText(update.dims) + " does not fit in " + DimsText(x.dims);
  outputs = {{x.type, x.dims}};
  return "";
}

/// Reports operands that are moved into an output of another quantization.
bool KeepsQuantization(backend::StepBuilder& step, std::initializer_list<size_t> inputs) {
  const Node& node = step.node();
  for (const size_t i : inputs) {
    if (i >= node.inputs.size()) continue;
    if (SameQuantization(step.tensor(node.inputs[i]), step.tensor(node.outputs[0]))) continue;
    step.Error("moves stored values; requantize the operands to the output's scale", node.inputs[i]);
    return false;
  }
  return true;
}

void LowerGather(const Node&, backend::StepBuilder& step) {
  const Node node = step.node();
  if (!KeepsQuantization(step, {0})) return;
  step.Set(Op::kGatherNd, Numerics::kAny, schema::GatherNdParams(static_cast<uint8_t>(node.IntOr("batch_dims", 0))),
           node.inputs, node.outputs);
}

void LowerScatter(const Node&, backend::StepBuilder& step) {
  const Node node = step.node();
  const auto* function = EnumValue(schema::EnumValuesScatterFunction(), schema::EnumNameScatterFunction,
                                   node.StringOr("function", "replace"));
  if (function == nullptr) return step.Error("unknown function");
  const Tensor& output = step.tensor(node.outputs[0]);
  const bool moves = *function == schema::ScatterFunction::replace;
  if (output.quantization && (!moves || node.inputs.size() < 3))
    return step.Error("computes on stored values, which have a scale; dequantize its operands", node.outputs[0]);
  if (!KeepsQuantization(step, {0, 2})) return;
  step.Set(Op::kScatterNd, Numerics::kAny, schema::ScatterNdParams(*function), node.inputs, node.outputs);
}

void LowerUpdate(const Node&, backend::StepBuilder& step) {
  const Node node = step.node();
  if (KeepsQuantization(step, {0, 2}))
    step.Set(Op::kUpdateSlice, Numerics::kAny, schema::UpdateSliceParams(), node.inputs, node.outputs);
}

void ImportGatherNd(frontend::TfliteNode& node) {
  if (node.CheckArity(2, 2, 1)) node.Add(Op::kGatherNd, {node.input(0), node.input(1)});
}

/// Inputs: x, update, starts.
void ImportUpdateSlice(frontend::TfliteNode& node) {
  if (!node.CheckArity(3, 3, 1)) return;
  const TensorId update = node.ToOutputScale(node.input(1)), x = node.ToOutputScale(node.input(0));
  node.Add(Op::kUpdateSlice, {update, node.input(2), x});
}

constexpr AttributeRule kGatherAttributes[] = {{"batch_dims", AttributeKind::kInt, false}};
constexpr AttributeRule kScatterAttributes[] = {{"function", AttributeKind::kString, false},
                                                {"size", AttributeKind::kInts, true}};
constexpr TfliteImport kGatherTflite[] = {{107, "GATHER_ND", ImportGatherNd}};
constexpr TfliteImport kScatterTflite[] = {{68, "SPARSE_TO_DENSE", ImportSparseToDense},
                                           {122, "SCATTER_ND", ImportScatterNd},
                                           {125, "SEGMENT_SUM", ImportSegmentSum},
                                           {153, "UNSORTED_SEGMENT_PROD", ImportUnsortedSegmentProd},
                                           {154, "UNSORTED_SEGMENT_MAX", ImportUnsortedSegmentMax},
                                           {155, "UNSORTED_SEGMENT_SUM", ImportUnsortedSegmentSum},
                                           {157, "UNSORTED_SEGMENT_MIN", ImportUnsortedSegmentMin}};
constexpr TfliteImport kUpdateTflite[] = {{151, "DYNAMIC_UPDATE_SLICE", ImportUpdateSlice}};

constexpr OnnxImport kGatherOnnx[] = {{"GatherND", 11, ImportOnnxGatherNd}};
constexpr OnnxImport kScatterOnnx[] = {{"ScatterND", 11, ImportOnnxScatterNd},
                                       {"ScatterElements", 11, ImportOnnxScatterElements},
                                       {"Scatter", 9, ImportOnnxScatterElements},
                                       {"MaxUnpool", 9, ImportOnnxMaxUnpool}};

}  // namespace

extern const OpDef kGatherNdDef;
extern const OpDef kScatterNdDef;
extern const OpDef kUpdateSliceDef;
const OpDef kGatherNdDef = {Op::kGatherNd, kGatherAttributes, InferGather, LowerGather,
                            kGatherTflite, NpuClass::kNone,   kGatherOnnx};
const OpDef kScatterNdDef = {Op::kScatterNd, kScatterAttributes, InferScatter, LowerScatter,
                             kScatterTflite, NpuClass::kNone,    kScatterOnnx};
const OpDef kUpdateSliceDef = {Op::kUpdateSlice, {}, InferUpdate, LowerUpdate, kUpdateTflite};

}  // namespace takt::ir
