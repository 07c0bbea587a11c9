#include "converter/ops/index_map.h"

#include <algorithm>
#include <string>

#include "converter/ir/constants.h"
#include "converter/ir/size_limits.h"
#include "engine/core/kernel.h"

namespace takt::ir {
namespace {

std::vector<int32_t> DimsAfter(std::vector<int32_t> dims, const std::vector<AxisMap>& maps) {
  for (const AxisMap& map : maps) dims[map.axis] = static_cast<int32_t>(map.cells.size());
  return dims;
}

/// `times` times the cells 0 .. size - 1.
std::optional<AxisMap> Repeated(frontend::TfliteNode& node, size_t axis, int64_t size, int64_t times) {
  if (!MapFits(node, axis, size, times)) return std::nullopt;
  AxisMap map{axis, {}};
  for (int64_t i = 0; i < size * times; ++i) map.cells.push_back(static_cast<int32_t>(i % size));
  return map;
}

/// The operator's output is `x` with each map applied.
void MapToOutput(frontend::TfliteNode& node, TensorId x, const std::vector<AxisMap>& maps) {
  if (!node.SetDims(0, DimsAfter(node.tensor(x).dims, maps))) return;
  if (maps.empty())
    node.Add(Op::kCopy, {x});
  else
    ApplyMaps(node, x, maps, node.output(0));
}

}  // namespace

bool MapFits(frontend::TfliteNode& node, size_t axis, int64_t cells, int64_t times) {
  if (cells >= 1 && times >= 1) return MayMake(node, DataType::kInt32, {cells, times}, node.output(0));
  node.Error("makes no cells of dimension " + std::to_string(axis) + "; it has at least one");
  return false;
}

TensorId ApplyMaps(frontend::TfliteNode& node, TensorId x, const std::vector<AxisMap>& maps, TensorId to) {
  int64_t between = 0;
  for (size_t i = 0; i < maps.size(); ++i) {
    Tensor part = node.tensor(x);
    const std::string axis = std::to_string(maps[i].axis);
    int32_t& cells = part.dims[maps[i].axis];
    cells = static_cast<int32_t>(maps[i].cells.size());
    const bool last = i + 1 == maps.size();
    if (!last) between += part.byte_size();
    const TensorId y = last && to != kNoTensor ? to : node.NewTensor(part, "/axis" + axis);
    const TensorId indices = node.graph().AddConstant(node.tensor(node.output(0)).name + "/cells" + axis,
                                                      DataType::kInt32, {cells}, ToBytes(maps[i].cells));
    node.AddTo(Op::kGather, {x, indices}, {y}, {{"axis", static_cast<int64_t>(maps[i].axis)}});
    x = y;
  }
  if (!maps.empty())
    node.Note("becomes " + std::to_string(maps.size()) + " gathers of constant indices, with " +
              std::to_string(between) + " bytes between them");
  return x;
}

void ImportTile(frontend::TfliteNode& node) {
  if (!node.CheckArity(2, 2, 1)) return;
  const auto times = node.ConstantInts(1);
  const std::vector<int32_t> dims = node.tensor(node.input(0)).dims;
  if (!times) return;
  if (times->size() != dims.size()) return node.Error("has other than one multiple for each dimension of its input");
  std::vector<AxisMap> maps;
  for (size_t i = 0; i < dims.size(); ++i) {
    if ((*times)[i] == 1) continue;
    auto map = Repeated(node, i, dims[i], (*times)[i]);
    if (!map) return;
    maps.push_back(std::move(*map));
  }
  MapToOutput(node, node.input(0), maps);
}

void ImportBroadcastTo(frontend::TfliteNode& node) {
  if (!node.CheckArity(2, 2, 1)) return;
  const auto shape = node.ConstantInts(1);
  if (!shape) return;
  Tensor x = node.tensor(node.input(0));
  TensorId from = node.input(0);
  if (shape->size() < x.dims.size() || shape->size() > kMaxRank)
    return node.Error("broadcasts " + DimsText(x.dims) + " to " + std::to_string(shape->size()) +
                      " dimensions; allowed are the input's up to 6");
  if (shape->size() > x.dims.size()) {
    x.dims.insert(x.dims.begin(), shape->size() - x.dims.size(), 1);
    const TensorId raised = node.NewTensor(x, "/raised");
    node.AddTo(Op::kReshape, {from}, {raised});
    from = raised;
  }
  std::vector<AxisMap> maps;
  for (size_t i = 0; i < shape->size(); ++i) {
    if ((*shape)[i] == x.dims[i]) continue;
    if (x.dims[i] != 1)
      return node.Error("cannot broadcast dimension " + std::to_string(i) + " of " + DimsText(x.dims));
    auto map = Repeated(node, i, 1, (*shape)[i]);
    if (!map) return;
    maps.push_back(std::move(*map));
  }
  MapToOutput(node, from, maps);
}

void ImportReverse(frontend::TfliteNode& node) {
  if (!node.CheckArity(2, 2, 1)) return;
  const auto axes = node.ConstantInts(1);
  const std::vector<int32_t> dims = node.tensor(node.input(0)).dims;
  if (!axes) return;
  std::vector<AxisMap> maps;
  for (const int64_t given : *axes) {
    const auto axis = node.Axis(given, dims.size());
    if (!axis || !MapFits(node, *axis, dims[*axis])) return;
    AxisMap map{*axis, {}};
    for (int32_t i = dims[*axis]; i-- > 0;) map.cells.push_back(i);
    maps.push_back(std::move(map));
  }
  MapToOutput(node, node.input(0), maps);
}

/// REFLECT mirrors about the centre of the border cell, SYMMETRIC about its edge.
void ImportMirrorPad(frontend::TfliteNode& node) {
  if (!node.CheckArity(2, 2, 1)) return;
  const auto pads = node.ConstantInts(1);
  const auto* options = node.options<tflite::MirrorPadOptions>();
  const std::vector<int32_t> dims = node.tensor(node.input(0)).dims;
  if (!pads) return;
  if (pads->size() != 2 * dims.size()) return node.Error("has other than two pads for each dimension of its input");
  const int64_t edge = options != nullptr && options->mode() == tflite::MirrorPadMode::SYMMETRIC ? 1 : 0;
  std::vector<AxisMap> maps;
  for (size_t d = 0; d < dims.size(); ++d) {
    const int64_t before = (*pads)[2 * d], after = (*pads)[2 * d + 1], size = dims[d], most = size - 1 + edge;
    if (before < 0 || after < 0 || before > most || after > most)
      return node.Error("pads dimension " + std::to_string(d) + " by " + std::to_string(before) + " and " +
                        std::to_string(after) + " cells; a mirror of " + std::to_string(size) + " cells has " +
                        std::to_string(most));
    if (before == 0 && after == 0) continue;
    if (!MapFits(node, d, before + size + after)) return;
    AxisMap map{d, {}};
    for (int64_t i = -before; i < size + after; ++i)
      map.cells.push_back(static_cast<int32_t>(i < 0 ? -i - edge : i < size ? i : 2 * (size - 1) - i + edge));
    maps.push_back(std::move(map));
  }
  MapToOutput(node, node.input(0), maps);
}

}  // namespace takt::ir
