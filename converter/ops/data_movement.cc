// copy: none. pad: before, after, value (real). transpose: permutation.
#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

#include "converter/base/saturate.h"
#include "converter/frontend/onnx_node.h"
#include "converter/frontend/tflite_node.h"
#include "converter/ir/constants.h"
#include "converter/ir/op_def.h"
#include "converter/ir/size_limits.h"
#include "converter/ops/onnx_index_map.h"
#include "converter/ops/quantized_params.h"
#include "converter/ops/rearrange.h"
#include "converter/ops/shape_constants.h"
#include "converter/ops/shape_rules.h"

namespace takt::ir {
namespace {

std::string InferPad(const Graph& graph, const Node& node, std::vector<TensorType>& outputs) {
  const Tensor& input = graph.tensor(node.inputs[0]);
  const auto& before = node.Ints("before");
  const auto& after = node.Ints("after");
  if (before.size() != input.dims.size() || after.size() != input.dims.size() || before.size() > kMaxRank) {
    return "pads do not have one value for each of at most 6 dimensions of " + DimsText(input.dims);
  }
  std::vector<int32_t> dims = input.dims;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (before[i] < 0 || after[i] < 0) return "pads must not be negative";
    dims[i] = Dim(dims[i] + before[i] + after[i]);
  }
  outputs = {{input.type, dims}};
  return "";
}

std::string InferTranspose(const Graph& graph, const Node& node, std::vector<TensorType>& outputs) {
  const Tensor& input = graph.tensor(node.inputs[0]);
  const auto& permutation = node.Ints("permutation");
  std::vector<int64_t> sorted = permutation;
  std::sort(sorted.begin(), sorted.end());
  bool ok = sorted.size() == input.dims.size() && sorted.size() <= kMaxRank;
  for (size_t i = 0; ok && i < sorted.size(); ++i) ok = sorted[i] == static_cast<int64_t>(i);
  if (!ok) return "permutation does not name each dimension of " + DimsText(input.dims) + " once";
  std::vector<int32_t> dims(sorted.size());
  for (size_t i = 0; i < dims.size(); ++i) dims[i] = input.dims[static_cast<size_t>(permutation[i])];
  outputs = {{input.type, dims}};
  return "";
}

void LowerCopy(const Node&, backend::StepBuilder& step) {
  const Node node = step.node();
  step.Set(Op::kCopy, Numerics::kAny, schema::CopyParams(0), node.inputs, node.outputs);
}

void LowerPad(const Node&, backend::StepBuilder& step) {
  const Node node = step.node();
  const Tensor& output = step.tensor(node.outputs[0]);
  const double real = node.FloatOr("value", 0);
  uint64_t value = 0;
  if (output.type == DataType::kFloat32) {
    const auto f = static_cast<float>(real);
    std::memcpy(&value, &f, sizeof(f));
  } else {
    const int64_t stored = ScaleOf(output) > 0 ? SaturatedValue(real, output) : Saturated(real);
    std::memcpy(&value, &stored, BitWidth(output.type) / 8);
  }
  int32_t before[6] = {};
  int32_t after[6] = {};
  const auto& b = node.Ints("before");
  const auto& a = node.Ints("after");
  for (size_t i = 0; i < b.size(); ++i) before[i] = static_cast<int32_t>(b[i]), after[i] = static_cast<int32_t>(a[i]);
  const schema::PadParams params(flatbuffers::span<const int32_t, 6>(before),
                                 flatbuffers::span<const int32_t, 6>(after), value, static_cast<uint8_t>(b.size()));
  step.Set(Op::kPad, Numerics::kAny, params, node.inputs, node.outputs);
}

void LowerTranspose(const Node&, backend::StepBuilder& step) {
  const Node node = step.node();
  uint8_t permutation[6] = {};
  const auto& p = node.Ints("permutation");
  for (size_t i = 0; i < p.size(); ++i) permutation[i] = static_cast<uint8_t>(p[i]);
  const schema::TransposeParams params(flatbuffers::span<const uint8_t, 6>(permutation),
                                       static_cast<uint8_t>(p.size()));
  step.Set(Op::kTranspose, Numerics::kAny, params, node.inputs, node.outputs);
}

void ImportPad(frontend::TfliteNode& node) {
  if (!node.CheckArity(2, 3, 1)) return;
  const auto pads = node.ConstantInts(1);
  if (!pads) return;
  std::vector<int64_t> before;
  std::vector<int64_t> after;
  for (size_t i = 0; i + 1 < pads->size(); i += 2) before.push_back((*pads)[i]), after.push_back((*pads)[i + 1]);
  double value = 0;
  if (node.has_input(2)) {
    const Tensor& t = node.tensor(node.input(2));
    if (!t.is_constant() || t.data->empty()) return node.Error("the pad value must be constant", node.input(2));
    if (t.type == DataType::kFloat32) {
      value = static_cast<double>(Elements<float>(t)[0]);
    } else if (t.type == DataType::kInt8 || t.type == DataType::kInt16) {
      value = static_cast<double>(ScaleOf(t)) * static_cast<double>((*IntegerValues(t))[0] - ZeroPointOf(t));
    } else {
      return node.Error("the pad value must be float32, int8 or int16", node.input(2));
    }
  }
  node.Add(Op::kPad, {node.input(0)}, {{"before", before}, {"after", after}, {"value", value}});
}

void ImportTranspose(frontend::TfliteNode& node) {
  if (!node.CheckArity(2, 2, 1)) return;
  if (const auto permutation = node.ConstantInts(1))
    node.Add(Op::kTranspose, {node.input(0)}, {{"permutation", *permutation}});
}

void ImportOnnxIdentity(frontend::OnnxNode& node) {
  if (node.CheckInputs(1, 1)) node.SetOutput(0, node.input(0));
}

/// Inference keeps all; so does training that drops nothing. The mask says so.
void ImportOnnxDropout(frontend::OnnxNode& node) {
  if (!node.CheckInputs(1, 3) || !node.CheckOutputs(2)) return;
  const bool training = node.has_input(2) && node.ConstantScalar(2).value_or(1) != 0;
  if (training && (!node.has_input(1) || node.ConstantScalar(1).value_or(1) != 0))
    return node.Error("is in training mode; export the model for inference");
  node.SetOutput(0, node.input(0));
  if (node.output_count() < 2) return;
  const Tensor& x = node.tensor(node.input(0));
  if (!MayMake(node, DataType::kBool, {x.dims.begin(), x.dims.end()}, node.input(0))) return;
  node.SetOutput(1, node.Constant(DataType::kBool, x.dims, Bytes(static_cast<size_t>(x.element_count()), 1)));
}

void ImportOnnxTranspose(frontend::OnnxNode& node) {
  if (!node.CheckInputs(1, 1) || !node.CheckOutputs(1)) return;
  const auto rank = static_cast<int64_t>(node.dims(node.input(0)).size());
  std::vector<int64_t> reversed;
  for (int64_t i = rank; i-- > 0;) reversed.push_back(i);
  const std::vector<int64_t> permutation = node.Ints("perm", reversed);
  auto sorted = node.Axes(permutation, static_cast<size_t>(rank));
  if (!sorted) return;
  if (static_cast<int64_t>(sorted->size()) != rank) return node.Error("perm does not name each dimension once");
  node.SetOutput(0, node.Transpose(node.input(0), permutation));
}

/// Pads and value are attributes before opset 11, inputs from then on; axes an input from opset 18 on. Negative pads
/// cut cells off.
void ImportOnnxPad(frontend::OnnxNode& node) {
  if (!node.CheckInputs(1, 4) || !node.CheckOutputs(1)) return;
  const size_t rank = node.dims(node.input(0)).size();
  std::vector<int64_t> pads = node.Ints(node.Has("paddings") ? "paddings" : "pads", {});
  double value = node.Float("value", 0);
  if (node.opset() >= 11) {
    const auto values = node.ConstantInts(1);
    const auto constant = node.has_input(2) ? node.ConstantScalar(2) : 0.0;
    if (!values || !constant) return;
    pads = *values;
    value = *constant;
  }
  std::vector<int64_t> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  if (node.has_input(3)) {
    const auto given = node.ConstantInts(3);
    if (!given) return;
    axes = *given;
  }
  if (pads.size() != 2 * axes.size()) return node.Error("pads must have two values for each axis");
  std::vector<int64_t> before(rank, 0);
  std::vector<int64_t> after(rank, 0);
  std::vector<OnnxRange> kept;
  if (!node.Axes(axes, rank)) return;
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto axis = node.Axis(axes[i], rank);
    const int64_t first = pads[i], last = pads[i + axes.size()], size = node.dims(node.input(0))[*axis];
    before[*axis] = std::max<int64_t>(0, first);
    after[*axis] = std::max<int64_t>(0, last);
    if (first < -size || last < -size) return node.Error("cuts off more cells than there are");
    kept.push_back({*axis, std::max<int64_t>(0, -first), size + std::min<int64_t>(0, last), 1});
  }
  const TensorId x = SliceOnnx(node, node.input(0), kept);
  const std::string mode = node.String("mode", "constant");
  if (mode == "edge" || mode == "reflect" || mode == "wrap")
    return node.SetOutput(0, PadOnnxByCells(node, x, before, after, mode));
  if (mode != "constant") return node.Error("mode " + mode + " is not constant, edge, reflect or wrap");
  const bool none = before == after && before == std::vector<int64_t>(rank, 0);
  node.SetOutput(0, none ? x : node.Emit(Op::kPad, {x}, {{"before", before}, {"after", after}, {"value", value}}));
}

