#include "converter/frontend/onnx_fold.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "converter/ir/constants.h"

namespace takt::frontend {
namespace {

constexpr int64_t kMaxFolded = 1 << 20;  ///< Elements; what is larger is left to the steps.

/// Integers with a shape.
struct Array {
  DataType type = DataType::kInt64;
  std::vector<int32_t> dims;
  std::vector<int64_t> values;
};

int64_t Count(const std::vector<int32_t>& dims) {
  int64_t count = 1;
  for (int32_t dim : dims) count *= dim;
  return count;
}

std::optional<Array> Read(OnnxNode& node, int i) {
  if (!node.is_constant(node.input(i))) return std::nullopt;
  const ir::Tensor& t = node.tensor(node.input(i));
  const auto values = ir::IntegerValues(t);
  if (!values || t.quantization) return std::nullopt;
  return Array{t.type, t.dims, *values};
}

bool Write(OnnxNode& node, const Array& array) {
  if (array.values.size() > static_cast<size_t>(kMaxFolded)) return false;
  ir::Bytes bytes;
  switch (array.type) {
    case DataType::kInt64:
      bytes = ir::ToBytes(array.values);
      break;
    case DataType::kInt32:
      bytes = ir::ToBytes(std::vector<int32_t>(array.values.begin(), array.values.end()));
      break;
    case DataType::kFloat32:
      bytes = ir::ToBytes(std::vector<float>(array.values.begin(), array.values.end()));
      break;
    case DataType::kBool:
    case DataType::kUint8:
      bytes = ir::Bytes(array.values.begin(), array.values.end());
      break;
    default:
      return false;
  }
  node.SetOutput(0, node.Constant(array.type, array.dims, std::move(bytes)));
  return true;
}

bool FoldConstant(OnnxNode& node) {
  auto value = node.TensorAttribute("value");
  if (value) {
    node.SetOutput(0, node.Constant(std::move(*value)));
  } else if (node.Has("value_int")) {
    Write(node, {DataType::kInt64, {}, {node.Int("value_int", 0)}});
  } else if (node.Has("value_ints")) {
    const std::vector<int64_t> values = node.Ints("value_ints", {});
    Write(node, {DataType::kInt64, {static_cast<int32_t>(values.size())}, values});
  } else if (node.Has("value_float")) {
    node.SetOutput(0, node.FloatConstant({}, {static_cast<float>(node.Float("value_float", 0))}));
  } else if (node.Has("value_floats")) {
    const std::vector<float> values = node.Floats("value_floats");
    node.SetOutput(0, node.FloatConstant({static_cast<int32_t>(values.size())}, values));
  } else {
    node.Error("its value is not numeric; only tensors, numbers and lists of numbers are supported");
  }
  return true;
}

bool FoldConstantOfShape(OnnxNode& node) {
  const auto shape = Read(node, 0);
  if (!shape) return false;
  int64_t count = 1;
  for (int64_t dim : shape->values) {
    if (dim < 1 || dim > kMaxFolded / count) return false;
    count *= dim;
  }
  ir::Tensor value;
  value.type = DataType::kFloat32;
  value.data = std::make_shared<const ir::Bytes>(4);
  if (auto given = node.TensorAttribute("value")) value = std::move(*given);
  if (value.element_count() != 1)
    return node.Error("its value has " + std::to_string(value.element_count()) + " elements; it must have one"), true;
  ir::Bytes bytes;
  for (int64_t i = 0; i < count; ++i) bytes.insert(bytes.end(), value.data->begin(), value.data->end());
  node.SetOutput(0, node.Constant(value.type, {shape->values.begin(), shape->values.end()}, std::move(bytes)));
  return true;
}

bool FoldShape(OnnxNode& node) {
  if (!node.CheckInputs(1, 1)) return true;
  const std::vector<int32_t>& dims = node.dims(node.input(0));
  const auto rank = static_cast<int64_t>(dims.size());
  const auto bound = [&](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + rank : i, 0, rank); };
  const int64_t begin = bound(node.Int("start", 0));
  const int64_t end = std::max(begin, bound(node.Int("end", rank)));
  const std::vector<int64_t> values(dims.begin() + begin, dims.begin() + end);
  return Write(node, {DataType::kInt64, {static_cast<int32_t>(values.size())}, values});
}

bool FoldSize(OnnxNode& node) {
  if (!node.CheckInputs(1, 1)) return true;
  return Write(node, {DataType::kInt64, {}, {node.tensor(node.input(0)).element_count()}});
}

bool FoldGather(OnnxNode& node) {
  const auto data = Read(node, 0);
  const auto indices = Read(node, 1);
  if (!data || !indices || data->dims.size() != 1) return false;
  const int32_t size = data->dims[0];
  Array out{data->type, indices->dims, {}};
  for (int64_t i : indices->values) {
    if (i < -size || i >= size) {
      node.Error("index " + std::to_string(i) + " is outside of a list of " + std::to_string(size));
      return true;
    }
    out.values.push_back(data->values[static_cast<size_t>(i < 0 ? i + size : i)]);
  }
  return Write(node, out);
}

bool FoldConcat(OnnxNode& node) {
  Array out;
  for (int i = 0; i < node.input_count(); ++i) {
    const auto part = Read(node, i);
    if (!part || part->dims.size() != 1 || out.values.size() > static_cast<size_t>(kMaxFolded)) return false;
    out.type = part->type;
    out.values.insert(out.values.end(), part->values.begin(), part->values.end());
  }
  out.dims = {static_cast<int32_t>(out.values.size())};
  return Write(node, out);
}

/// One axis of a slice: the indices it keeps.
std::optional<std::vector<int64_t>> SliceIndices(int64_t size, int64_t start, int64_t end, int64_t step) {
  if (step == 0) return std::nullopt;
  const int64_t low = step > 0 ? 0 : -1;
  const auto bound = [&](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + size : i, low, low + size); };
  step = std::clamp(step, -size - 1, size + 1);  // What a longer one keeps, and the sum does not overflow.
  std::vector<int64_t> kept;
  for (int64_t i = bound(start); step > 0 ? i < bound(end) : i > bound(end); i += step) kept.push_back(i);
  return kept;
}

