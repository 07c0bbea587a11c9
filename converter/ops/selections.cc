#include "converter/ops/selections.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "converter/ir/constants.h"
#include "converter/ir/size_limits.h"
#include "converter/ops/quantized_params.h"

namespace takt::ir {
namespace {

using Dims = std::vector<int32_t>;

TensorId Reshaped(frontend::TfliteNode& node, TensorId x, const Dims& dims, const std::string& suffix) {
  Tensor like = node.tensor(x);
  like.dims = dims;
  const TensorId to = node.NewTensor(like, suffix);
  node.AddTo(Op::kReshape, {x}, {to});
  return to;
}

TensorId Constant(frontend::TfliteNode& node, const std::string& suffix, DataType type, Dims dims, Bytes bytes) {
  return node.graph().AddConstant(node.tensor(node.output(0)).name + suffix, type, std::move(dims), std::move(bytes));
}

std::map<std::string, Attribute> Function(const char* name) {
  return {{"function", std::string(name)}};
}

/// Whether row = column, [rows, columns].
TensorId Diagonal(frontend::TfliteNode& node, int32_t rows, int32_t columns) {
  Bytes cells(static_cast<size_t>(rows) * static_cast<size_t>(columns), 0);
  for (int32_t i = 0; i < std::min(rows, columns); ++i)
    cells[static_cast<size_t>(i) * (static_cast<size_t>(columns) + 1)] = 1;
  return Constant(node, "/diagonal", DataType::kBool, {rows, columns}, std::move(cells));
}

/// One stored value of the output's type that means 0.
TensorId Zero(frontend::TfliteNode& node) {
  Tensor zero = node.tensor(node.output(0));
  zero.dims = {};
  Bytes bytes(BitWidth(zero.type) / 8, 0);
  const int32_t stored = ZeroPointOf(zero);
  for (size_t i = 0; i < bytes.size() && i < sizeof(stored); ++i) bytes[i] = static_cast<uint8_t>(stored >> (8 * i));
  const TensorId id = node.NewTensor(zero, "/zero");
  node.graph().tensor(id).data = std::make_shared<const Bytes>(std::move(bytes));
  return id;
}

}  // namespace

/// Inputs: indices, depth, the values for places that an index names and for others.
void ImportOneHot(frontend::TfliteNode& node) {
  if (!node.CheckArity(4, 4, 1)) return;
  const auto depth = node.ConstantInts(1);
  const auto* options = node.options<tflite::OneHotOptions>();
  const Tensor indices = node.tensor(node.input(0));
  const auto axis = node.Axis(options != nullptr ? options->axis() : -1, indices.dims.size() + 1);
  if (!depth || !axis) return;
  if (depth->size() != 1 || (*depth)[0] < 1) return node.Error("takes one depth of at least 1", node.input(1));
  if (!MayMake(node, indices.type, *depth, node.input(1))) return;
  Dims dims = indices.dims, range_dims(dims.size() + 1 - *axis, 1);
  range_dims[0] = static_cast<int32_t>((*depth)[0]);
  dims.insert(dims.begin() + static_cast<ptrdiff_t>(*axis), 1);
  std::vector<int64_t> numbers;
  for (int64_t i = 0; i < (*depth)[0]; ++i) numbers.push_back(i);
  const bool wide = indices.type == DataType::kInt64;
  Bytes bytes = wide ? ToBytes(numbers) : ToBytes(std::vector<int32_t>(numbers.begin(), numbers.end()));
  const TensorId range =
      Constant(node, "/range", wide ? DataType::kInt64 : DataType::kInt32, range_dims, std::move(bytes));
  const TensorId raised = Reshaped(node, node.input(0), dims, "/raised");
  const TensorId hot = node.Emit(Op::kCompare, {raised, range}, Function("equal"));
  const TensorId on = node.ToOutputScale(node.input(2)), off = node.ToOutputScale(node.input(3));
  node.Add(Op::kSelect, {hot, on, off});
}

void ImportMatrixDiag(frontend::TfliteNode& node) {
  if (!node.CheckArity(1, 1, 1)) return;
  Dims dims = node.tensor(node.input(0)).dims;
  if (dims.empty()) return node.Error("takes at least one dimension", node.input(0));
  const int32_t size = dims.back();
  if (!MayMake(node, DataType::kBool, {size, size}, node.output(0))) return;
  dims.insert(dims.end() - 1, 1);
  const TensorId x = Reshaped(node, node.ToOutputScale(node.input(0)), dims, "/raised");
  node.Add(Op::kSelect, {Diagonal(node, size, size), x, Zero(node)});
}

void ImportMatrixSetDiag(frontend::TfliteNode& node) {
  if (!node.CheckArity(2, 2, 1)) return;
  const Dims dims = node.tensor(node.input(0)).dims;
  Dims diagonal = node.tensor(node.input(1)).dims;
  if (dims.size() < 2 || diagonal.size() + 1 != dims.size() ||
      diagonal.back() != std::min(dims.back(), dims[dims.size() - 2]))
    return node.Error("sets a diagonal of shape " + DimsText(diagonal) + " in " + DimsText(dims) +
                      "; it has one value for each row or column, whichever are fewer");
  const int32_t rows = dims[dims.size() - 2], columns = dims.back();
  if (!MayMake(node, DataType::kBool, {rows, columns}, node.output(0))) return;
  const TensorId given = node.ToOutputScale(node.input(1));
  diagonal.insert(diagonal.end() - 1, 1);
  TensorId values = Reshaped(node, given, diagonal, "/raised");
  if (columns > diagonal.back()) {
    std::vector<int64_t> before(dims.size(), 0), after = before;
    after.back() = columns - diagonal.back();
    Tensor padded = node.tensor(values);
    padded.dims.back() = columns;
    const TensorId to = node.NewTensor(padded, "/padded");
    node.AddTo(Op::kPad, {values}, {to}, {{"before", before}, {"after", after}});
    values = to;
  }
  node.Add(Op::kSelect, {Diagonal(node, rows, columns), values, node.ToOutputScale(node.input(0))});
}

/// How many boundaries are not above x.
void ImportBucketize(frontend::TfliteNode& node) {
  if (!node.CheckArity(1, 1, 1)) return;
  const auto* options = node.options<tflite::BucketizeOptions>();
  std::vector<float> boundaries(options != nullptr && options->boundaries() != nullptr ? options->boundaries()->size()
                                                                                       : 0);
  if (boundaries.empty()) return node.Error("has no boundaries; it has at least one");
  std::memcpy(boundaries.data(), options->boundaries()->Data(), boundaries.size() * sizeof(float));
  if (!std::is_sorted(boundaries.begin(), boundaries.end())) return node.Error("has boundaries that do not rise");
  Tensor x = node.tensor(node.input(0));
  x.dims.push_back(1);
  TensorId raised = Reshaped(node, node.input(0), x.dims, "/raised");
  if (x.quantization) {
    raised = node.ToFloat(raised);
  } else if (x.type != DataType::kFloat32) {
    x.type = DataType::kFloat32;
    const TensorId real = node.NewTensor(x, "/float");
    node.AddTo(Op::kCast, {raised}, {real});
    raised = real;
  }
  const TensorId limits =
      Constant(node, "/boundaries", DataType::kFloat32, {static_cast<int32_t>(boundaries.size())}, ToBytes(boundaries));
  const TensorId below = node.Emit(Op::kCompare, {raised, limits}, Function("less"));
  const TensorId reached = node.Emit(Op::kLogic, {below}, Function("negation"));
  Tensor count = node.tensor(reached);
  count.type = DataType::kInt32;
  const TensorId ones = node.NewTensor(count, "/ones");
  node.AddTo(Op::kCast, {reached}, {ones});
  node.Add(Op::kReduce, {ones},
           {{"function", std::string("sum")},
            {"axes", std::vector<int64_t>{static_cast<int64_t>(x.dims.size()) - 1}},
            {"keep_dims", int64_t{0}}});
}

}  // namespace takt::ir
