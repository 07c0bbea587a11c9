// Fixed-point functions of the tflite numerics. Qm: a 32-bit value with m integer bits and 31 - m of fraction.
#ifndef TAKT_ENGINE_BASE_FIXED_POINT_H_
#define TAKT_ENGINE_BASE_FIXED_POINT_H_

#include <cstdint>
#include <limits>

#include "engine/base/requantize.h"

namespace takt::fixed_point {

constexpr int32_t Mul(int32_t a, int32_t b) {
  return SaturatingRoundingDoublingHighMul(a, b);
}
constexpr int32_t Wrap(uint32_t v) {
  return static_cast<int32_t>(v);
}
constexpr int32_t Add(int32_t a, int32_t b) {
  return Wrap(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
}
constexpr int32_t Sub(int32_t a, int32_t b) {
  return Wrap(static_cast<uint32_t>(a) - static_cast<uint32_t>(b));
}
/// Saturates.
constexpr int32_t ShiftLeft(int32_t a, int n) {
  const int64_t v = int64_t{a} * (int64_t{1} << n);
  return v > std::numeric_limits<int32_t>::max()   ? std::numeric_limits<int32_t>::max()
         : v < std::numeric_limits<int32_t>::min() ? std::numeric_limits<int32_t>::min()
                                                   : static_cast<int32_t>(v);
}

/// exp(a) as Q0, for a in [-1/4, 0) as Q0: a Taylor polynomial about -1/8.
constexpr int32_t ExpOfQuarter(int32_t a) {
  constexpr int32_t kExpOfEighth = 1895147668, kThird = 715827883;
  const int32_t x = Add(a, 1 << 28), x2 = Mul(x, x), x3 = Mul(x2, x), x4 = Mul(x2, x2);
  const int32_t high = Add(Mul(Add(RoundingDivideByPowerOfTwo(x4, 2), x3), kThird), x2);
  return Add(kExpOfEighth, Mul(kExpOfEighth, Add(x, RoundingDivideByPowerOfTwo(high, 1))));
}

/// exp(a) as Q0, for a <= 0 as Q<bits>, bits in [0, 5]: the quarter's rest by polynomial, times exp(-2^i / 4) for each
/// bit i that is set above.
constexpr int32_t ExpOfNegative(int32_t a, int bits) {
  if (a == 0) return std::numeric_limits<int32_t>::max();
  constexpr int32_t kFactors[] = {1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242};
  const int32_t quarter = 1 << (29 - bits);
  const int32_t rest = (a & (quarter - 1)) - quarter;
  int32_t result = ExpOfQuarter(ShiftLeft(rest, bits));
  const int32_t above = Sub(rest, a);
  for (int i = 0; i < bits + 2; ++i)
    if ((above & (quarter << i)) != 0) result = Mul(result, kFactors[i]);
  return result;
}

/// 2 / (1 + a) as Q2, for a in [0, 1) as Q0: three Newton steps.
constexpr int32_t TwiceReciprocal(int32_t a) {
  const int64_t sum = int64_t{a} + std::numeric_limits<int32_t>::max();
  const auto half = static_cast<int32_t>((sum + 1) / 2);
  int32_t x = Add(1515870810, Mul(half, -1010580540));
  for (int i = 0; i < 3; ++i) x = Add(x, ShiftLeft(Mul(x, Sub(1 << 29, Mul(half, x))), 2));
  return x;
}

/// 1 / (1 + a) as Q0, for a in [0, 1) as Q0.
constexpr int32_t Reciprocal(int32_t a) {
  return ShiftLeft(TwiceReciprocal(a), 1);
}

/// 1 / (1 + exp(-a)) as Q0, for a as Q4.
constexpr int32_t Logistic(int32_t a) {
  if (a == 0) return 1 << 30;
  const int32_t positive = Reciprocal(ExpOfNegative(a < 0 ? a : -a, 4));
  return a > 0 ? positive : Sub(std::numeric_limits<int32_t>::max(), positive);
}

/// tanh(a) = (1 - e) / (1 + e) as Q0, e = exp(-2|a|), for a as Q4.
constexpr int32_t Tanh(int32_t a) {
  if (a == 0) return 0;
  const int32_t t = ShiftLeft(Sub(TwiceReciprocal(ExpOfNegative(a < 0 ? a : -a, 5)), 1 << 29), 2);
  return a > 0 ? t : -t;
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
