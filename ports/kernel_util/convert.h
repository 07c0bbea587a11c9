// Conversions between element types that are defined for every value.
#ifndef TAKT_PORTS_KERNEL_UTIL_CONVERT_H_
#define TAKT_PORTS_KERNEL_UTIL_CONVERT_H_

#include <limits>
#include <type_traits>

namespace takt {

/// Toward zero, saturating; NaN gives 0. `To` itself if it is float.
template <typename To>
constexpr To FromFloat(float v) {
  if constexpr (std::is_integral_v<To>) {
    // The largest value may round up to a power of two, which is out of range; the smallest is exact.
    constexpr auto kLow = static_cast<float>(std::numeric_limits<To>::min());
    constexpr auto kHigh = static_cast<float>(std::numeric_limits<To>::max());
    if (v != v) return 0;
    if (v <= kLow) return std::numeric_limits<To>::min();
    if (v >= kHigh) return std::numeric_limits<To>::max();
  }
  return static_cast<To>(v);
}

}  // namespace takt

#endif  // TAKT_PORTS_KERNEL_UTIL_CONVERT_H_
