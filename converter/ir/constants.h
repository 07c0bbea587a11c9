// Work on the bytes of constants.
#ifndef TAKT_CONVERTER_IR_CONSTANTS_H_
#define TAKT_CONVERTER_IR_CONSTANTS_H_

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "converter/ir/graph.h"

namespace takt::ir {

/// The elements of a constant whose type is that of T.
template <typename T>
std::vector<T> Elements(const Tensor& constant) {
  std::vector<T> values(constant.data->size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), constant.data->data(), values.size() * sizeof(T));
  return values;
}

template <typename T>
Bytes ToBytes(const std::vector<T>& values) {
  Bytes bytes(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/// Values of a constant of any integer type or bool; nothing for other types.
std::optional<std::vector<int64_t>> IntegerValues(const Tensor& constant);

/// Real values of a constant of float32, or of integers with a quantization; nothing for others.
std::optional<std::vector<float>> RealValues(const Tensor& constant);

/// dims[i] = `dims[permutation[i]]`.
std::vector<int32_t> Permuted(const std::vector<int32_t>& dims, std::span<const int64_t> permutation);
/// r with r[permutation[i]] = i.
std::vector<int64_t> Inverse(std::span<const int64_t> permutation);
/// The permutation that equals `first`, then `then`.
std::vector<int64_t> Compose(std::span<const int64_t> first, std::span<const int64_t> then);
bool IsIdentity(std::span<const int64_t> permutation);
/// Whether a dense tensor keeps its bytes: only dimensions of size 1 change places.
bool MovesNoData(const std::vector<int32_t>& dims, std::span<const int64_t> permutation);

/// The constant with result.dims[i] = dims[permutation[i]]; elements of whole bytes.
Tensor Transposed(const Tensor& constant, std::span<const int64_t> permutation);

}  // namespace takt::ir

#endif  // TAKT_CONVERTER_IR_CONSTANTS_H_
