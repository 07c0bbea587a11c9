// cast
#include <type_traits>

#include "engine/ops/checks.h"
#include "ports/kernel_util/convert.h"
#include "ports/reference/kernels.h"

namespace takt::reference {
namespace {

/// A boolean in memory may be any byte.
template <typename E>
struct Stored {
  using Type = E;
};
template <>
struct Stored<bool> {
  using Type = uint8_t;
};

template <typename From, typename To>
typename Stored<To>::Type Cast(typename Stored<From>::Type v) {
  if constexpr (std::is_same_v<From, bool>)
    return v != 0 ? 1 : 0;
  else if constexpr (std::is_same_v<To, bool>)
    return v != 0;
  else if constexpr (std::is_same_v<From, float>)
    return FromFloat<To>(v);
  else
    return static_cast<To>(v);
}

template <typename From, typename To>
void Run(const KernelCall& call) {
  const auto* in = call.inputs[0].as<const typename Stored<From>::Type>();
  auto* out = call.outputs[0].as<typename Stored<To>::Type>();
  const uint32_t size = call.outputs[0].size();
  for (uint32_t i = 0; i < size; ++i) out[i] = Cast<From, To>(in[i]);
}

template <typename From, typename To>
constexpr Kernel Row() {
  return {{Op::kCast, Numerics::kAny, Layout::kNeutral, {kDataTypeOf<From>, DataType::kNone, kDataTypeOf<To>}},
          &CheckCast<Numerics::kAny>,
          &Run<From, To>};
}

}  // namespace

constexpr Kernel kCastFloat32ToInt8 = Row<float, int8_t>();
constexpr Kernel kCastFloat32ToUint8 = Row<float, uint8_t>();
constexpr Kernel kCastFloat32ToInt16 = Row<float, int16_t>();
constexpr Kernel kCastFloat32ToInt32 = Row<float, int32_t>();
constexpr Kernel kCastFloat32ToInt64 = Row<float, int64_t>();
constexpr Kernel kCastFloat32ToBool = Row<float, bool>();
constexpr Kernel kCastInt8ToFloat32 = Row<int8_t, float>();
constexpr Kernel kCastInt8ToUint8 = Row<int8_t, uint8_t>();
constexpr Kernel kCastInt8ToInt16 = Row<int8_t, int16_t>();
constexpr Kernel kCastInt8ToInt32 = Row<int8_t, int32_t>();
constexpr Kernel kCastInt8ToInt64 = Row<int8_t, int64_t>();
constexpr Kernel kCastInt8ToBool = Row<int8_t, bool>();
constexpr Kernel kCastUint8ToFloat32 = Row<uint8_t, float>();
constexpr Kernel kCastUint8ToInt8 = Row<uint8_t, int8_t>();
constexpr Kernel kCastUint8ToInt16 = Row<uint8_t, int16_t>();
constexpr Kernel kCastUint8ToInt32 = Row<uint8_t, int32_t>();
constexpr Kernel kCastUint8ToInt64 = Row<uint8_t, int64_t>();
constexpr Kernel kCastUint8ToBool = Row<uint8_t, bool>();
constexpr Kernel kCastInt16ToFloat32 = Row<int16_t, float>();
constexpr Kernel kCastInt16ToInt8 = Row<int16_t, int8_t>();
constexpr Kernel kCastInt16ToUint8 = Row<int16_t, uint8_t>();
constexpr Kernel kCastInt16ToInt32 = Row<int16_t, int32_t>();
constexpr Kernel kCastInt16ToInt64 = Row<int16_t, int64_t>();
constexpr Kernel kCastInt16ToBool = Row<int16_t, bool>();
constexpr Kernel kCastInt32ToFloat32 = Row<int32_t, float>();
constexpr Kernel kCastInt32ToInt8 = Row<int32_t, int8_t>();
constexpr Kernel kCastInt32ToUint8 = Row<int32_t, uint8_t>();
constexpr Kernel kCastInt32ToInt16 = Row<int32_t, int16_t>();
constexpr Kernel kCastInt32ToInt64 = Row<int32_t, int64_t>();
constexpr Kernel kCastInt32ToBool = Row<int32_t, bool>();
constexpr Kernel kCastInt64ToFloat32 = Row<int64_t, float>();
constexpr Kernel kCastInt64ToInt8 = Row<int64_t, int8_t>();
constexpr Kernel kCastInt64ToUint8 = Row<int64_t, uint8_t>();
constexpr Kernel kCastInt64ToInt16 = Row<int64_t, int16_t>();
constexpr Kernel kCastInt64ToInt32 = Row<int64_t, int32_t>();
constexpr Kernel kCastInt64ToBool = Row<int64_t, bool>();
constexpr Kernel kCastInt64ToUint32 = Row<int64_t, uint32_t>();
constexpr Kernel kCastUint32ToInt64 = Row<uint32_t, int64_t>();
constexpr Kernel kCastBoolToFloat32 = Row<bool, float>();
constexpr Kernel kCastBoolToInt8 = Row<bool, int8_t>();
constexpr Kernel kCastBoolToUint8 = Row<bool, uint8_t>();
constexpr Kernel kCastBoolToInt16 = Row<bool, int16_t>();
constexpr Kernel kCastBoolToInt32 = Row<bool, int32_t>();
constexpr Kernel kCastBoolToInt64 = Row<bool, int64_t>();
constexpr Kernel kCastFloat32ToUint32 = Row<float, uint32_t>();
constexpr Kernel kCastInt16ToUint32 = Row<int16_t, uint32_t>();
constexpr Kernel kCastInt32ToUint32 = Row<int32_t, uint32_t>();
constexpr Kernel kCastBoolToUint32 = Row<bool, uint32_t>();
constexpr Kernel kCastUint32ToFloat32 = Row<uint32_t, float>();
constexpr Kernel kCastUint32ToInt16 = Row<uint32_t, int16_t>();
constexpr Kernel kCastUint32ToInt32 = Row<uint32_t, int32_t>();
constexpr Kernel kCastUint32ToBool = Row<uint32_t, bool>();

}  // namespace takt::reference
