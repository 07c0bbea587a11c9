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

}  // namespace takt

#endif  // TAKT_ENGINE_BASE_DATA_TYPE_H_
