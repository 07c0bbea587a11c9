// Ops that only name memory anew (passes/view_elimination.cc). reshape: none (the output's dims say it).
// concatenation: axis. slice: begin, strides (the output's dims say how many).
#include <algorithm>
#include <limits>
#include <numeric>

#include "converter/frontend/onnx_node.h"
#include "converter/frontend/tflite_node.h"
#include "converter/ir/op_def.h"
#include "converter/ir/size_limits.h"
#include "converter/ops/onnx_index_map.h"
#include "converter/ops/parts.h"
#include "converter/ops/quantized_params.h"
#include "converter/ops/strided_slice.h"

namespace takt::ir {
namespace {

std::string InferReshape(const Graph& graph, const Node& node, std::vector<TensorType>& outputs) {
  const Tensor& input = graph.tensor(node.inputs[0]);
  const Tensor& output = graph.tensor(node.outputs[0]);
  if (input.element_count() != output.element_count()) {
    return "cannot reshape " + DimsText(input.dims) + " to " + DimsText(output.dims);
  }
  outputs = {{input.type, output.dims}};
  return "";
}

std::string InferConcatenation(const Graph& graph, const Node& node, std::vector<TensorType>& outputs) {
  const Tensor& first = graph.tensor(node.inputs[0]);
  const auto axis = static_cast<size_t>(node.Int("axis"));
  if (axis >= first.dims.size()) return "axis " + std::to_string(axis) + " is outside " + DimsText(first.dims);
  std::vector<int32_t> dims = first.dims;
  dims[axis] = 0;
  for (TensorId id : node.inputs) {
    std::vector<int32_t> part = graph.tensor(id).dims;
    if (graph.tensor(id).type != first.type || part.size() != dims.size()) return "parts differ in type or rank";
    dims[axis] = Dim(int64_t{dims[axis]} + part[axis]);
    part[axis] = first.dims[axis];
    if (part != first.dims)
      return "parts " + DimsText(part) + " and " + DimsText(first.dims) + " differ beside the axis";
  }
  outputs = {{first.type, dims}};
  return "";
}

std::string InferSlice(const Graph& graph, const Node& node, std::vector<TensorType>& outputs) {
  const Tensor& input = graph.tensor(node.inputs[0]);
  const Tensor& output = graph.tensor(node.outputs[0]);
  const auto& begin = node.Ints("begin");
  const auto& strides = node.Ints("strides");
  const size_t rank = input.dims.size();
  if (begin.size() != rank || strides.size() != rank || output.dims.size() != rank)
    return "begin, strides or output differ in rank";
  for (size_t i = 0; i < rank; ++i) {
    const int64_t last = begin[i] + (output.dims[i] - 1) * strides[i];
    if (strides[i] < 1 || begin[i] < 0 || output.dims[i] < 1 || last >= input.dims[i]) {
      return "dimension " + std::to_string(i) + " of the slice reaches outside " + DimsText(input.dims);
    }
  }
  outputs = {{input.type, output.dims}};
  return "";
}

using Dims = std::vector<int32_t>;

/// To the recorded dims, or where the input has another number of elements (a graph input was given a shape), to
/// `dims`.
void AddReshape(frontend::TfliteNode& node, const Dims& dims) {
  const bool fits = node.tensor(node.input(0)).element_count() == node.tensor(node.output(0)).element_count();
  if (fits || node.SetDims(0, dims)) node.Add(Op::kReshape, {node.input(0)});
}

/// The shape is input 1 or an option, with -1 for what the other dimensions leave; the recorded one if neither is
/// known.
void ImportReshape(frontend::TfliteNode& node) {
  if (!node.CheckArity(1, 2, 1)) return;
  const auto* options = node.options<tflite::ReshapeOptions>();
  Dims dims = node.tensor(node.output(0)).dims;
  if (node.has_input(1) && node.tensor(node.input(1)).is_constant()) {
    const auto values = node.ConstantInts(1);
    if (!values) return;
    dims.assign(values->begin(), values->end());
  } else if (options != nullptr && options->new_shape() != nullptr) {
    dims.assign(options->new_shape()->begin(), options->new_shape()->end());
  }
  int64_t known = 1;
  for (const int32_t dim : dims)
    if (dim > 0 && known <= std::numeric_limits<int32_t>::max()) known *= dim;
  for (int32_t& dim : dims)
    if (dim == -1) dim = static_cast<int32_t>(node.tensor(node.input(0)).element_count() / known);
  AddReshape(node, dims);
}

/// Drops the dimensions that the options name, or all of size 1.
void ImportSqueeze(frontend::TfliteNode& node) {
  if (!node.CheckArity(1, 1, 1)) return;
  const Dims& from = node.tensor(node.input(0)).dims;
  const auto* options = node.options<tflite::SqueezeOptions>();
  std::vector<bool> named(from.size(), false);
  const bool all = options == nullptr || options->squeeze_dims() == nullptr || options->squeeze_dims()->size() == 0;
  for (size_t i = 0; !all && i < options->squeeze_dims()->size(); ++i) {
    const auto axis = node.Axis(options->squeeze_dims()->Get(static_cast<uint32_t>(i)), from.size());
    if (!axis) return;
    named[*axis] = true;
  }
  Dims dims;
  for (size_t d = 0; d < from.size(); ++d)
    if (all ? from[d] != 1 : !named[d]) dims.push_back(from[d]);
  AddReshape(node, dims);
}

void ImportExpandDims(frontend::TfliteNode& node) {
  if (!node.CheckArity(2, 2, 1)) return;
  const auto axes = node.ConstantInts(1);
  Dims dims = node.tensor(node.input(0)).dims;
  if (!axes) return;
  if (axes->size() != 1) return node.Error("takes one axis", node.input(1));
  const auto axis = node.Axis((*axes)[0], dims.size() + 1);
  if (!axis) return;
  dims.insert(dims.begin() + static_cast<ptrdiff_t>(*axis), 1);
  AddReshape(node, dims);
}

void ImportConcatenation(frontend::TfliteNode& node) {
  if (!node.CheckArity(1, 64, 1)) return;
  const auto* options = node.options<tflite::ConcatenationOptions>();
  const auto axis = node.Axis(options ? options->axis() : 0, node.tensor(node.input(0)).dims.size());
  if (!axis) return;
  std::vector<TensorId> parts;
  for (int i = 0; i < node.input_count(); ++i) {
    if (!node.has_input(i)) return node.Error("input " + std::to_string(i) + " is absent; the operator needs it");
    if (node.tensor(node.input(i)).element_count() != 0) parts.push_back(node.ToOutputScale(node.input(i)));
  }
  node.Add(Op::kConcatenation, parts, {{"axis", static_cast<int64_t>(*axis)}});
}

void ImportSlice(frontend::TfliteNode& node) {
  if (!node.CheckArity(3, 3, 1)) return;
  const auto begin = node.ConstantInts(1);
  if (begin)
    node.Add(Op::kSlice, {node.input(0)}, {{"begin", *begin}, {"strides", std::vector<int64_t>(begin->size(), 1)}});
}

void ImportOnnxReshape(frontend::OnnxNode& node) {
  if (!node.CheckInputs(1, 2) || !node.CheckOutputs(1)) return;
  const std::vector<int32_t> from = node.dims(node.input(0));
  std::vector<int64_t> shape = node.Ints("shape", {});
  if (node.has_input(1)) {
    const auto values = node.ConstantInts(1);
    if (!values) return;
    shape = *values;
  }
  int64_t known = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0 && i < from.size() && node.Int("allowzero", 0) == 0) shape[i] = from[i];
    if (shape[i] < -1 || shape[i] > std::numeric_limits<int32_t>::max() || known > (int64_t{1} << 31)) {
      return node.Error("shape has the value " + std::to_string(shape[i]));
    }
    if (shape[i] != -1) known *= shape[i];
  }
  const int64_t count = node.tensor(node.input(0)).element_count();
  std::vector<int32_t> dims;
  for (int64_t size : shape) dims.push_back(static_cast<int32_t>(size == -1 && known > 0 ? count / known : size));
  node.SetOutput(0, node.Reshape(node.input(0), dims));
}

