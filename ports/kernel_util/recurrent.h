// What recurrent cells share: the walk over time, functions of gates in float, normalization, and logistic and tanh by
// table.
#ifndef TAKT_PORTS_KERNEL_UTIL_RECURRENT_H_
#define TAKT_PORTS_KERNEL_UTIL_RECURRENT_H_

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "engine/base/fixed_point.h"
#include "engine/base/requantize.h"
#include "engine/core/kernel.h"
#include "schema/plan_generated.h"

namespace takt {

/// Calls step(x, y, batch) for each row of x and y ([T, B, .] or [B, T, .]), in the order of time or against it.
template <typename E, typename Params, typename Step>
void ForEachStep(const TensorRef& x, const TensorRef& y, const Params& p, Step step) {
  const int32_t steps = x.dims[p.batch_major() ? 1 : 0], batches = x.dims[p.batch_major() ? 0 : 1];
  for (int32_t i = 0; i < steps; ++i) {
    const int32_t t = p.reverse() ? steps - 1 - i : i;
    for (int32_t b = 0; b < batches; ++b) {
      const int32_t row = p.batch_major() ? b * steps + t : t * batches + b;
      step(x.as<const E>() + static_cast<size_t>(row) * static_cast<size_t>(x.dims[2]),
           y.as<E>() + static_cast<size_t>(row) * static_cast<size_t>(y.dims[2]), b);
    }
  }
}

/// The value of a state becomes its next one, which may be the same memory.
inline void CopyState(const TensorRef& from, const TensorRef& to) {
  if (from.data != to.data) std::memcpy(to.data, from.data, size_t{from.size()} * (BitWidth(from.type) / 8));
}

inline float ApplyGate(schema::GateFunction function, float x) {
  using enum schema::GateFunction;
  switch (function) {
    case logistic:
      return 1.0f / (1.0f + std::exp(-x));
    case tanh:
      return std::tanh(x);
    case relu:
      return x > 0.0f ? x : 0.0f;
    case relu_n1_to_1:
      return x < -1.0f ? -1.0f : x > 1.0f ? 1.0f : x;
    case relu6:
      return x < 0.0f ? 0.0f : x > 6.0f ? 6.0f : x;
    case identity:
      break;
  }
  return x;
}

/// 2^(16 + bits) * logistic(i / 24) at i = magnitude / 2^bits, linear between the table's entries.
inline int32_t LogisticBetween(const int32_t* table, uint32_t magnitude, int bits, int32_t saturated) {
  const uint32_t entry = magnitude >> bits;
  if (entry >= 255) return saturated;
  const auto rest = static_cast<int32_t>(magnitude & ((1u << bits) - 1));
  return (table[entry] << bits) + rest * (table[entry + 1] - table[entry]);
}

/// The same, quadratic between entries, which is exact to the table's last bit (Newton's forward differences).
inline int32_t LogisticQuadratic(const int32_t* table, uint32_t magnitude, int bits) {
  const uint32_t entry = magnitude >> bits;
  if (entry >= 255) return table[255] << bits;
  const int32_t rest = static_cast<int32_t>(magnitude & ((1u << bits) - 1)), size = 1 << bits;
  const int32_t first = table[entry + 1] - table[entry];
  const int32_t second = entry < 254 ? table[entry + 2] - table[entry + 1] - first : 0;
  return (table[entry] << bits) + rest * first + ((rest * (rest - size) * second) >> (bits + 1));
}

/// Sums less their mean, over their standard deviation, by factors and offsets.
inline void NormalizeSums(float* sums, const float* factors, const float* offsets, int32_t count) {
  float sum = 0, squares = 0;
  for (int32_t k = 0; k < count; ++k) sum += sums[k];
  const float mean = sum / static_cast<float>(count);
  for (int32_t k = 0; k < count; ++k) squares += (sums[k] - mean) * (sums[k] - mean);
  const float inverse = 1.0f / std::sqrt(squares / static_cast<float>(count) + 1e-8f);
  for (int32_t k = 0; k < count; ++k) sums[k] = (sums[k] - mean) * inverse * factors[k] + offsets[k];
}

/// The same in TFLite's integers: what is divided has 10 bits of fraction, the variance none (`guard` if it is below
/// 1).
inline void NormalizeSums(int16_t* sums, const int32_t* factors, const int32_t* offsets, int32_t count,
                          const schema::Rescale& stage, int32_t guard) {
  int64_t sum = 0, squares = 0;
  for (int32_t k = 0; k < count; ++k) sum += sums[k], squares += sums[k] * sums[k];
  const auto mean = static_cast<int32_t>(sum * 1024 / count);
  const auto variance = static_cast<int32_t>((squares * ((1 << 20) / count) - int64_t{mean} * mean) / (1 << 20));
  const fixed_point::Scaled inverse = fixed_point::InverseSquareRoot(variance < 1 ? guard : variance);
  for (int32_t k = 0; k < count; ++k) {
    const int32_t z = MultiplyTflite(static_cast<uint32_t>(1024 * sums[k] - mean), inverse.multiplier, inverse.shift);
    const uint32_t fine =
        static_cast<uint32_t>(z) * static_cast<uint32_t>(factors[k]) + static_cast<uint32_t>(offsets[k]);
    const int64_t v = static_cast<int32_t>(fine);
    const auto rounded = static_cast<int32_t>((v > 0 ? v + 512 : v - 512) / 1024);
    const int32_t scaled = MultiplyTflite(static_cast<uint32_t>(rounded), stage.multiplier(), stage.shift());
    sums[k] = static_cast<int16_t>(ClampInt(scaled, -32768, 32767));
  }
}

/// TFLite's logistic and tanh of x / 12288, in Q15.
inline int16_t LogisticTflite(const int32_t* table, int32_t x) {
  const int32_t v = LogisticBetween(table, static_cast<uint32_t>(x < 0 ? -x : x), 9, 0x7FFF << 10);
  return static_cast<int16_t>((x >= 0 ? v + (1 << 9) : (1 << 25) - v + (1 << 9) - 1) >> 10);
}
inline int16_t TanhTflite(const int32_t* table, int32_t x) {
  // tanh(x) = 2 * logistic(2 * x) - 1
  const int32_t v = LogisticBetween(table, static_cast<uint32_t>(x < 0 ? -x : x), 8, 0xFFFF << 8) - (1 << 23);
  return static_cast<int16_t>((x >= 0 ? v + (1 << 7) : -v + (1 << 7) - 1) >> 8);
}

/// x in units of 1 / 12288, within the table.
inline int32_t InTableUnits(float x) {
  return RoundToEven(ClampFloat(x, -131072.0f, 131072.0f));
}
/// logistic and tanh of x / 12288, rounded to 2^-15: in [0, 2^15] and [-2^15, 2^15].
inline int32_t LogisticFp32Rne(const int32_t* table, int32_t x) {
  const int32_t q = LogisticQuadratic(table, static_cast<uint32_t>(x < 0 ? -x : x), 9);
  return ((x < 0 ? (1 << 25) - q : q) + (1 << 9)) >> 10;
}
inline int32_t TanhFp32Rne(const int32_t* table, int32_t x) {
  const int32_t q = LogisticQuadratic(table, static_cast<uint32_t>(x < 0 ? -x : x), 8) - (1 << 23);
  return x < 0 ? -((q + (1 << 7)) >> 8) : (q + (1 << 7)) >> 8;
}

}  // namespace takt

#endif  // TAKT_PORTS_KERNEL_UTIL_RECURRENT_H_