/// Keeps the indices `kept` of dimension `axis`.
Array Take(const Array& data, size_t axis, const std::vector<int64_t>& kept) {
  Array out{data.type, data.dims, {}};
  out.dims[axis] = static_cast<int32_t>(kept.size());
  const std::vector<int32_t> outer(data.dims.begin(), data.dims.begin() + static_cast<int64_t>(axis));
  const std::vector<int32_t> inner(data.dims.begin() + static_cast<int64_t>(axis) + 1, data.dims.end());
  for (int64_t o = 0; o < Count(outer); ++o) {
    for (int64_t index : kept) {
      const auto at = data.values.begin() + (o * data.dims[axis] + index) * Count(inner);
      out.values.insert(out.values.end(), at, at + Count(inner));
    }
  }
  return out;
}

bool FoldSlice(OnnxNode& node) {
  auto data = Read(node, 0);
  if (!data) return false;
  const char* const names[] = {"", "starts", "ends", "axes", "steps"};
  std::vector<int64_t> lists[5];
  for (int i = 1; i < 5; ++i) {
    const auto given = node.has_input(i) ? Read(node, i) : std::nullopt;
    if (node.has_input(i) && !given) return false;
    lists[i] = given ? given->values : node.Ints(names[i], {});
  }
  const size_t count = lists[1].size();
  for (size_t i = lists[3].size(); i < count; ++i) lists[3].push_back(static_cast<int64_t>(i));
  lists[4].resize(count, 1);
  if (lists[2].size() != count || lists[3].size() != count) return false;
  for (size_t i = 0; i < count; ++i) {
    const auto axis = node.Axis(lists[3][i], data->dims.size());
    if (!axis) return true;
    const auto kept = SliceIndices(data->dims[*axis], lists[1][i], lists[2][i], lists[4][i]);
    if (!kept) return false;
    data = Take(*data, *axis, *kept);
  }
  return Write(node, *data);
}

