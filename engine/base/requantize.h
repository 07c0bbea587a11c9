// The only requantization code: the output stages of engine/NUMERICS.md, for every port. Same bits on every compiler
// and optimisation level; no input causes undefined behaviour. Accumulators are computed unsigned: modulo 2^32, those
// of int16 contractions modulo 2^64.
#ifndef TAKT_ENGINE_BASE_REQUANTIZE_H_
#define TAKT_ENGINE_BASE_REQUANTIZE_H_

#include <bit>
#include <cstdint>
#include <limits>

namespace takt {

/// min(max(v, lo), hi); lo for NaN.
constexpr float ClampFloat(float v, float lo, float hi) {
  const float raised = v > lo ? v : lo;
  return raised < hi ? raised : hi;
}

constexpr int32_t ClampInt(int32_t v, int32_t lo, int32_t hi) {
  return v < lo ? lo : v > hi ? hi : v;
}

/// Nearest integer, ties to even, of |v| <= 2^22: adding 1.5 * 2^23 leaves it in the low bits of the sum.
constexpr int32_t RoundToEven(float v) {
  return static_cast<int32_t>(std::bit_cast<uint32_t>(v + 12582912.0f) - 0x4B400000u);
}

/// Nearest integer, ties away from zero, of |v| <= 2^22.
constexpr int32_t RoundAway(float v) {
  const auto truncated = static_cast<int32_t>(v);
  const float rest = v - static_cast<float>(truncated);
  return truncated + (rest >= 0.5f ? 1 : rest <= -0.5f ? -1 : 0);
}

/// fp32_rne: int to float, product, to int.
constexpr int32_t RequantizeFp32Rne(uint32_t acc, float scale, float lo_less_zp, float hi_less_zp, int32_t zero_point) {
  const float product = static_cast<float>(static_cast<int32_t>(acc)) * scale;
  return RoundToEven(ClampFloat(product, lo_less_zp, hi_less_zp)) + zero_point;
}

constexpr int32_t RequantizeFp32Rne(uint64_t acc, float scale, float lo_less_zp, float hi_less_zp, int32_t zero_point) {
  const float product = static_cast<float>(static_cast<int64_t>(acc)) * scale;
  return RoundToEven(ClampFloat(product, lo_less_zp, hi_less_zp)) + zero_point;
}

/// a * b / 2^31, rounded to nearest; the one overflow saturates.
constexpr int32_t SaturatingRoundingDoublingHighMul(int32_t a, int32_t b) {
  constexpr int32_t kMin = std::numeric_limits<int32_t>::min();
  if (a == kMin && b == kMin) return std::numeric_limits<int32_t>::max();
  const int64_t product = static_cast<int64_t>(a) * b;
  const int64_t nudge = product >= 0 ? (int64_t{1} << 30) : 1 - (int64_t{1} << 30);
  return static_cast<int32_t>((product + nudge) / (int64_t{1} << 31));
}

/// x / 2^exponent, ties away from zero; exponent in [0, 62].
constexpr int32_t RoundingDivideByPowerOfTwo(int32_t x, int exponent) {
  const int64_t mask = (int64_t{1} << exponent) - 1;
  const int64_t threshold = (mask >> 1) + (x < 0 ? 1 : 0);
  return static_cast<int32_t>((int64_t{x} >> exponent) + ((x & mask) > threshold ? 1 : 0));
}

/// tflite: a positive shift goes left before the multiplication (modulo 2^32), a negative one right after it. Shift in
/// [-31, 30].
constexpr int32_t MultiplyTflite(uint32_t acc, int32_t multiplier, int32_t shift) {
  const int left = shift > 0 ? shift : 0;
  const int right = shift > 0 ? 0 : -shift;
  return RoundingDivideByPowerOfTwo(SaturatingRoundingDoublingHighMul(static_cast<int32_t>(acc << left), multiplier),
                                    right);
}

/// tflite with 64-bit accumulators: the multiplier's upper 15 bits, one rounding (ties up), modulo 2^64, then 2^32.
constexpr int32_t MultiplyTflite(uint64_t acc, int32_t multiplier, int32_t shift) {
  const int32_t reduced = multiplier < 0x7FFF0000 ? (multiplier + 0x8000) >> 16 : 0x7FFF;
  const uint64_t product = acc * static_cast<uint64_t>(reduced);
  const int right = 15 - shift;
  if (right <= 0) return static_cast<int32_t>(product << -right);
  return static_cast<int32_t>(static_cast<int64_t>(product + (uint64_t{1} << (right - 1))) >> right);
}

/// The sum of a product and a zero point, modulo 2^32, then clamped. Accumulator: uint32_t or uint64_t.
template <typename Accumulator>
constexpr int32_t RequantizeTflite(Accumulator acc, int32_t multiplier, int32_t shift, int32_t zero_point, int32_t lo,
                                   int32_t hi) {
  const uint32_t sum =
      static_cast<uint32_t>(MultiplyTflite(acc, multiplier, shift)) + static_cast<uint32_t>(zero_point);
  return ClampInt(static_cast<int32_t>(sum), lo, hi);
}

}  // namespace takt

#endif  // TAKT_ENGINE_BASE_REQUANTIZE_H_
