// Fixed-point functions of the tflite numerics. Qm: an int32_t with m integer bits and 31 - m of fraction, or an
// int16_t with 15 - m.
#ifndef TAKT_ENGINE_BASE_FIXED_POINT_H_
#define TAKT_ENGINE_BASE_FIXED_POINT_H_

#include <algorithm>
#include <cstdint>
#include <limits>

#include "engine/base/requantize.h"

namespace takt::fixed_point {

/// a * b of two Q0, rounded to nearest; the one overflow saturates.
constexpr int32_t Mul(int32_t a, int32_t b) {
  return SaturatingRoundingDoublingHighMul(a, b);
}
constexpr int16_t Mul(int16_t a, int16_t b) {
  if (a == -32768 && b == -32768) return 32767;
  const int32_t product = a * b, nudge = product >= 0 ? 1 << 14 : 1 - (1 << 14);
  return static_cast<int16_t>((product + nudge) / (1 << 15));
}
constexpr int32_t Wrap(uint32_t v) {
  return static_cast<int32_t>(v);
}
template <typename T>
constexpr T Add(T a, T b) {
  return static_cast<T>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
}
template <typename T>
constexpr T Sub(T a, T b) {
  return static_cast<T>(static_cast<uint32_t>(a) - static_cast<uint32_t>(b));
}
template <typename T>
constexpr T Saturate(int64_t v) {
  constexpr int64_t kMin = std::numeric_limits<T>::min(), kMax = std::numeric_limits<T>::max();
  return static_cast<T>(v < kMin ? kMin : v > kMax ? kMax : v);
}
template <typename T>
constexpr T ShiftLeft(T a, int n) {
  return Saturate<T>(int64_t{a} * (int64_t{1} << n));
}
template <typename T>
constexpr T ShiftRight(T a, int n) {
  return static_cast<T>(RoundingDivideByPowerOfTwo(a, n));
}
/// A constant of 32 bits, rounded to those of T.
template <typename T>
constexpr T Rounded(int32_t v) {
  return static_cast<T>(RoundingDivideByPowerOfTwo(v, 32 - 8 * static_cast<int>(sizeof(T))));
}

/// exp(a) as Q0, for a in [-1/4, 0) as Q0: a Taylor polynomial about -1/8. 16 bits saturate.
template <typename T>
constexpr T ExpOfQuarter(T a) {
  constexpr T kExpOfEighth = Rounded<T>(1895147668), kThird = Rounded<T>(715827883);
  const T x = Add(a, Rounded<T>(1 << 28)), x2 = Mul(x, x), x3 = Mul(x2, x), x4 = Mul(x2, x2);
  const T high = Add(Mul(Add(ShiftRight(x4, 2), x3), kThird), x2);
  const T rest = Mul(kExpOfEighth, Add(x, ShiftRight(high, 1)));
  return sizeof(T) == 2 ? Saturate<T>(int64_t{kExpOfEighth} + rest) : Add(kExpOfEighth, rest);
}

/// exp(a) as Q0, for a <= 0 as Q<bits>, bits in [0, 7]: the quarter's rest by polynomial, times exp(-2^i / 4) for each
/// bit i that is set above; 0 below -32.
template <typename T>
constexpr T ExpOfNegative(T a, int bits) {
  if (a == 0) return std::numeric_limits<T>::max();
  constexpr int32_t kFactors[] = {1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242};
  const int quarter = 1 << (8 * static_cast<int>(sizeof(T)) - 3 - bits);
  if (bits > 5 && a < -128 * quarter) return 0;
  const T rest = static_cast<T>((a & (quarter - 1)) - quarter);
  T result = ExpOfQuarter(ShiftLeft(rest, bits));
  const T above = Sub(rest, a);
  for (int i = 0; i < std::min(bits + 2, 7); ++i)
    if ((above & (quarter << i)) != 0) result = Mul(result, Rounded<T>(kFactors[i]));
  return result;
}

/// 2 / (1 + a) as Q2, for a in [0, 1) as Q0: three Newton steps.
template <typename T>
constexpr T TwiceReciprocal(T a) {
  const int64_t sum = int64_t{a} + std::numeric_limits<T>::max();
  const auto half = static_cast<T>((sum + 1) / 2);
  T x = Add(Rounded<T>(1515870810), Mul(half, Rounded<T>(-1010580540)));
  for (int i = 0; i < 3; ++i) x = Add(x, ShiftLeft(Mul(x, Sub(Rounded<T>(1 << 29), Mul(half, x))), 2));
  return x;
}

/// 1 / (1 + a) as Q0, for a in [0, 1) as Q0.
template <typename T>
constexpr T Reciprocal(T a) {
  return ShiftLeft(TwiceReciprocal(a), 1);
}

/// 1 / (1 + exp(-a)) as Q0, for a as Q<bits>.
template <typename T>
constexpr T Logistic(T a, int bits) {
  if (a == 0) return Rounded<T>(1 << 30);
  const T positive = Reciprocal(ExpOfNegative(a < 0 ? a : static_cast<T>(-a), bits));
  return a > 0 ? positive : Sub(std::numeric_limits<T>::max(), positive);
}

/// tanh(a) = (1 - e) / (1 + e) as Q0, e = exp(-2|a|), for a as Q<bits>.
template <typename T>
constexpr T Tanh(T a, int bits) {
  if (a == 0) return 0;
  const T e = ExpOfNegative(a < 0 ? a : static_cast<T>(-a), bits + 1);
  const T t = ShiftLeft(Sub(TwiceReciprocal(e), Rounded<T>(1 << 29)), 2);
  return a > 0 ? t : static_cast<T>(-t);
}

/// multiplier * 2^(shift - 31).
struct Scaled {
  int32_t multiplier, shift;
};

/// 1 / sqrt(a) of a >= 2 by five Newton steps on a power of four times a in [1/4, 1); of a below that, 1.
constexpr Scaled InverseSquareRoot(int32_t a) {
  if (a <= 1) return {std::numeric_limits<int32_t>::max(), 0};
  int right = 11;
  for (; a >= 1 << 29; a /= 4) ++right;
  for (; a < 1 << 27; a *= 4) --right;
  constexpr int32_t kOne = 1 << 28, kThreeHalves = 3 << 27, kRootOfHalf = 1518500250;
  const int32_t half = RoundingDivideByPowerOfTwo(a >> 1, 1);
  int32_t x = kOne;
  for (int i = 0; i < 5; ++i) {
    const int32_t cube = ShiftLeft(Mul(Mul(x, x), x), 6);
    x = ShiftLeft(Sub(Mul(kThreeHalves, x), Mul(half, cube)), 3);
  }
  x = Mul(x, kRootOfHalf);
  return right < 0 ? Scaled{x * (1 << -right), 0} : Scaled{x, -right};
}

}  // namespace takt::fixed_point

#endif  // TAKT_ENGINE_BASE_FIXED_POINT_H_