/// Dims of what comes of operands that have one shape, but for leading ones, or one value; others are not folded.
std::optional<std::vector<int32_t>> CommonDims(std::initializer_list<const Array*> operands) {
  size_t rank = 0;
  for (const Array* x : operands) rank = std::max(rank, x->dims.size());
  std::vector<int32_t> common(rank, 1);
  for (const Array* x : operands) {
    if (Count(x->dims) == 1) continue;
    std::vector<int32_t> dims(rank - x->dims.size(), 1);
    dims.insert(dims.end(), x->dims.begin(), x->dims.end());
    if (Count(common) != 1 && dims != common) return std::nullopt;
    common = std::move(dims);
  }
  return common;
}

int64_t At(const Array& x, int64_t i) {
  return x.values[x.values.size() == 1 ? 0 : static_cast<size_t>(i)];
}

template <typename F>
bool FoldBinary(OnnxNode& node, F f, std::optional<DataType> type = std::nullopt) {
  const auto a = Read(node, 0);
  const auto b = Read(node, 1);
  const auto dims = a && b ? CommonDims({&*a, &*b}) : std::nullopt;
  if (!dims) return false;
  Array out{type.value_or(a->type), *dims, {}};
  for (int64_t i = 0; i < Count(*dims); ++i) {
    const auto value = f(At(*a, i), At(*b, i));
    if (!value) return false;
    out.values.push_back(*value);
  }
  return Write(node, out);
}

using Result = std::optional<int64_t>;
int64_t Wrapped(uint64_t value) {
  return static_cast<int64_t>(value);
}
uint64_t Unsigned(int64_t value) {
  return static_cast<uint64_t>(value);
}

bool FoldAdd(OnnxNode& node) {
  return FoldBinary(node, [](int64_t a, int64_t b) -> Result { return Wrapped(Unsigned(a) + Unsigned(b)); });
}
bool FoldSub(OnnxNode& node) {
  return FoldBinary(node, [](int64_t a, int64_t b) -> Result { return Wrapped(Unsigned(a) - Unsigned(b)); });
}
bool FoldMul(OnnxNode& node) {
  return FoldBinary(node, [](int64_t a, int64_t b) -> Result { return Wrapped(Unsigned(a) * Unsigned(b)); });
}
bool FoldDiv(OnnxNode& node) {
  return FoldBinary(node, [](int64_t a, int64_t b) -> Result {
    if (b == 0 || (b == -1 && a == std::numeric_limits<int64_t>::min())) return std::nullopt;
    return a / b;
  });
}
bool FoldEqual(OnnxNode& node) {
  return FoldBinary(
      node, [](int64_t a, int64_t b) -> Result { return a == b; }, DataType::kBool);
}

bool FoldWhere(OnnxNode& node) {
  const auto condition = Read(node, 0);
  const auto a = Read(node, 1);
  const auto b = Read(node, 2);
  const auto dims = condition && a && b ? CommonDims({&*condition, &*a, &*b}) : std::nullopt;
  if (!dims) return false;
  Array out{a->type, *dims, {}};
  for (int64_t i = 0; i < Count(*dims); ++i) out.values.push_back(At(*condition, i) ? At(*a, i) : At(*b, i));
  return Write(node, out);
}

std::optional<double> FloatScalar(OnnxNode& node, int i) {
  if (!node.is_constant(node.input(i))) return std::nullopt;
  const ir::Tensor& t = node.tensor(node.input(i));
  if (t.type != DataType::kFloat32 || t.element_count() != 1) return std::nullopt;
  return static_cast<double>(ir::Elements<float>(t)[0]);
}

bool FoldFloatRange(OnnxNode& node) {
  const auto start = FloatScalar(node, 0), limit = FloatScalar(node, 1), delta = FloatScalar(node, 2);
  if (!start || !limit || !delta) return false;
  const double count = std::ceil((*limit - *start) / *delta);
  if (!(count >= 1) || count > static_cast<double>(kMaxFolded)) return false;
  std::vector<float> values;
  for (int64_t i = 0; i < static_cast<int64_t>(count); ++i)
    values.push_back(static_cast<float>(*start + static_cast<double>(i) * *delta));
  node.SetOutput(0, node.FloatConstant({static_cast<int32_t>(values.size())}, values));
  return true;
}

