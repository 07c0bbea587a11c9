#include "converter/ops/indexed.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "converter/ir/constants.h"
#include "converter/ir/size_limits.h"

namespace takt::ir {
namespace {

using Dims = std::vector<int32_t>;

std::vector<int64_t> Wide(const Dims& dims) {
  return {dims.begin(), dims.end()};
}

/// The dims that constant `input` gives, each at least 1, of a constant that may be made; reports others.
std::optional<Dims> GivenDims(frontend::TfliteNode& node, int input) {
  const auto values = node.ConstantInts(input);
  if (!values) return std::nullopt;
  if (!std::all_of(values->begin(), values->end(), [](int64_t dim) { return dim >= 1; })) {
    node.Error("gives a shape without elements", node.input(input));
    return std::nullopt;
  }
  if (!MayMake(node, node.tensor(node.output(0)).type, *values, node.input(input))) return std::nullopt;
  return Dims(values->begin(), values->end());
}

TensorId Reshaped(frontend::TfliteNode& node, TensorId x, const Dims& dims, const std::string& suffix) {
  Tensor like = node.tensor(x);
  if (like.dims == dims) return x;
  like.dims = dims;
  const TensorId to = node.NewTensor(like, suffix);
  node.AddTo(Op::kReshape, {x}, {to});
  return to;
}

/// A constant of the output's type and shape with copies of one value; kNoTensor, reported, if it is too large.
TensorId Filled(frontend::TfliteNode& node, const Bytes& value) {
  Tensor like = node.tensor(node.output(0));
  if (!MayMake(node, like.type, Wide(like.dims), node.output(0))) return kNoTensor;
  Bytes bytes;
  for (int64_t i = 0; i < like.element_count(); ++i) bytes.insert(bytes.end(), value.begin(), value.end());
  const TensorId id = node.NewTensor(like, "/initial");
  node.graph().tensor(id).data = std::make_shared<const Bytes>(std::move(bytes));
  return id;
}

/// Index rows [N, 1] from segment numbers [N].
TensorId Rows(frontend::TfliteNode& node, TensorId ids) {
  Dims dims = node.tensor(ids).dims;
  dims.push_back(1);
  return Reshaped(node, ids, dims, "/rows");
}

template <typename T>
Bytes OneValue(T value) {
  return ToBytes(std::vector<T>{value});
}

/// What the function leaves as it is: 1, the least or the greatest value of the type.
std::optional<Bytes> Neutral(const std::string& function, DataType type) {
  const auto of = [&function]<typename T>(T) {
    using Limits = std::numeric_limits<T>;
    return OneValue(function == "multiply" ? T{1} : function == "maximum" ? Limits::lowest() : Limits::max());
  };
  switch (type) {
    case DataType::kFloat32:
      return of(float{});
    case DataType::kInt32:
      return of(int32_t{});
    case DataType::kInt64:
      return of(int64_t{});
    default:
      return std::nullopt;
  }
}

/// Inputs: data, segment numbers, how many segments there are.
void ImportUnsortedSegment(frontend::TfliteNode& node, const std::string& function) {
  if (!node.CheckArity(3, 3, 1)) return;
  const auto segments = GivenDims(node, 2);
  if (!segments) return;
  if (segments->size() != 1) return node.Error("takes one number of segments", node.input(2));
  const Tensor &data = node.tensor(node.input(0)), &ids = node.tensor(node.input(1));
  const size_t rank = ids.dims.size();
  if (rank > data.dims.size() || !std::equal(ids.dims.begin(), ids.dims.end(), data.dims.begin()))
    return node.Error("has segment numbers of shape " + DimsText(ids.dims) + ", which do not lead " +
                      DimsText(data.dims));
  Dims dims(data.dims.begin() + static_cast<ptrdiff_t>(rank), data.dims.end());
  dims.insert(dims.begin(), (*segments)[0]);
  if (!node.SetDims(0, dims)) return;
  std::vector<TensorId> inputs = {node.input(0), Rows(node, node.input(1))};
  if (function != "add") {
    const auto neutral = Neutral(function, node.tensor(node.output(0)).type);
    if (!neutral) return node.Error("is supported on float32, int32 and int64", node.output(0));
    inputs.push_back(Filled(node, *neutral));
    if (inputs.back() == kNoTensor) return;
  }
  node.Add(Op::kScatterNd, inputs, {{"function", function}, {"size", Wide(dims)}});
}

}  // namespace

/// Inputs: indices, updates, the output's shape. Updates of one place are summed.
void ImportScatterNd(frontend::TfliteNode& node) {
  if (!node.CheckArity(3, 3, 1)) return;
  const auto dims = GivenDims(node, 2);
  if (!dims || !node.SetDims(0, *dims)) return;
  const bool adds = node.tensor(node.output(0)).type != DataType::kBool;
  const std::map<std::string, Attribute> attributes = {{"function", std::string(adds ? "add" : "replace")},
                                                       {"size", Wide(*dims)}};
  if (!node.tensor(node.output(0)).quantization) {
    node.Add(Op::kScatterNd, {node.input(1), node.input(0)}, attributes);
    return;
  }
  node.AddFloat(Op::kScatterNd, {node.ToFloat(node.input(1)), node.input(0)}, attributes);
}

/// Inputs: indices (one, a list, or rows of one for each dimension), the output's shape, values (or one), the default.
void ImportSparseToDense(frontend::TfliteNode& node) {
  if (!node.CheckArity(4, 4, 1)) return;
  const auto dims = GivenDims(node, 1);
  if (!dims || !node.SetDims(0, *dims)) return;
  const Tensor& fallback = node.tensor(node.input(3));
  if (!fallback.is_constant() || fallback.element_count() != 1)
    return node.Error("needs one constant default", node.input(3));
  const TensorId initial = Filled(node, *fallback.data);
  if (initial == kNoTensor) return;
  Dims rows = node.tensor(node.input(0)).dims;
  if (rows.size() > 2) return node.Error("has indices of more than two dimensions", node.input(0));
  if (rows.size() < 2) rows = {rows.empty() ? 1 : rows[0], 1};
  const TensorId indices = Reshaped(node, node.input(0), rows, "/rows");
  TensorId values = node.input(2);
  if (node.tensor(values).dims.empty() && rows[0] > 1) {
    const Tensor& one = node.tensor(values);
    if (!one.is_constant()) return node.Error("has one value for several places; it must be constant", values);
    if (!MayMake(node, one.type, {rows[0]}, values)) return;
    Bytes bytes;
    for (int32_t i = 0; i < rows[0]; ++i) bytes.insert(bytes.end(), one.data->begin(), one.data->end());
    Tensor all = one;
    all.dims = {rows[0]};
    values = node.NewTensor(all, "/values");
    node.graph().tensor(values).data = std::make_shared<const Bytes>(std::move(bytes));
  }
  values = Reshaped(node, values, {rows[0]}, "/values");
  node.Add(Op::kScatterNd, {values, indices, initial}, {{"function", std::string("replace")}, {"size", Wide(*dims)}});
}

/// The last segment number, which the output's size follows from, must be known.
void ImportSegmentSum(frontend::TfliteNode& node) {
  if (!node.CheckArity(2, 2, 1)) return;
  const auto ids = node.ConstantInts(1);
  if (!ids) return;
  Dims dims = node.tensor(node.input(0)).dims;
  if (dims.empty() || ids->size() != static_cast<size_t>(dims[0]) || !std::is_sorted(ids->begin(), ids->end()) ||
      ids->front() < 0 || ids->back() >= kMostMadeElements)
    return node.Error("takes a rising segment number from 0 on for each row of its input", node.input(1));
  dims[0] = static_cast<int32_t>(ids->back()) + 1;
  if (!node.SetDims(0, dims)) return;
  node.Add(Op::kScatterNd, {node.input(0), Rows(node, node.input(1))},
           {{"function", std::string("add")}, {"size", Wide(dims)}});
}

void ImportUnsortedSegmentProd(frontend::TfliteNode& node) {
  ImportUnsortedSegment(node, "multiply");
}
void ImportUnsortedSegmentMax(frontend::TfliteNode& node) {
  ImportUnsortedSegment(node, "maximum");
}
void ImportUnsortedSegmentSum(frontend::TfliteNode& node) {
  ImportUnsortedSegment(node, "add");
}
void ImportUnsortedSegmentMin(frontend::TfliteNode& node) {
  ImportUnsortedSegment(node, "minimum");
}

}  // namespace takt::ir
