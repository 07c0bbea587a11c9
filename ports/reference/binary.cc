// binary
#include <cmath>
#include <type_traits>

#include "engine/ops/checks.h"
#include "ports/kernel_util/arithmetic.h"
#include "ports/kernel_util/convert.h"
#include "ports/kernel_util/walk.h"
#include "ports/reference/kernels.h"

namespace takt::reference {
namespace {

using schema::BinaryFunction;
using schema::BinaryParams;

float Apply(BinaryFunction function, float a, float b) {
  using enum BinaryFunction;
  switch (function) {
    case add:
      return a + b;
    case subtract:
      return a - b;
    case multiply:
      return a * b;
    case divide:
      return a / b;
    case floor_divide:
      return std::floor(a / b);
    case floor_modulo: {
      const float rest = std::fmod(a, b);
      return rest != 0.0f && (rest < 0.0f) != (b < 0.0f) ? rest + b : rest;
    }
    case maximum:
      return a > b ? a : b;
    case minimum:
      return a < b ? a : b;
    case power:
      return std::pow(a, b);
    case squared_difference:
      return (a - b) * (a - b);
    case prelu:
      return a >= 0.0f ? a : a * b;
    case atan2:
      return std::atan2(a, b);
    case exclusive_or:
    case right_shift:
      break;
  }
  return a;
}

/// Quotient toward zero, modulo 2^n; 0 if b is 0.
template <typename E>
E Divide(E a, E b) {
  using U = std::make_unsigned_t<E>;
  return b == 0 ? 0 : b == -1 ? static_cast<E>(U{0} - static_cast<U>(a)) : a / b;
}

/// Remainder of Divide.
template <typename E>
E Remainder(E a, E b) {
  return b == 0 || b == -1 ? 0 : a % b;
}

/// A negative exponent gives 1 / a^-b toward zero.
template <typename E>
E Power(E a, E b) {
  using U = std::make_unsigned_t<E>;
  if (b < 0) return a == 1 || (a == -1 && b % 2 == 0) ? 1 : a == -1 ? -1 : 0;
  U result = 1, base = static_cast<U>(a);
  for (U n = static_cast<U>(b); n != 0; n >>= 1, base *= base)
    if ((n & 1) != 0) result *= base;
  return static_cast<E>(result);
}

template <typename E>
E Apply(BinaryFunction function, E a, E b) {
  using enum BinaryFunction;
  using U = std::make_unsigned_t<E>;
  const U ua = static_cast<U>(a), ub = static_cast<U>(b);
  const E rest = Remainder(a, b);
  constexpr E kLastBit = 8 * sizeof(E) - 1;
  const bool inexact_below = rest != 0 && (rest < 0) != (b < 0);
  switch (function) {
    case add:
      return static_cast<E>(ua + ub);
    case subtract:
      return static_cast<E>(ua - ub);
    case multiply:
      return static_cast<E>(ua * ub);
    case divide:
      return Divide(a, b);
    case floor_divide:
      return Divide(a, b) - (inexact_below ? 1 : 0);
    case floor_modulo:
      return inexact_below ? rest + b : rest;
    case maximum:
      return a > b ? a : b;
    case minimum:
      return a < b ? a : b;
    case power:
      return Power(a, b);
    case squared_difference:
      return static_cast<E>((ua - ub) * (ua - ub));
    case exclusive_or:
      return a ^ b;
    case right_shift:
      return a >> (b < 0 ? E{0} : b > kLastBit ? kLastBit : b);
    case prelu:
    case atan2:
      break;
  }
  return a;
}

template <typename E>
void Run(const KernelCall& call) {
  const auto& p = call.params<BinaryParams>();
  const E lo = FromFloat<E>(p.clamp().min()), hi = FromFloat<E>(p.clamp().max());
  ForEachPair<E>(call, [&](E a, E b) {
    const E v = Apply(p.function(), a, b);
    return v < lo ? lo : v > hi ? hi : v;
  });
}

template <typename E>
void RunExtreme(const KernelCall& call) {
  const auto& p = call.params<BinaryParams>();
  const bool largest = p.function() == BinaryFunction::maximum;
  const auto lo = static_cast<int32_t>(p.clamp().min()), hi = static_cast<int32_t>(p.clamp().max());
  ForEachPair<E>(call, [=](E a, E b) { return static_cast<E>(ClampInt((a > b) == largest ? a : b, lo, hi)); });
}

template <typename E>
void RunFp32Rne(const KernelCall& call) {
  const auto& p = call.params<BinaryParams>();
  const int32_t zero_point = p.output_zero_point();
  const float lo = p.clamp().min() - static_cast<float>(zero_point);
  const float hi = p.clamp().max() - static_cast<float>(zero_point);
  ForEachPair<E>(call, [&](E a, E b) {
    const int32_t x = a - p.a_zero_point(), y = b - p.b_zero_point();
    float v = 0;
    if (p.function() == BinaryFunction::prelu) {
      v = x >= 0 ? static_cast<float>(x) * p.a_scale() : static_cast<float>(x * y) * p.b_scale();
    } else {
      const float difference = static_cast<float>(x) * p.a_scale() - static_cast<float>(y) * p.b_scale();
      v = difference * difference;
    }
    return static_cast<E>(RoundToEven(ClampFloat(v, lo, hi)) + zero_point);
  });
}

template <typename E>
void RunTflite(const KernelCall& call) {
  const auto& p = call.params<BinaryParams>();
  const auto lo = static_cast<int32_t>(p.clamp().min()), hi = static_cast<int32_t>(p.clamp().max());
  const int32_t zero_point = p.output_zero_point();
  const auto a_part = [&](int32_t v) {
    return MultiplyTflite(static_cast<uint32_t>(v), p.a_multiplier(), p.a_shift());
  };
  const auto b_part = [&](int32_t v) {
    return MultiplyTflite(static_cast<uint32_t>(v), p.b_multiplier(), p.b_shift());
  };
  ForEachPair<E>(call, [&](E a, E b) {
    const int32_t x = a - p.a_zero_point(), y = b - p.b_zero_point();
    if (p.function() == BinaryFunction::prelu) {
      const bool own = x >= 0;
      return static_cast<E>(RequantizeTflite(static_cast<uint32_t>(own ? x : x * y),
                                             own ? p.a_multiplier() : p.b_multiplier(), own ? p.a_shift() : p.b_shift(),
                                             zero_point, lo, hi));
    }
    const auto difference = static_cast<uint32_t>(a_part(x * (1 << p.left_shift()))) -
                            static_cast<uint32_t>(b_part(y * (1 << p.left_shift())));
    return static_cast<E>(
        RequantizeTflite(difference * difference, p.output_multiplier(), p.output_shift(), zero_point, lo, hi));
  });
}

constexpr Kernel Row(DataType type, Numerics numerics, Status (*check)(const KernelCall&, uint64_t&),
                     void (*run)(const KernelCall&)) {
  return {{Op::kBinary, numerics, Layout::kNeutral, {type, type, type}}, check, run};
}
template <typename E>
constexpr Kernel ExtremeRow() {
  return Row(kDataTypeOf<E>, Numerics::kAny, &CheckBinary<Numerics::kAny>, &RunExtreme<E>);
}
template <typename E>
constexpr Kernel Fp32RneRow() {
  return Row(kDataTypeOf<E>, Numerics::kFp32Rne, &CheckBinary<Numerics::kFp32Rne>, &RunFp32Rne<E>);
}
template <typename E>
constexpr Kernel TfliteRow() {
  return Row(kDataTypeOf<E>, Numerics::kTflite, &CheckBinary<Numerics::kTflite>, &RunTflite<E>);
}
template <typename E>
constexpr Kernel PlainRow() {
  return Row(kDataTypeOf<E>, Numerics::kAny, &CheckBinary<Numerics::kAny>, &Run<E>);
}

}  // namespace

constexpr Kernel kBinaryFloat32 = PlainRow<float>();
constexpr Kernel kBinaryInt32 = PlainRow<int32_t>();
constexpr Kernel kBinaryInt64 = PlainRow<int64_t>();
constexpr Kernel kBinaryInt8 = ExtremeRow<int8_t>();
constexpr Kernel kBinaryInt8Fp32Rne = Fp32RneRow<int8_t>();
constexpr Kernel kBinaryInt8Tflite = TfliteRow<int8_t>();
constexpr Kernel kBinaryInt16 = ExtremeRow<int16_t>();
constexpr Kernel kBinaryInt16Fp32Rne = Fp32RneRow<int16_t>();
constexpr Kernel kBinaryInt16Tflite = TfliteRow<int16_t>();

}  // namespace takt::reference