bool FoldRange(OnnxNode& node) {
  if (FoldFloatRange(node)) return true;
  const auto start = Read(node, 0);
  const auto limit = Read(node, 1);
  const auto delta = Read(node, 2);
  if (!start || !limit || !delta || start->values.size() != 1 || limit->values.size() != 1 || delta->values.size() != 1)
    return false;
  // Unsigned, which the distance of two int64 does not overflow.
  const bool up = delta->values[0] > 0;
  const int64_t low = (up ? start : limit)->values[0], high = (up ? limit : start)->values[0];
  const uint64_t from = Unsigned(start->values[0]), by = Unsigned(delta->values[0]), step = up ? by : 0 - by;
  const uint64_t distance = low < high ? Unsigned(high) - Unsigned(low) : 0;
  if (step == 0 || distance / step >= Unsigned(kMaxFolded)) return false;
  const uint64_t count = distance / step + (distance % step != 0);
  Array out{start->type, {static_cast<int32_t>(count)}, {}};
  for (uint64_t i = 0; i < count; ++i) out.values.push_back(Wrapped(from + i * by));
  return Write(node, out);
}

/// The shape is the operand's; its values do not matter.
bool FoldEyeLike(OnnxNode& node) {
  if (!node.CheckInputs(1, 1)) return true;
  const ir::Tensor& like = node.tensor(node.input(0));
  if (like.dims.size() != 2 || like.element_count() > kMaxFolded)
    return node.Error("takes an input of rank 2 and at most 2^20 elements"), true;
  Array out{node.Has("dtype") ? node.TypeAttribute("dtype") : like.type, like.dims, {}};
  const int64_t k = node.Int("k", 0);
  for (int64_t r = 0; r < like.dims[0]; ++r)
    for (int64_t c = 0; c < like.dims[1]; ++c) out.values.push_back(c - r == k);
  return Write(node, out);
}

/// Indices of the elements that are not 0, one column for each.
bool FoldNonZero(OnnxNode& node) {
  const auto x = Read(node, 0);
  if (!x) return false;
  std::vector<std::vector<int64_t>> rows(x->dims.size());
  for (int64_t i = 0; i < Count(x->dims); ++i) {
    if (x->values[static_cast<size_t>(i)] == 0) continue;
    int64_t rest = i;
    for (size_t d = x->dims.size(); d-- > 0; rest /= x->dims[d]) rows[d].push_back(rest % x->dims[d]);
  }
  Array out;
  for (const auto& row : rows) out.values.insert(out.values.end(), row.begin(), row.end());
  out.dims = {static_cast<int32_t>(rows.size()), rows.empty() ? 1 : static_cast<int32_t>(rows[0].size())};
  return Write(node, out);
}

bool FoldCast(OnnxNode& node) {
  if (!node.is_constant(node.input(0))) return false;
  const DataType to = node.TypeAttribute("to");
  const ir::Tensor& t = node.tensor(node.input(0));
  if (to == DataType::kNone) return false;
  if (to == t.type) {
    node.SetOutput(0, node.input(0));
    return true;
  }
  Array out{to, t.dims, {}};
  if (t.type == DataType::kFloat32) {
    for (float value : ir::Elements<float>(t)) {
      if (to != DataType::kBool && !(std::fabs(value) < 9.0e18f)) return false;
      out.values.push_back(to == DataType::kBool ? value != 0.0f : static_cast<int64_t>(value));
    }
  } else if (const auto values = ir::IntegerValues(t)) {
    out.values = *values;
    if (to == DataType::kBool) std::for_each(out.values.begin(), out.values.end(), [](int64_t& v) { v = v != 0; });
  } else {
    return false;
  }
  return Write(node, out);
}

constexpr OnnxFold kFolds[] = {
    {"Add", FoldAdd},
    {"Cast", FoldCast},
    {"Concat", FoldConcat},
    {"Constant", FoldConstant},
    {"ConstantOfShape", FoldConstantOfShape},
    {"Div", FoldDiv},
    {"Equal", FoldEqual},
    {"EyeLike", FoldEyeLike},
    {"Gather", FoldGather},
    {"Mul", FoldMul},
    {"NonZero", FoldNonZero},
    {"Range", FoldRange},
    {"Shape", FoldShape},
    {"Size", FoldSize},
    {"Slice", FoldSlice},
    {"Sub", FoldSub},
    {"Where", FoldWhere},
};

}  // namespace

std::span<const OnnxFold> OnnxFolds() {
  return kFolds;
}

}  // namespace takt::frontend
