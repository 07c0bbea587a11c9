#include "converter/ops/onnx_gather.h"

#include <numeric>

#include "converter/ir/constants.h"
#include "converter/ops/onnx_expression.h"

namespace takt::ir {
namespace {

using frontend::OnnxNode;

/// Indices where negative ones count from the end of a dimension of `size`; constants at once, and as int32.
TensorId FromFront(OnnxNode& node, TensorId indices, int64_t size) {
  if (node.failed()) return kNoTensor;
  const OnnxExpression e(node);
  const Tensor& t = node.tensor(indices);
  if (!t.is_constant()) return e.Binary("floor_modulo", indices, e.IntScalar(indices, size));
  const auto values = IntegerValues(t);
  if (!values) return node.Error("indices must be integers", indices), kNoTensor;
  std::vector<int32_t> cells;
  for (const int64_t i : *values) {
    if (i < -size || i >= size)
      return node.Error("index " + std::to_string(i) + " is outside of a dimension of " + std::to_string(size)),
             kNoTensor;
    cells.push_back(static_cast<int32_t>(i < 0 ? i + size : i));
  }
  return node.Constant(DataType::kInt32, t.dims, ToBytes(cells));
}

/// 0 .. count - 1 along dimension `axis` of `rank`.
TensorId Range(OnnxNode& node, int32_t count, size_t axis, size_t rank) {
  std::vector<int64_t> values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), 0);
  std::vector<int32_t> dims(rank, 1);
  dims[axis] = count;
  return OnnxExpression(node).Indices(values, dims);
}

}  // namespace

void ImportOnnxGather(OnnxNode& node) {
  if (!node.CheckInputs(2, 2) || !node.CheckOutputs(1)) return;
  const std::vector<int32_t> dims = node.dims(node.input(0));
  const auto axis = node.Axis(node.Int("axis", 0), dims.size());
  if (!axis) return;
  node.SetOutput(0, node.Emit(Op::kGather, {node.input(0), FromFront(node, node.input(1), dims[*axis])},
                              {{"axis", static_cast<int64_t>(*axis)}}));
}

/// y[i, j, ..] = x[i, .., index[i, j, ..], ..]: a gather from the flattened x, whose places are computed where the
/// indices are data.
void ImportOnnxGatherElements(OnnxNode& node) {
  if (!node.CheckInputs(2, 2) || !node.CheckOutputs(1)) return;
  const std::vector<int32_t> x = node.dims(node.input(0)), index = node.dims(node.input(1));
  const auto axis = node.Axis(node.Int("axis", 0), x.size());
  if (!axis) return;
  if (index.size() != x.size()) return node.Error("indices must have the rank of the data");
  const OnnxExpression e(node);
  TensorId at = e.Cast(FromFront(node, node.input(1), x[*axis]), DataType::kInt64);
  int64_t stride = 1;
  std::vector<int64_t> strides(x.size());
  for (size_t d = x.size(); d-- > 0; stride *= x[d]) strides[d] = stride;
  at = e.Multiply(at, e.IntScalar(at, strides[*axis]));
  for (size_t d = 0; d < x.size(); ++d) {
    if (d == *axis || index[d] == 1) continue;
    if (index[d] > x[d]) return node.Error("indices reach outside of the data");
    const TensorId range = Range(node, index[d], d, x.size());
    at = e.Add(at, e.Multiply(range, e.IntScalar(range, strides[d])));
  }
  const TensorId flat = node.Reshape(node.input(0), {static_cast<int32_t>(stride)});
  node.SetOutput(0, node.Emit(Op::kGather, {flat, at}, {{"axis", int64_t{0}}}));
}

/// values[1] where the index, from the front or from the end, is the place along the new axis, else values[0].
void ImportOnnxOneHot(OnnxNode& node) {
  if (!node.CheckInputs(3, 3) || !node.CheckOutputs(1)) return;
  const OnnxExpression e(node);
  std::vector<int32_t> dims = node.dims(node.input(0));
  const auto depth = node.ConstantScalar(1);
  const auto axis = node.Axis(node.Int("axis", -1), dims.size() + 1);
  if (!depth || !axis) return;
  if (*depth < 1 || *depth > 1 << 24) return node.Error("depth must be 1 to 2^24");
  if (node.dims(node.input(2)) != std::vector<int32_t>{2}) return node.Error("values must be two");
  const auto count = static_cast<int32_t>(*depth);
  dims.insert(dims.begin() + static_cast<ptrdiff_t>(*axis), 1);
  const TensorId index = node.Reshape(e.Cast(node.input(0), DataType::kInt64), dims);
  const TensorId place = Range(node, count, *axis, dims.size());
  const TensorId inside = e.Logic("disjunction", e.Compare("equal", index, place),
                                  e.Compare("equal", e.Add(index, e.IntScalar(index, count)), place));
  const auto value = [&](int64_t i) {
    return node.EmitShaped(Op::kSlice, node.input(2), {1},
                           {{"begin", std::vector<int64_t>{i}}, {"strides", std::vector<int64_t>{1}}});
  };
  node.SetOutput(0, e.Select(inside, value(1), value(0)));
}

/// 1 at the first of the largest elements, 0 elsewhere: along an axis, before opset 13 over all from it on.
void ImportOnnxHardmax(OnnxNode& node) {
  if (!node.CheckInputs(1, 1) || !node.CheckOutputs(1)) return;
  const OnnxExpression e(node);
  const bool rows = node.opset() < 13;
  const std::vector<int32_t> dims = node.dims(node.input(0));
  auto axis = node.Axis(node.Int("axis", rows ? 1 : -1), dims.size());
  if (!axis) return;
  TensorId x = node.input(0);
  if (rows) {
    std::vector<int32_t> flat = {1, 1};
    for (size_t i = 0; i < dims.size(); ++i) flat[i < *axis ? 0 : 1] *= dims[i];
    x = node.Reshape(x, flat);
    axis = 1;
  }
  std::vector<int32_t> shape = node.dims(x);
  Tensor output;
  output.type = DataType::kInt64;
  TensorId best = node.EmitTyped(Op::kArgReduce, {x}, std::move(output),
                                 {{"axis", static_cast<int64_t>(*axis)}, {"smallest", int64_t{0}}});
  const TensorId range = Range(node, shape[*axis], *axis, shape.size());
  shape[*axis] = 1;
  best = node.Reshape(best, shape);
  node.SetOutput(0, node.Reshape(e.Cast(e.Compare("equal", range, best), node.tensor(x).type), dims));
}

}  // namespace takt::ir
