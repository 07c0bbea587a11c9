#include "converter/ops/onnx_index_map.h"

#include <algorithm>
#include <string>

#include "converter/ir/constants.h"
#include "converter/ir/size_limits.h"
#include "engine/core/kernel.h"

namespace takt::ir {
namespace {

using frontend::OnnxNode;

bool IsWhole(const AxisMap& map, int32_t size) {
  if (map.cells.size() != static_cast<size_t>(size)) return false;
  for (int32_t i = 0; i < size; ++i)
    if (map.cells[static_cast<size_t>(i)] != i) return false;
  return true;
}

/// `times` times the cells 0 .. size - 1; reports too many.
bool Repeat(OnnxNode& node, size_t axis, int64_t size, int64_t times, std::vector<AxisMap>& maps) {
  if (times < 1) return node.Error("makes no cells of dimension " + std::to_string(axis)), false;
  if (!MayMake(node, DataType::kInt32, {size, times}, node.input(0))) return false;
  AxisMap map{axis, {}};
  for (int64_t i = 0; i < size * times; ++i) map.cells.push_back(static_cast<int32_t>(i % size));
  maps.push_back(std::move(map));
  return true;
}

}  // namespace

TensorId ApplyOnnxMaps(OnnxNode& node, TensorId x, const std::vector<AxisMap>& maps) {
  for (const AxisMap& map : maps) {
    if (node.failed() || IsWhole(map, node.dims(x)[map.axis])) continue;
    const TensorId cells =
        node.Constant(DataType::kInt32, {static_cast<int32_t>(map.cells.size())}, ToBytes(map.cells));
    x = node.Emit(Op::kGather, {x, cells}, {{"axis", static_cast<int64_t>(map.axis)}});
  }
  return x;
}

TensorId SliceOnnx(OnnxNode& node, TensorId x, const std::vector<OnnxRange>& ranges) {
  if (node.failed()) return kNoTensor;
  std::vector<int32_t> dims = node.dims(x);
  std::vector<int64_t> begin(dims.size(), 0), strides(dims.size(), 1);
  std::vector<AxisMap> maps;  // Of negative steps.
  for (const OnnxRange& r : ranges) {
    const int64_t size = dims[r.axis];
    const bool forward = r.step > 0;
    const auto bound = [&](int64_t at) {
      return std::clamp<int64_t>(at < 0 ? at + size : at, forward ? 0 : -1, forward ? size : size - 1);
    };
    const int64_t first = bound(r.start), last = bound(r.end);
    const int64_t length = forward ? last - first : first - last;
    if (r.step == 0) return node.Error("has a step of 0"), kNoTensor;
    if (length < 1)
      return node.Error("gives no elements along dimension " + std::to_string(r.axis) + "; tensors must not be empty"),
             kNoTensor;
    const int64_t step = std::clamp(r.step, -size, size);
    if (forward) {
      begin[r.axis] = first;
      strides[r.axis] = step;
      dims[r.axis] = static_cast<int32_t>((length - 1) / step + 1);
      continue;
    }
    if (!MayMake(node, DataType::kInt32, {length}, x)) return kNoTensor;
    maps.push_back({r.axis, {}});
    for (int64_t i = first; i > last; i += step) maps.back().cells.push_back(static_cast<int32_t>(i));
  }
  if (dims != node.dims(x)) x = node.EmitShaped(Op::kSlice, x, dims, {{"begin", begin}, {"strides", strides}});
  return ApplyOnnxMaps(node, x, maps);
}

TensorId PadOnnxByCells(OnnxNode& node, TensorId x, const std::vector<int64_t>& before,
                        const std::vector<int64_t>& after, const std::string& mode) {
  std::vector<AxisMap> maps;
  for (size_t d = 0; d < before.size() && !node.failed(); ++d) {
    const int64_t size = node.dims(x)[d];
    const int64_t most = mode == "reflect" ? size - 1 : mode == "wrap" ? size : kMostMadeElements;
    if (size < 1 || before[d] > most || after[d] > most) {
      node.Error("pads dimension " + std::to_string(d) + " by " + std::to_string(std::max(before[d], after[d])) +
                 " cells; mode " + mode + " has " + std::to_string(most) + " of " + std::to_string(size));
      return kNoTensor;
    }
    if (!MayMake(node, DataType::kInt32, {before[d] + size + after[d]}, x)) return kNoTensor;
    AxisMap map{d, {}};
    for (int64_t i = -before[d]; i < size + after[d]; ++i) {
      int64_t cell = std::clamp<int64_t>(i, 0, size - 1);
      if (mode == "wrap") cell = (i + size) % size;
      if (mode == "reflect" && i != cell) cell = i < 0 ? -i : 2 * (size - 1) - i;
      map.cells.push_back(static_cast<int32_t>(cell));
    }
    maps.push_back(std::move(map));
  }
  return ApplyOnnxMaps(node, x, maps);
}

/// From opset 6 on a count for each dimension; before, a count (input 1) for one axis (input 2).
void ImportOnnxTile(OnnxNode& node) {
  if (!node.CheckInputs(2, 3) || !node.CheckOutputs(1)) return;
  const std::vector<int32_t> dims = node.dims(node.input(0));
  auto times = node.ConstantInts(1);
  if (!times) return;
  if (node.opset() < 6) {
    const auto axis = node.has_input(2) ? node.ConstantInts(2) : std::nullopt;
    if (!axis || axis->size() != 1 || times->size() != 1) return node.Error("needs one count and one axis");
    const auto at = node.Axis((*axis)[0], dims.size());
    if (!at) return;
    std::vector<int64_t> all(dims.size(), 1);
    all[*at] = (*times)[0];
    times = all;
  }
  if (times->size() != dims.size()) return node.Error("has other than one count for each dimension of its input");
  std::vector<AxisMap> maps;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (!Repeat(node, d, dims[d], (*times)[d], maps)) return;
  }
  node.SetOutput(0, ApplyOnnxMaps(node, node.input(0), maps));
}

