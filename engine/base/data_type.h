// Element types of tensors.
#ifndef TAKT_ENGINE_BASE_DATA_TYPE_H_
#define TAKT_ENGINE_BASE_DATA_TYPE_H_

#include <cstdint>

namespace takt {

/// Values equal schema::DataType (schema_check.cc).
enum class DataType : uint8_t {
  kNone = 0,
  kFloat32,
  kInt8,
  kUint8,
  kInt16,
  kInt32,
  kInt64,
  kBool,
  kInt4,
  kFloat16,
  kUint32,
  kUint64,
};
inline constexpr int kDataTypeCount = 12;

/// Bits of one element; 0 for kNone and values out of range.
constexpr uint32_t BitWidth(DataType type) {
  constexpr uint8_t kBits[kDataTypeCount] = {0, 32, 8, 8, 16, 32, 64, 8, 4, 16, 32, 64};
  return static_cast<int>(type) < kDataTypeCount ? kBits[static_cast<int>(type)] : 0;
}

/// The type whose elements are of C++ type T; kNone if there is none.
template <typename T>
inline constexpr DataType kDataTypeOf = DataType::kNone;
template <>
inline constexpr DataType kDataTypeOf<float> = DataType::kFloat32;
template <>
inline constexpr DataType kDataTypeOf<int8_t> = DataType::kInt8;
template <>
inline constexpr DataType kDataTypeOf<uint8_t> = DataType::kUint8;
template <>
inline constexpr DataType kDataTypeOf<int16_t> = DataType::kInt16;
template <>
inline constexpr DataType kDataTypeOf<int32_t> = DataType::kInt32;
template <>
inline constexpr DataType kDataTypeOf<int64_t> = DataType::kInt64;
template <>
inline constexpr DataType kDataTypeOf<bool> = DataType::kBool;
template <>
inline constexpr DataType kDataTypeOf<uint32_t> = DataType::kUint32;
template <>
inline constexpr DataType kDataTypeOf<uint64_t> = DataType::kUint64;

}  // namespace takt

#endif  // TAKT_ENGINE_BASE_DATA_TYPE_H_