/// Blocks of cells become channels; the block's place comes before the channel.
void ImportOnnxSpaceToDepth(frontend::OnnxNode& node) {
  if (!node.CheckInputs(1, 1) || !node.CheckOutputs(1)) return;
  const int32_t b = Dim(node.Int("blocksize", 0));
  const TensorId x = node.ToNhwc(node.input(0));
  if (node.failed()) return;
  const std::vector<int32_t> d = node.dims(x);
  if (node.dims(node.input(0)).size() != 4 || b < 1 || b > 1024 || d[1] % b != 0 || d[2] % b != 0)
    return node.Error("takes an input of rank 4 whose height and width are multiples of blocksize, 1 to 1024");
  const TensorId blocks = node.Transpose(node.Reshape(x, {d[0], d[1] / b, b, d[2] / b, b, d[3]}), {0, 1, 3, 2, 4, 5});
  node.SetOutput(0, node.FromNhwc(node.Reshape(blocks, {d[0], d[1] / b, d[2] / b, Dim(int64_t{b} * b * d[3])}), 4));
}

/// The inverse; in mode CRD the channel comes before the block's place.
void ImportOnnxDepthToSpace(frontend::OnnxNode& node) {
  if (!node.CheckInputs(1, 1) || !node.CheckOutputs(1)) return;
  const int32_t b = Dim(node.Int("blocksize", 0));
  const bool channel_first = node.String("mode", "DCR") == "CRD";
  const TensorId x = node.ToNhwc(node.input(0));
  if (node.failed()) return;
  const std::vector<int32_t> d = node.dims(x);
  if (node.dims(node.input(0)).size() != 4 || b < 1 || b > 1024 || d[3] % (b * b) != 0)
    return node.Error("takes an input of rank 4 whose channels are a multiple of the square of blocksize, 1 to 1024");
  const int32_t c = d[3] / (b * b);
  const TensorId blocks = channel_first
                              ? node.Transpose(node.Reshape(x, {d[0], d[1], d[2], c, b, b}), {0, 1, 4, 2, 5, 3})
                              : node.Transpose(node.Reshape(x, {d[0], d[1], d[2], b, b, c}), {0, 1, 3, 2, 4, 5});
  node.SetOutput(0, node.FromNhwc(node.Reshape(blocks, {d[0], Dim(int64_t{d[1]} * b), Dim(int64_t{d[2]} * b), c}), 4));
}