void ImportOnnxFlatten(frontend::OnnxNode& node) {
  if (!node.CheckInputs(1, 1) || !node.CheckOutputs(1)) return;
  const std::vector<int32_t> from = node.dims(node.input(0));
  const auto rank = static_cast<int64_t>(from.size());
  const int64_t axis = node.Int("axis", 1);
  if (axis < -rank || axis > rank)
    return node.Error("axis " + std::to_string(axis) + " is outside of " + DimsText(from));
  std::vector<int32_t> dims = {1, 1};
  for (int64_t i = 0; i < rank; ++i) dims[i < (axis < 0 ? axis + rank : axis) ? 0 : 1] *= from[static_cast<size_t>(i)];
  node.SetOutput(0, node.Reshape(node.input(0), dims));
}

/// Axes are an attribute before opset 13, an input from then on. `given` is false if there are none.
std::optional<std::vector<int64_t>> OnnxAxes(frontend::OnnxNode& node, size_t rank, bool& given) {
  given = node.Has("axes") || node.has_input(1);
  if (!given) return std::vector<int64_t>();
  const auto axes = node.has_input(1) ? node.ConstantInts(1) : node.Ints("axes", {});
  return axes ? node.Axes(*axes, rank) : std::nullopt;
}

void ImportOnnxSqueeze(frontend::OnnxNode& node) {
  if (!node.CheckInputs(1, 2) || !node.CheckOutputs(1)) return;
  const std::vector<int32_t> from = node.dims(node.input(0));
  bool given = false;
  const auto axes = OnnxAxes(node, from.size(), given);
  if (!axes) return;
  std::vector<int32_t> dims;
  for (size_t i = 0; i < from.size(); ++i) {
    const bool named = std::find(axes->begin(), axes->end(), static_cast<int64_t>(i)) != axes->end();
    if (named && from[i] != 1)
      return node.Error("dimension " + std::to_string(i) + " of " + DimsText(from) + " is not 1");
    if (given ? !named : from[i] != 1) dims.push_back(from[i]);
  }
  node.SetOutput(0, node.Reshape(node.input(0), dims));
}

