#include "converter/frontend/onnx_fold.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "converter/ir/constants.h"

namespace takt::frontend {
namespace {

constexpr int64_t kMaxFolded = 1 << 20;

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
  std::vector<int32_t> dims(shape->values.begin(), shape->values.end());
  for (int32_t dim : dims) {
    if (dim < 1 || Count(dims) > kMaxFolded) return false;
  }
  ir::Tensor value;
  value.type = DataType::kFloat32;
  value.data = std::make_shared<const ir::Bytes>(4);
  if (auto given = node.TensorAttribute("value")) value = std::move(*given);
  ir::Bytes bytes;
  for (int64_t i = 0; i < Count(dims); ++i) bytes.insert(bytes.end(), value.data->begin(), value.data->end());
  node.SetOutput(0, node.Constant(value.type, dims, std::move(bytes)));
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
    if (!part || part->dims.size() != 1) return false;
    out.type = part->type;
    out.values.insert(out.values.end(), part->values.begin(), part->values.end());
  }
  out.dims = {static_cast<int32_t>(out.values.size())};
  return Write(node, out);
}

bool FoldSlice(OnnxNode& node) {
  const auto data = Read(node, 0);
  if (!data || data->dims.size() != 1) return false;
  const bool inputs = node.opset() >= 10;
  const auto list = [&](int i, const char* name, int64_t fallback) {
    const auto given = inputs && node.has_input(i) ? Read(node, i) : std::nullopt;
    const std::vector<int64_t> values = given ? given->values : inputs ? std::vector<int64_t>() : node.Ints(name, {});
    return values.size() == 1 ? values[0] : fallback;
  };
  const int64_t size = data->dims[0];
  const int64_t step = list(4, "steps", 1);
  const int64_t low = step > 0 ? 0 : -1;
  const auto bound = [&](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + size : i, low, low + size); };
  if (step == 0 || size == 0) return false;
  const int64_t begin = bound(list(1, "starts", 0));
  const int64_t end = bound(list(2, "ends", size));
  Array out{data->type, {}, {}};
  for (int64_t i = begin; step > 0 ? i < end : i > end; i += step)
    out.values.push_back(data->values[static_cast<size_t>(i)]);
  out.dims = {static_cast<int32_t>(out.values.size())};
  return Write(node, out);
}

template <typename F>
bool FoldBinary(OnnxNode& node, F f, std::optional<DataType> type = std::nullopt) {
  const auto a = Read(node, 0);
  const auto b = Read(node, 1);
  if (!a || !b) return false;
  const int64_t na = Count(a->dims);
  const int64_t nb = Count(b->dims);
  if (na != nb && na != 1 && nb != 1) return false;
  Array out{type.value_or(a->type), na >= nb ? a->dims : b->dims, {}};
  if (na == nb && b->dims.size() > a->dims.size()) out.dims = b->dims;
  for (int64_t i = 0; i < std::max(na, nb); ++i) {
    const auto value =
        f(a->values[static_cast<size_t>(na == 1 ? 0 : i)], b->values[static_cast<size_t>(nb == 1 ? 0 : i)]);
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
  if (!condition || !a || !b) return false;
  const Array* widest = &*condition;
  for (const Array* x : {&*a, &*b}) {
    if (Count(x->dims) > Count(widest->dims)) widest = x;
  }
  const auto count = Count(widest->dims);
  for (const Array* x : {&*condition, &*a, &*b}) {
    if (Count(x->dims) != count && Count(x->dims) != 1) return false;
  }
  const auto at = [](const Array& x, int64_t i) { return x.values[static_cast<size_t>(Count(x.dims) == 1 ? 0 : i)]; };
  Array out{a->type, widest->dims, {}};
  for (int64_t i = 0; i < count; ++i) out.values.push_back(at(*condition, i) ? at(*a, i) : at(*b, i));
  return Write(node, out);
}

bool FoldRange(OnnxNode& node) {
  const auto start = Read(node, 0);
  const auto limit = Read(node, 1);
  const auto delta = Read(node, 2);
  if (!start || !limit || !delta || start->values.size() != 1 || limit->values.size() != 1 || delta->values.size() != 1)
    return false;
  const int64_t step = delta->values[0];
  const int64_t distance = limit->values[0] - start->values[0];
  if (step == 0 || std::abs(distance / step) > kMaxFolded) return false;
  Array out{start->type, {}, {}};
  for (int64_t v = start->values[0]; step > 0 ? v < limit->values[0] : v > limit->values[0]; v += step)
    out.values.push_back(v);
  out.dims = {static_cast<int32_t>(out.values.size())};
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
    {"Gather", FoldGather},
    {"Mul", FoldMul},
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
