#include "converter/ops/onnx_gather.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <string>

#include "converter/ir/constants.h"
#include "converter/ir/size_limits.h"
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
  if (!MayMake(node, DataType::kInt64, {count})) return kNoTensor;
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

namespace {

/// Place in the flattened x of what index [i, j, ..] along `axis` names: x[i, .., index, ..]. Computed at run time
/// where the indices are data.
TensorId FlatPlaces(OnnxNode& node, TensorId indices, const std::vector<int32_t>& x, size_t axis) {
  const std::vector<int32_t> dims = node.dims(indices);
  if (dims.size() != x.size()) return node.Error("indices must have the rank of the data", indices), kNoTensor;
  const OnnxExpression e(node);
  int64_t stride = 1;
  std::vector<int64_t> strides(x.size());
  for (size_t d = x.size(); d-- > 0; stride *= x[d]) strides[d] = stride;
  TensorId at = e.Cast(FromFront(node, indices, x[axis]), DataType::kInt64);
  at = e.Multiply(at, e.IntScalar(at, strides[axis]));
  for (size_t d = 0; d < x.size(); ++d) {
    if (d == axis || dims[d] == 1) continue;
    if (dims[d] > x[d]) return node.Error("indices reach outside of the data", indices), kNoTensor;
    const TensorId range = Range(node, dims[d], d, x.size());
    if (range == kNoTensor) return kNoTensor;
    at = e.Add(at, e.Multiply(range, e.IntScalar(range, strides[d])));
  }
  return at;
}

TensorId Flat(OnnxNode& node, TensorId x) {
  return node.failed() ? kNoTensor : node.Reshape(x, {static_cast<int32_t>(node.tensor(x).element_count())});
}

/// Rows of indices behind `batch_dims` dimensions of x, negative ones from the end.
TensorId RowsFromFront(OnnxNode& node, TensorId indices, const std::vector<int32_t>& x, size_t batch_dims) {
  const std::vector<int32_t> dims = node.dims(indices);
  const int32_t depth = dims.empty() ? 0 : dims.back();
  if (depth < 1 || batch_dims + static_cast<size_t>(depth) > x.size())
    return node.Error("rows of indices must name 1 to " + std::to_string(x.size()) + " dimensions", indices), kNoTensor;
  const OnnxExpression e(node);
  const auto first = x.begin() + static_cast<ptrdiff_t>(batch_dims);
  const TensorId sizes = e.Indices(std::vector<int64_t>(first, first + depth), {depth});
  return e.Binary("floor_modulo", e.Cast(indices, DataType::kInt64), sizes);
}

/// The parts of x that rows of indices name, combined with the updates.
void EmitScatter(OnnxNode& node, TensorId x, TensorId rows, TensorId updates) {
  const std::string reduction = node.String("reduction", "none");
  const std::map<std::string, std::string> functions = {
      {"none", "replace"}, {"add", "add"}, {"mul", "multiply"}, {"max", "maximum"}, {"min", "minimum"}};
  const auto function = functions.find(reduction);
  if (function == functions.end()) return node.Error("reduction " + reduction + " is not supported");
  if (node.failed()) return;
  const std::vector<int32_t> dims = node.dims(x);
  const TensorId y =
      node.Emit(Op::kScatterNd, {updates, rows, x},
                {{"function", function->second}, {"size", std::vector<int64_t>(dims.begin(), dims.end())}});
  node.SetOutput(0, node.Reshape(y, node.dims(node.input(0))));
}

/// [n] as n rows of one index.
TensorId Rows(OnnxNode& node, TensorId places) {
  return node.failed() ? kNoTensor
                       : node.Reshape(places, {static_cast<int32_t>(node.tensor(places).element_count()), 1});
}

}  // namespace

/// A gather from the flattened data.
void ImportOnnxGatherElements(OnnxNode& node) {
  if (!node.CheckInputs(2, 2) || !node.CheckOutputs(1)) return;
  const std::vector<int32_t> x = node.dims(node.input(0));
  const auto axis = node.Axis(node.Int("axis", 0), x.size());
  if (!axis) return;
  const TensorId places = FlatPlaces(node, node.input(1), x, *axis);
  node.SetOutput(0, node.Emit(Op::kGather, {Flat(node, node.input(0)), places}, {{"axis", int64_t{0}}}));
}

void ImportOnnxGatherNd(OnnxNode& node) {
  if (!node.CheckInputs(2, 2) || !node.CheckOutputs(1)) return;
  const std::vector<int32_t> x = node.dims(node.input(0));
  const int64_t batch_dims = node.Int("batch_dims", 0);
  if (batch_dims < 0 || batch_dims >= static_cast<int64_t>(x.size()))
    return node.Error("batch_dims " + std::to_string(batch_dims) + " is not below the rank of the data");
  const TensorId rows = RowsFromFront(node, node.input(1), x, static_cast<size_t>(batch_dims));
  node.SetOutput(0, node.Emit(Op::kGatherNd, {node.input(0), rows}, {{"batch_dims", batch_dims}}));
}

/// A scatter into the flattened data.
void ImportOnnxScatterElements(OnnxNode& node) {
  if (!node.CheckInputs(3, 3) || !node.CheckOutputs(1)) return;
  const std::vector<int32_t> x = node.dims(node.input(0));
  const auto axis = node.Axis(node.Int("axis", 0), x.size());
  if (!axis) return;
  const TensorId rows = Rows(node, FlatPlaces(node, node.input(1), x, *axis));
  EmitScatter(node, Flat(node, node.input(0)), rows, Flat(node, node.input(2)));
}

