// gather: axis, batch_dims. TFLite's MIRROR_PAD, TILE, BROADCAST_TO and REVERSE_V2 are gathers of constant indices.
#include "converter/frontend/tflite_node.h"
#include "converter/ir/op_def.h"
#include "converter/ops/index_map.h"
#include "converter/ops/landmarks.h"
#include "converter/ops/onnx_gather.h"
#include "converter/ops/onnx_grid_sample.h"
#include "converter/ops/onnx_index_map.h"
#include "converter/ops/quantized_params.h"

namespace takt::ir {
namespace {

std::string Infer(const Graph& graph, const Node& node, std::vector<TensorType>& outputs) {
  const Tensor& x = graph.tensor(node.inputs[0]);
  const Tensor& indices = graph.tensor(node.inputs[1]);
  const auto axis = static_cast<size_t>(node.Int("axis"));
  const auto batch_dims = static_cast<size_t>(node.IntOr("batch_dims", 0));
  if (indices.type != DataType::kInt32 && indices.type != DataType::kInt64) return "indices must be int32 or int64";
  if (axis >= x.dims.size()) return "axis " + std::to_string(axis) + " is outside " + DimsText(x.dims);
  if (batch_dims > axis || batch_dims > indices.dims.size())
    return "batch_dims " + std::to_string(batch_dims) + " is above the axis or the rank of the indices";
  std::vector<int32_t> dims(x.dims.begin(), x.dims.begin() + static_cast<ptrdiff_t>(axis));
  for (size_t i = 0; i < batch_dims; ++i)
    if (indices.dims[i] != x.dims[i])
      return "batch dimensions of " + DimsText(x.dims) + " and " + DimsText(indices.dims) + " differ";
  dims.insert(dims.end(), indices.dims.begin() + static_cast<ptrdiff_t>(batch_dims), indices.dims.end());
  dims.insert(dims.end(), x.dims.begin() + static_cast<ptrdiff_t>(axis) + 1, x.dims.end());
  if (dims.size() > kMaxRank) return "the output would have more than 6 dimensions";
  outputs = {{x.type, dims}};
  return "";
}

void Lower(const Node&, backend::StepBuilder& step) {
  const Node node = step.node();
  if (!SameQuantization(step.tensor(node.inputs[0]), step.tensor(node.outputs[0])))
    return step.Error("a gather keeps its input's quantization; give its output the same", node.outputs[0]);
  const schema::GatherParams params(static_cast<uint8_t>(node.Int("axis")),
                                    static_cast<uint8_t>(node.IntOr("batch_dims", 0)));
  step.Set(Op::kGather, Numerics::kAny, params, node.inputs, node.outputs);
}

void ImportGather(frontend::TfliteNode& node) {
  if (!node.CheckArity(2, 2, 1)) return;
  const auto* options = node.options<tflite::GatherOptions>();
  const auto axis = node.Axis(options != nullptr ? options->axis() : 0, node.tensor(node.input(0)).dims.size());
  if (!axis) return;
  int64_t batch_dims = options != nullptr ? options->batch_dims() : 0;
  if (batch_dims < 0) batch_dims += static_cast<int64_t>(node.tensor(node.input(1)).dims.size());
  node.Add(Op::kGather, {node.input(0), node.input(1)},
           {{"axis", static_cast<int64_t>(*axis)}, {"batch_dims", batch_dims}});
}

/// Rows of a table; those of an int8 table for a float output are dequantized.
void ImportEmbeddingLookup(frontend::TfliteNode& node) {
  if (!node.CheckArity(2, 2, 1)) return;
  const Tensor& table = node.tensor(node.input(1));
  const Tensor& output = node.tensor(node.output(0));
  if (table.type == output.type) {
    node.Add(Op::kGather, {node.input(1), node.input(0)}, {{"axis", int64_t{0}}});
    return;
  }
  Tensor rows = table;
  rows.dims = output.dims;
  const TensorId stored = node.NewTensor(rows, "/stored");
  node.AddTo(Op::kGather, {node.input(1), node.input(0)}, {stored}, {{"axis", int64_t{0}}});
  node.Add(Op::kDequantize, {stored});
}

constexpr AttributeRule kAttributes[] = {{"axis", AttributeKind::kInt, true},
                                         {"batch_dims", AttributeKind::kInt, false}};
constexpr TfliteImport kTflite[] = {{36, "GATHER", ImportGather},
                                    {7, "EMBEDDING_LOOKUP", ImportEmbeddingLookup},
                                    {69, "TILE", ImportTile},
                                    {100, "MIRROR_PAD", ImportMirrorPad},
                                    {105, "REVERSE_V2", ImportReverse},
                                    {130, "BROADCAST_TO", ImportBroadcastTo},
                                    {32, "Landmarks2TransformMatrix", ImportLandmarksToTransformMatrix},
                                    {32, "TransformTensorBilinear", ImportTransformTensorBilinear},
                                    {32, "TransformLandmarks", ImportTransformLandmarks}};

/// One list of indices: the axis moves.
bool Commute(std::span<const int64_t> permutation, Node& node) {
  if (node.IntOr("batch_dims", 0) != 0) return false;
  node.attributes["axis"] = permutation[static_cast<size_t>(node.Int("axis"))];
  return true;
}

constexpr OnnxImport kOnnx[] = {{"Gather", 1, ImportOnnxGather},     {"GatherElements", 11, ImportOnnxGatherElements},
                                {"OneHot", 9, ImportOnnxOneHot},     {"Hardmax", 1, ImportOnnxHardmax},
                                {"Tile", 1, ImportOnnxTile},         {"Expand", 8, ImportOnnxExpand},
                                {"Compress", 9, ImportOnnxCompress}, {"GridSample", 16, ImportOnnxGridSample}};

}  // namespace

extern const OpDef kGatherDef;
const OpDef kGatherDef = {Op::kGather, kAttributes,       Infer, Lower, kTflite, NpuClass::kNone, kOnnx,
                          Commute,     QuantRule::kFloat, 1};

}  // namespace takt::ir