void ImportOnnxUnsqueeze(frontend::OnnxNode& node) {
  if (!node.CheckInputs(1, 2) || !node.CheckOutputs(1)) return;
  std::vector<int32_t> dims = node.dims(node.input(0));
  const auto count = node.has_input(1) ? node.tensor(node.input(1)).element_count()
                                       : static_cast<int64_t>(node.Ints("axes", {}).size());
  bool given = false;
  const auto axes = OnnxAxes(node, dims.size() + static_cast<size_t>(count), given);
  if (!axes) return;
  for (int64_t axis : *axes) dims.insert(dims.begin() + axis, 1);
  node.SetOutput(0, node.Reshape(node.input(0), dims));
}

void ImportOnnxConcat(frontend::OnnxNode& node) {
  if (!node.CheckInputs(1, 64) || !node.CheckOutputs(1)) return;
  const auto axis = node.Axis(node.Int("axis", 1), node.dims(node.input(0)).size());
  if (!axis) return;
  std::vector<TensorId> parts;
  for (int i = 0; i < node.input_count(); ++i) parts.push_back(node.input(i));
  node.SetOutput(0, node.Emit(Op::kConcatenation, parts, {{"axis", static_cast<int64_t>(*axis)}}));
}

/// Starts, ends, axes and steps are attributes before opset 10, inputs from then on.
void ImportOnnxSlice(frontend::OnnxNode& node) {
  if (!node.CheckInputs(1, 5) || !node.CheckOutputs(1)) return;
  const std::vector<int32_t> from = node.dims(node.input(0));
  const char* const names[] = {"", "starts", "ends", "axes", "steps"};
  std::vector<int64_t> lists[5];
  for (int i = 1; i < 5; ++i) {
    const auto values = node.has_input(i) ? node.ConstantInts(i) : node.Ints(names[i], {});
    if (!values) return;
    lists[i] = *values;
  }
  const size_t count = lists[1].size();
  if (lists[3].empty()) lists[3].resize(count), std::iota(lists[3].begin(), lists[3].end(), 0);
  if (lists[4].empty()) lists[4].assign(count, 1);
  if (lists[2].size() != count || lists[3].size() != count || lists[4].size() != count) {
    return node.Error("starts, ends, axes and steps differ in length");
  }
  std::vector<OnnxRange> ranges;
  for (size_t i = 0; i < count; ++i) {
    const auto axis = node.Axis(lists[3][i], from.size());
    if (!axis) return;
    ranges.push_back({*axis, lists[1][i], lists[2][i], lists[4][i]});
  }
  if (!node.Axes(lists[3], from.size())) return;
  node.SetOutput(0, SliceOnnx(node, node.input(0), ranges));
}