void ImportOnnxScatterNd(OnnxNode& node) {
  if (!node.CheckInputs(3, 3) || !node.CheckOutputs(1)) return;
  const TensorId rows = RowsFromFront(node, node.input(1), node.dims(node.input(0)), 0);
  EmitScatter(node, node.input(0), rows, node.input(2));
}

/// Indices are places in the flattened result of the pool's inverse; output_shape may add cells after the end.
void ImportOnnxMaxUnpool(OnnxNode& node) {
  if (!node.CheckInputs(2, 3) || !node.CheckOutputs(1)) return;
  const std::vector<int32_t> x = node.dims(node.input(0));
  const size_t rank = x.size() < 3 ? 0 : x.size() - 2;
  const std::vector<int64_t> kernel = node.Ints("kernel_shape", {});
  const std::vector<int64_t> strides = node.Ints("strides", std::vector<int64_t>(rank, 1));
  const std::vector<int64_t> pads = node.Ints("pads", std::vector<int64_t>(2 * rank, 0));
  if (rank == 0 || kernel.size() != rank || strides.size() != rank || pads.size() != 2 * rank)
    return node.Error("kernel_shape, strides and pads must fit the input's spatial dimensions");
  const auto fits = [](int64_t v) { return v >= 0 && v <= kMostMadeElements; };
  for (const auto* sizes : {&kernel, &strides, &pads}) {
    if (!std::all_of(sizes->begin(), sizes->end(), fits))
      return node.Error("kernel_shape, strides and pads must be 0 to 2^24");
  }
  std::vector<int32_t> dims = x;
  int64_t count = int64_t{x[0]} * x[1];
  for (size_t i = 0; i < rank; ++i) {
    const int64_t size = (x[i + 2] - 1) * strides[i] + kernel[i] - pads[i] - pads[i + rank];
    if (size < 1 || size > std::numeric_limits<int32_t>::max() / count)
      return node.Error("gives a dimension of " + std::to_string(size));
    dims[i + 2] = static_cast<int32_t>(size);
    count *= size;
  }
  const TensorId flat = node.Emit(Op::kScatterNd, {Flat(node, node.input(0)), Rows(node, node.input(1))},
                                  {{"function", std::string("replace")}, {"size", std::vector<int64_t>{count}}});
  TensorId y = node.Reshape(flat, dims);
  if (node.has_input(2)) {
    const auto wanted = node.ConstantInts(2);
    if (!wanted) return;
    std::vector<int64_t> after(dims.size(), 0);
    if (wanted->size() != dims.size()) return node.Error("output_shape must have one size for each dimension");
    for (size_t d = 0; d < dims.size(); ++d) {
      if ((*wanted)[d] < dims[d] || (*wanted)[d] > std::numeric_limits<int32_t>::max())
        return node.Error("output_shape cuts the result off, or is larger than a tensor");
      after[d] = (*wanted)[d] - dims[d];
    }
    y = node.Emit(Op::kPad, {y}, {{"before", std::vector<int64_t>(dims.size(), 0)}, {"after", after}});
  }
  node.SetOutput(0, y);
}

/// values[1] where the index, from the front or from the end, is the place along the new axis, else values[0].
void ImportOnnxOneHot(OnnxNode& node) {
  if (!node.CheckInputs(3, 3) || !node.CheckOutputs(1)) return;
  const OnnxExpression e(node);
  std::vector<int32_t> dims = node.dims(node.input(0));
  const auto depth = node.ConstantScalar(1);
  const auto axis = node.Axis(node.Int("axis", -1), dims.size() + 1);
  if (!depth || !axis) return;
  if (!(*depth >= 1 && *depth <= static_cast<double>(kMostMadeElements))) return node.Error("depth must be 1 to 2^24");
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

/// Sorted, also where the order is free. k is an attribute before opset 10, an input from then on.
void ImportOnnxTopK(OnnxNode& node) {
  if (!node.CheckInputs(1, 2) || !node.CheckOutputs(2)) return;
  const OnnxExpression e(node);
  const auto axis = node.Axis(node.Int("axis", -1), node.dims(node.input(0)).size());
  const auto k = node.has_input(1) ? node.ConstantInts(1) : std::vector<int64_t>{node.Int("k", 0)};
  if (!axis || !k) return;
  if (k->size() != 1) return node.Error("k must be one value");
  Tensor places;
  places.type = DataType::kInt64;
  const auto results = node.EmitSeveral(
      Op::kTopK, {e.Widen(node.input(0))}, {Tensor(), places},
      {{"axis", static_cast<int64_t>(*axis)}, {"k", (*k)[0]}, {"smallest", int64_t{node.Int("largest", 1) == 0}}});
  if (node.failed()) return;
  node.SetOutput(0, e.Cast(results[0], node.tensor(node.input(0)).type));
  if (node.output_count() > 1) node.SetOutput(1, results[1]);
}

void ImportOnnxReverseSequence(OnnxNode& node) {
  if (!node.CheckInputs(2, 2) || !node.CheckOutputs(1)) return;
  node.SetOutput(0, node.Emit(Op::kReverseSequence, {node.input(0), node.input(1)},
                              {{"axis", node.Int("time_axis", 0)}, {"batch_axis", node.Int("batch_axis", 1)}}));
}

}  // namespace takt::ir
