#include "converter/ops/shape_constants.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "converter/ir/constants.h"
#include "converter/ir/size_limits.h"

namespace takt::ir {
namespace {

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
  if (count >= 1 && count <= static_cast<double>(kMostMadeElements)) return static_cast<int64_t>(count);
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
  if (!MayMake(node, x.type, {x.dims.begin(), x.dims.end()}, node.input(0))) return;
  if (node.SetDims(0, x.dims)) node.SetConstant(0, Bytes(static_cast<size_t>(x.byte_size()), 0));
}

void ImportFill(frontend::TfliteNode& node) {
  if (!node.CheckArity(2, 2, 1)) return;
  const auto dims = node.ConstantInts(0);
  const Tensor& value = node.tensor(node.input(1));
  if (!dims) return;
  if (!value.is_constant() || value.element_count() != 1 || value.type != node.tensor(node.output(0)).type)
    return node.Error("needs one constant value of the output's type", node.input(1));
  if (!MayMake(node, value.type, *dims, node.input(0))) return;
  const int64_t count = std::accumulate(dims->begin(), dims->end(), int64_t{1}, std::multiplies<>());
  if (count == 0) return node.Error("gives a shape without elements", node.input(0));
  Bytes bytes;
  for (int64_t i = 0; i < count; ++i) bytes.insert(bytes.end(), value.data->begin(), value.data->end());
  if (node.SetDims(0, {dims->begin(), dims->end()})) node.SetConstant(0, std::move(bytes));
}

void ImportRange(frontend::TfliteNode& node) {
  if (!node.CheckArity(3, 3, 1)) return;
  std::vector<double> v;
  std::vector<float> floats;
  std::vector<uint64_t> integers;  // Unsigned: a value behind the last would overflow.
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
      integers.push_back(static_cast<uint64_t>((*values)[0]));
      v.push_back(static_cast<double>((*values)[0]));
    }
  }
  const auto count = CountOf(node, v[0], v[1], v[2]);
  if (!count || !node.SetDims(0, {static_cast<int32_t>(*count)})) return;
  if (floats.empty()) {
    std::vector<int64_t> values;
    for (uint64_t value = integers[0]; values.size() < static_cast<size_t>(*count); value += integers[2])
      values.push_back(static_cast<int64_t>(value));
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
  std::map<std::string, int64_t> found;
  std::vector<int64_t> places;
  Bytes bytes;
  for (size_t i = 0; i < x.data->size(); i += element) {
    const std::string value(x.data->begin() + static_cast<ptrdiff_t>(i),
                            x.data->begin() + static_cast<ptrdiff_t>(i + element));
    const auto [at, is_new] = found.emplace(value, static_cast<int64_t>(found.size()));
    places.push_back(at->second);
    if (is_new) bytes.insert(bytes.end(), value.begin(), value.end());
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