/// Sizes are an attribute before opset 13, an input from then on; without them the parts are equal.
void ImportOnnxSplit(frontend::OnnxNode& node) {
  if (!node.CheckInputs(1, 2)) return;
  const std::vector<int32_t> from = node.dims(node.input(0));
  const auto axis = node.Axis(node.Int("axis", 0), from.size());
  if (!axis) return;
  std::vector<int64_t> sizes = node.Ints("split", {});
  if (node.has_input(1)) {
    const auto values = node.ConstantInts(1);
    if (!values) return;
    sizes = *values;
  }
  const int64_t parts = node.output_count();
  if (sizes.empty()) {
    const int64_t size = (from[*axis] + parts - 1) / parts;
    sizes.assign(static_cast<size_t>(parts), size);
    sizes.back() = from[*axis] - size * (parts - 1);
  }
  if (static_cast<int64_t>(sizes.size()) != parts) return node.Error("has another number of sizes than of outputs");
  std::vector<int64_t> begin(from.size(), 0);
  for (int i = 0; i < parts; ++i) {
    std::vector<int32_t> dims = from;
    const int64_t size = sizes[static_cast<size_t>(i)];
    if (size < 1 || size > from[*axis]) return node.Error("has a part of size " + std::to_string(size));
    dims[*axis] = static_cast<int32_t>(size);
    node.SetOutput(i, node.EmitShaped(Op::kSlice, node.input(0), dims,
                                      {{"begin", begin}, {"strides", std::vector<int64_t>(from.size(), 1)}}));
    begin[*axis] += size;
  }
}

bool CommuteConcatenation(std::span<const int64_t> permutation, Node& node) {
  node.attributes["axis"] = permutation[static_cast<size_t>(node.Int("axis"))];
  return true;
}

bool CommuteSlice(std::span<const int64_t> permutation, Node& node) {
  PermuteValues(permutation, "begin", node);
  PermuteValues(permutation, "strides", node);
  return true;
}

constexpr AttributeRule kConcatenationAttributes[] = {{"axis", AttributeKind::kInt, true}};
constexpr AttributeRule kSliceAttributes[] = {{"begin", AttributeKind::kInts, true},
                                              {"strides", AttributeKind::kInts, true}};
constexpr TfliteImport kReshapeTflite[] = {
    {22, "RESHAPE", ImportReshape}, {43, "SQUEEZE", ImportSqueeze}, {70, "EXPAND_DIMS", ImportExpandDims}};
constexpr TfliteImport kConcatenationTflite[] = {{2, "CONCATENATION", ImportConcatenation}, {83, "PACK", ImportPack}};
constexpr TfliteImport kSliceTflite[] = {{65, "SLICE", ImportSlice},
                                         {45, "STRIDED_SLICE", ImportStridedSlice},
                                         {49, "SPLIT", ImportSplit},
                                         {102, "SPLIT_V", ImportSplitV},
                                         {88, "UNPACK", ImportUnpack}};
constexpr OnnxImport kReshapeOnnx[] = {{"Reshape", 1, ImportOnnxReshape},
                                       {"Flatten", 1, ImportOnnxFlatten},
                                       {"Squeeze", 1, ImportOnnxSqueeze},
                                       {"Unsqueeze", 1, ImportOnnxUnsqueeze}};
constexpr OnnxImport kConcatenationOnnx[] = {{"Concat", 1, ImportOnnxConcat}};
constexpr OnnxImport kSliceOnnx[] = {{"Slice", 1, ImportOnnxSlice}, {"Split", 1, ImportOnnxSplit}};

}  // namespace

extern const OpDef kReshapeDef;
extern const OpDef kConcatenationDef;
extern const OpDef kSliceDef;
const OpDef kReshapeDef = {Op::kReshape,    {},           InferReshape, nullptr,           kReshapeTflite,
                           NpuClass::kNone, kReshapeOnnx, nullptr,      QuantRule::kShared};
const OpDef kConcatenationDef = {
    Op::kConcatenation, kConcatenationAttributes, InferConcatenation,   nullptr,           kConcatenationTflite,
    NpuClass::kNone,    kConcatenationOnnx,       CommuteConcatenation, QuantRule::kShared};
const OpDef kSliceDef = {Op::kSlice,      kSliceAttributes, InferSlice,   nullptr,           kSliceTflite,
                         NpuClass::kNone, kSliceOnnx,       CommuteSlice, QuantRule::kShared};

}  // namespace takt::ir
