#include "converter/ir/constants.h"

#include <algorithm>

namespace takt::ir {
namespace {

template <typename T>
std::vector<int64_t> Widened(const Tensor& constant) {
  const std::vector<T> values = Elements<T>(constant);
  return {values.begin(), values.end()};
}

}  // namespace

std::optional<std::vector<int64_t>> IntegerValues(const Tensor& constant) {
  switch (constant.type) {
    case DataType::kInt8:
      return Widened<int8_t>(constant);
    case DataType::kUint8:
    case DataType::kBool:
      return Widened<uint8_t>(constant);
    case DataType::kInt16:
      return Widened<int16_t>(constant);
    case DataType::kInt32:
      return Widened<int32_t>(constant);
    case DataType::kUint32:
      return Widened<uint32_t>(constant);
    case DataType::kInt64:
      return Widened<int64_t>(constant);
    default:
      return std::nullopt;
  }
}

std::optional<std::vector<float>> RealValues(const Tensor& constant) {
  if (constant.type == DataType::kFloat32) return Elements<float>(constant);
  const auto stored = IntegerValues(constant);
  if (!stored || !constant.quantization) return std::nullopt;
  const Quantization& q = *constant.quantization;
  size_t inner = 1;  // Elements from one index of the axis to the next.
  for (size_t i = static_cast<size_t>(q.axis) + 1; i < constant.dims.size(); ++i)
    inner *= static_cast<size_t>(constant.dims[i]);
  std::vector<float> values;
  for (const int64_t v : *stored) {
    const size_t channel = values.size() / inner % q.scales.size();
    values.push_back(q.scales[channel] * static_cast<float>(v - q.zero_points[channel]));
  }
  return values;
}

std::vector<int32_t> Permuted(const std::vector<int32_t>& dims, std::span<const int64_t> permutation) {
  std::vector<int32_t> result;
  for (int64_t axis : permutation) result.push_back(dims[static_cast<size_t>(axis)]);
  return result;
}

std::vector<int64_t> Inverse(std::span<const int64_t> permutation) {
  std::vector<int64_t> result(permutation.size());
  for (size_t i = 0; i < permutation.size(); ++i) result[static_cast<size_t>(permutation[i])] = static_cast<int64_t>(i);
  return result;
}

std::vector<int64_t> Compose(std::span<const int64_t> first, std::span<const int64_t> then) {
  std::vector<int64_t> result;
  for (int64_t axis : then) result.push_back(first[static_cast<size_t>(axis)]);
  return result;
}

bool IsIdentity(std::span<const int64_t> permutation) {
  return std::is_sorted(permutation.begin(), permutation.end());
}

bool MovesNoData(const std::vector<int32_t>& dims, std::span<const int64_t> permutation) {
  int64_t last = -1;
  for (int64_t axis : permutation) {
    if (dims[static_cast<size_t>(axis)] == 1) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

Tensor Transposed(const Tensor& constant, std::span<const int64_t> permutation) {
  const size_t rank = constant.dims.size();
  const size_t width = BitWidth(constant.type) / 8;
  std::vector<size_t> strides(rank, width);  // Of the source, in bytes.
  for (size_t i = rank; i-- > 1;) strides[i - 1] = strides[i] * static_cast<size_t>(constant.dims[i]);
  Tensor result = constant;
  result.dims = Permuted(constant.dims, permutation);
  Bytes bytes(constant.data->size());
  std::vector<int32_t> index(rank);
  size_t from = 0;
  for (size_t to = 0; to < bytes.size(); to += width) {
    std::copy_n(constant.data->data() + from, width, bytes.data() + to);
    for (size_t d = rank; d-- > 0;) {
      const size_t stride = strides[static_cast<size_t>(permutation[d])];
      from += stride;
      if (++index[d] < result.dims[d]) break;
      from -= stride * static_cast<size_t>(result.dims[d]);
      index[d] = 0;
    }
  }
  result.data = std::make_shared<const Bytes>(std::move(bytes));
  if (result.quantization && result.quantization->per_channel()) {
    result.quantization->axis = static_cast<int>(Inverse(permutation)[static_cast<size_t>(result.quantization->axis)]);
  }
  return result;
}

}  // namespace takt::ir
