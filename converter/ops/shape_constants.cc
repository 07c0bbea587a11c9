#include "converter/ops/shape_constants.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "converter/ir/constants.h"

namespace takt::ir {
namespace {

constexpr int64_t kMaxElements = 1 << 24;

/// Output 0 is the constant of these values; its type is int32 or int64.
void SetIntegers(frontend::TfliteNode& node, const std::vector<int64_t>& values) {
  switch (node.tensor(node.output(0)).type) {
    case DataType::kInt32:
      return node.SetConstant(0, ToBytes(std::vector<int32_t>(values.begin(), values.end())));
    case DataType::kInt64:
      return node.SetConstant(0, ToBytes(values));
    default:
      return node.Error("has a result that is neither int32 nor int64", node.output(0));
  }
}

/// A range's value count, at least 1.
std::optional<int64_t> CountOf(frontend::TfliteNode& node, double start, double limit, double delta) {
  const double count = std::ceil((limit - start) / delta);
  if (count >= 1 && count <= static_cast<double>(kMaxElements)) return static_cast<int64_t>(count);
  node.Error("has no values or more than 2^24 between its start and limit");
  return std::nullopt;
}

}  // namespace

void ImportShape(frontend::TfliteNode& node) {
  if (!node.CheckArity(1, 1, 1)) return;
  const std::vector<int32_t> dims = node.tensor(node.input(0)).dims;
  if (node.SetDims(0, {static_cast<int32_t>(dims.size())})) SetIntegers(node, {dims.begin(), dims.end()});
}

void ImportRank(frontend::TfliteNode& node) {
  if (!node.CheckArity(1, 1, 1)) return;
  if (node.SetDims(0, {})) SetIntegers(node, {static_cast<int64_t>(node.tensor(node.input(0)).dims.size())});
}

void ImportZerosLike(frontend::TfliteNode& node) {
  if (!node.CheckArity(1, 1, 1)) return;
  const Tensor& x = node.tensor(node.input(0));
  if (x.type != node.tensor(node.output(0)).type) return node.Error("changes the type of its input", node.output(0));
  if (x.element_count() > kMaxElements) return node.Error("has more than 2^24 elements", node.input(0));
  if (node.SetDims(0, x.dims)) node.SetConstant(0, Bytes(static_cast<size_t>(x.byte_size()), 0));
}

void ImportFill(frontend::TfliteNode& node) {
  if (!node.CheckArity(2, 2, 1)) return;
  const auto dims = node.ConstantInts(0);
  const Tensor& value = node.tensor(node.input(1));
  if (!dims) return;
  if (!value.is_constant() || value.element_count() != 1 || value.type != node.tensor(node.output(0)).type)
    return node.Error("needs one constant value of the output's type", node.input(1));
  int64_t count = 1;
  for (const int64_t dim : *dims) {
    if (dim < 1 || dim > kMaxElements / count) return node.Error("has no elements or more than 2^24", node.input(0));
    count *= dim;
  }
  Bytes bytes;
  for (int64_t i = 0; i < count; ++i) bytes.insert(bytes.end(), value.data->begin(), value.data->end());
  if (node.SetDims(0, {dims->begin(), dims->end()})) node.SetConstant(0, std::move(bytes));
}

void ImportRange(frontend::TfliteNode& node) {
  if (!node.CheckArity(3, 3, 1)) return;
  std::vector<double> v;
  std::vector<float> floats;
  for (int i = 0; i < 3; ++i) {
    const Tensor& t = node.tensor(node.input(i));
    if (!t.is_constant() || t.element_count() != 1 || t.type != node.tensor(node.output(0)).type)
      return node.Error("needs constant values of the output's type", node.input(i));
    if (t.type == DataType::kFloat32) {
      floats.push_back(Elements<float>(t)[0]);
      v.push_back(static_cast<double>(floats.back()));
    } else {
      const auto values = node.ConstantInts(i);
      if (!values) return;
      v.push_back(static_cast<double>((*values)[0]));
    }
  }
  const auto count = CountOf(node, v[0], v[1], v[2]);
  if (!count || !node.SetDims(0, {static_cast<int32_t>(*count)})) return;
  if (floats.empty()) {
    std::vector<int64_t> values;
    for (int64_t i = 0; i < *count; ++i) values.push_back(static_cast<int64_t>(v[0]) + i * static_cast<int64_t>(v[2]));
    return SetIntegers(node, values);
  }
  std::vector<float> values;
  for (float value = floats[0]; values.size() < static_cast<size_t>(*count); value += floats[2])
    values.push_back(value);
  node.SetConstant(0, ToBytes(values));
}

/// The shape that two shapes broadcast to.
void ImportBroadcastArgs(frontend::TfliteNode& node) {
  if (!node.CheckArity(2, 2, 1)) return;
  auto a = node.ConstantInts(0), b = node.ConstantInts(1);
  if (!a || !b) return;
  const size_t rank = std::max(a->size(), b->size());
  a->insert(a->begin(), rank - a->size(), 1);
  b->insert(b->begin(), rank - b->size(), 1);
  for (size_t i = 0; i < rank; ++i) {
    if ((*a)[i] != (*b)[i] && (*a)[i] != 1 && (*b)[i] != 1) return node.Error("has shapes that do not broadcast");
    if ((*a)[i] == 1) (*a)[i] = (*b)[i];
  }
  if (node.SetDims(0, {static_cast<int32_t>(rank)})) SetIntegers(node, *a);
}

/// The values of a vector, each once, in their order, and for each place the number of its value.
void ImportUnique(frontend::TfliteNode& node) {
  if (!node.CheckArity(1, 1, 2)) return;
  const Tensor& x = node.tensor(node.input(0));
  if (!x.is_constant() || x.dims.size() != 1)
    return node.Error("has an output whose size depends on data; only a constant vector is supported", node.input(0));
  const size_t element = BitWidth(x.type) / 8;
  std::vector<Bytes> found;
  std::vector<int64_t> places;
  Bytes bytes;
  for (size_t i = 0; i < x.data->size(); i += element) {
    const Bytes value(x.data->begin() + static_cast<ptrdiff_t>(i),
                      x.data->begin() + static_cast<ptrdiff_t>(i + element));
    const auto at = std::find(found.begin(), found.end(), value);
    places.push_back(at - found.begin());
    if (at != found.end()) continue;
    found.push_back(value);
    bytes.insert(bytes.end(), value.begin(), value.end());
  }
  node.graph().tensor(node.output(0)).dims = {static_cast<int32_t>(found.size())};
  node.graph().tensor(node.output(1)).dims = x.dims;
  const bool narrow = node.tensor(node.output(1)).type == DataType::kInt32;
  node.SetConstant(1, narrow ? ToBytes(std::vector<int32_t>(places.begin(), places.end())) : ToBytes(places));
  node.SetConstant(0, std::move(bytes));
}

void ImportDensify(frontend::TfliteNode& node) {
  if (!node.CheckArity(1, 1, 1)) return;
  const Tensor& x = node.tensor(node.input(0));
  if (!x.is_constant()) return node.Error("makes a computed tensor dense; only constants are sparse", node.input(0));
  node.graph().tensor(node.output(0)).type = x.type;  // float32 for the file's float16.
  if (node.SetDims(0, x.dims)) node.SetConstant(0, *x.data);
}

}  // namespace takt::ir