/// To the shape to which the input's and the given one broadcast.
void ImportOnnxExpand(OnnxNode& node) {
  if (!node.CheckInputs(2, 2) || !node.CheckOutputs(1)) return;
  const auto shape = node.ConstantInts(1);
  if (!shape) return;
  std::vector<int32_t> dims = node.dims(node.input(0));
  if (shape->size() > kMaxRank) return node.Error("expands to more than 6 dimensions");
  while (dims.size() < shape->size()) dims.insert(dims.begin(), 1);
  const TensorId x = node.Reshape(node.input(0), dims);
  std::vector<AxisMap> maps;
  for (size_t i = 0; i < shape->size(); ++i) {
    const size_t d = dims.size() - shape->size() + i;
    if ((*shape)[i] == dims[d] || (*shape)[i] == 1) continue;
    if (dims[d] != 1)
      return node.Error("cannot expand dimension " + std::to_string(d) + " of " + DimsText(dims) + " to " +
                        std::to_string((*shape)[i]));
    if (!Repeat(node, d, 1, (*shape)[i], maps)) return;
  }
  node.SetOutput(0, ApplyOnnxMaps(node, x, maps));
}

/// Cells along an axis, or of the flattened input, for which a constant condition holds.
void ImportOnnxCompress(OnnxNode& node) {
  if (!node.CheckInputs(2, 2) || !node.CheckOutputs(1)) return;
  const auto condition = node.ConstantInts(1);
  if (!condition) return;
  TensorId x = node.input(0);
  if (!node.Has("axis")) x = node.Reshape(x, {static_cast<int32_t>(node.tensor(x).element_count())});
  const auto axis = node.Axis(node.Has("axis") ? node.Int("axis", 0) : 0, node.dims(x).size());
  if (!axis) return;
  AxisMap map{*axis, {}};
  for (size_t i = 0; i < condition->size() && i < static_cast<size_t>(node.dims(x)[*axis]); ++i) {
    if ((*condition)[i] != 0) map.cells.push_back(static_cast<int32_t>(i));
  }
  if (map.cells.empty()) return node.Error("keeps no cell; tensors must not be empty");
  node.SetOutput(0, ApplyOnnxMaps(node, x, {map}));
}

}  // namespace takt::ir
