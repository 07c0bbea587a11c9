// Real numbers of a model as integers: a cast of what does not fit is undefined.
#ifndef TAKT_CONVERTER_BASE_SATURATE_H_
#define TAKT_CONVERTER_BASE_SATURATE_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace takt {

/// The value without its fraction, or the end of T's range that is nearest; 0 for NaN. T has at most 32 bits or is
/// int64.
template <typename T = int64_t>
T Saturated(double value) {
  using Limits = std::numeric_limits<T>;
  if (std::isnan(value)) return 0;
  // 2^63 is the first double beyond int64, whose own maximum is no double.
  if (value >= -static_cast<double>(Limits::min())) return Limits::max();
  return static_cast<T>(std::max(value, static_cast<double>(Limits::min())));
}

}  // namespace takt

#endif  // TAKT_CONVERTER_BASE_SATURATE_H_