bool CommutePad(std::span<const int64_t> permutation, Node& node) {
  PermuteValues(permutation, "before", node);
  PermuteValues(permutation, "after", node);
  return true;
}

constexpr AttributeRule kPadAttributes[] = {{"before", AttributeKind::kInts, true},
                                            {"after", AttributeKind::kInts, true},
                                            {"value", AttributeKind::kFloat, false}};
constexpr AttributeRule kTransposeAttributes[] = {{"permutation", AttributeKind::kInts, true}};
constexpr TfliteImport kPadTflite[] = {{34, "PAD", ImportPad}, {60, "PADV2", ImportPad}};
constexpr TfliteImport kTransposeTflite[] = {{39, "TRANSPOSE", ImportTranspose},
                                             {5, "DEPTH_TO_SPACE", ImportDepthToSpace},
                                             {26, "SPACE_TO_DEPTH", ImportSpaceToDepth},
                                             {37, "BATCH_TO_SPACE_ND", ImportBatchToSpace},
                                             {38, "SPACE_TO_BATCH_ND", ImportSpaceToBatch}};
constexpr TfliteImport kCopyTflite[] = {{77, "SHAPE", ImportShape},    {93, "ZEROS_LIKE", ImportZerosLike},
                                        {94, "FILL", ImportFill},      {96, "RANGE", ImportRange},
                                        {110, "RANK", ImportRank},     {145, "BROADCAST_ARGS", ImportBroadcastArgs},
                                        {103, "UNIQUE", ImportUnique}, {124, "DENSIFY", ImportDensify}};
constexpr OnnxImport kCopyOnnx[] = {{"Identity", 1, ImportOnnxIdentity}, {"Dropout", 1, ImportOnnxDropout}};
constexpr OnnxImport kPadOnnx[] = {{"Pad", 1, ImportOnnxPad}};
constexpr OnnxImport kTransposeOnnx[] = {{"Transpose", 1, ImportOnnxTranspose},
                                         {"SpaceToDepth", 1, ImportOnnxSpaceToDepth},
                                         {"DepthToSpace", 1, ImportOnnxDepthToSpace}};

}  // namespace

extern const OpDef kCopyDef;
extern const OpDef kPadDef;
extern const OpDef kTransposeDef;
const OpDef kCopyDef = {Op::kCopy,       {},        InferAsInput,       LowerCopy,         kCopyTflite,
                        NpuClass::kMove, kCopyOnnx, CommuteElementwise, QuantRule::kShared};
const OpDef kPadDef = {Op::kPad,        kPadAttributes, InferPad,   LowerPad,          kPadTflite,
                       NpuClass::kMove, kPadOnnx,       CommutePad, QuantRule::kShared};
const OpDef kTransposeDef = {Op::kTranspose,  kTransposeAttributes, InferTranspose, LowerTranspose,    kTransposeTflite,
                             NpuClass::kMove, kTransposeOnnx,       nullptr,        QuantRule::kShared};

}  // namespace takt::ir
