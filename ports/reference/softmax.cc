// softmax
#include <bit>
#include <cmath>

#include "engine/ops/checks.h"
#include "ports/kernel_util/arithmetic.h"
#include "ports/reference/kernels.h"

namespace takt::reference {
namespace {

template <typename E>
E MaxOf(const E* x, int32_t n) {
  E max = x[0];
  for (int32_t i = 1; i < n; ++i) max = x[i] > max ? x[i] : max;
  return max;
}

template <typename E, typename F>
void ForEachRow(const KernelCall& call, F f) {
  const TensorRef& x = call.inputs[0];
  const int32_t depth = x.dims[x.rank - 1];
  const uint32_t size = x.size();
  for (uint32_t at = 0; at < size; at += static_cast<uint32_t>(depth))
    f(x.as<const E>() + at, call.outputs[0].as<E>() + at, depth);
}

void RunFp32Rne(const KernelCall& call) {
  const auto* table = call.inputs[1].as<const uint32_t>();
  ForEachRow<int8_t>(call, [table](const int8_t* x, int8_t* y, int32_t depth) {
    const int32_t max = MaxOf(x, depth);
    uint64_t sum = 0;
    for (int32_t i = 0; i < depth; ++i) sum += table[max - x[i]];
    for (int32_t i = 0; i < depth; ++i) {
      const uint64_t q = ((uint64_t{table[max - x[i]]} << 9) + sum) / (2 * sum);
      y[i] = static_cast<int8_t>(static_cast<int32_t>(q < 255 ? q : 255) - 128);
    }
  });
}

// Fixed point of the tflite numerics: Qm is a 32-bit value with m integer bits and 31 - m of fraction.
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
constexpr int32_t ShiftLeft(int32_t a, int n) {
  const int64_t v = int64_t{a} * (int64_t{1} << n);
  return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : static_cast<int32_t>(v);
}

/// exp(a) as Q0, for a in [-1/4, 0) as Q0: a Taylor polynomial about -1/8.
constexpr int32_t ExpOfQuarter(int32_t a) {
  constexpr int32_t kExpOfEighth = 1895147668, kThird = 715827883;
  const int32_t x = Add(a, 1 << 28), x2 = Mul(x, x), x3 = Mul(x2, x), x4 = Mul(x2, x2);
  const int32_t high = Add(Mul(Add(RoundingDivideByPowerOfTwo(x4, 2), x3), kThird), x2);
  return Add(kExpOfEighth, Mul(kExpOfEighth, Add(x, RoundingDivideByPowerOfTwo(high, 1))));
}

/// exp(a) as Q0, for a <= 0 as Q5: the quarter's rest by polynomial, times a constant for each set bit above.
constexpr int32_t ExpOfNegative(int32_t a) {
  if (a == 0) return INT32_MAX;
  constexpr int32_t kFactors[] = {1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242};
  constexpr int32_t kQuarter = 1 << 24;
  const int32_t rest = (a & (kQuarter - 1)) - kQuarter;
  int32_t result = ExpOfQuarter(ShiftLeft(rest, 5));
  const int32_t above = Sub(rest, a);
  for (int i = 0; i < 7; ++i)
    if ((above & (kQuarter << i)) != 0) result = Mul(result, kFactors[i]);
  return result;
}

/// 1 / (1 + a) as Q0, for a in [0, 1) as Q0: three Newton steps in Q2.
constexpr int32_t Reciprocal(int32_t a) {
  const int64_t sum = int64_t{a} + INT32_MAX;
  const auto half = static_cast<int32_t>((sum + 1) / 2);
  int32_t x = Add(1515870810, Mul(half, -1010580540));
  for (int i = 0; i < 3; ++i) x = Add(x, ShiftLeft(Mul(x, Sub(1 << 29, Mul(half, x))), 2));
  return ShiftLeft(x, 1);
}

void RunTflite(const KernelCall& call) {
  const auto& p = call.params<schema::SoftmaxParams>();
  const auto exp_of = [&p](int32_t diff) {
    return ExpOfNegative(MultiplyTflite(static_cast<uint32_t>(diff), p.multiplier(), p.shift()));
  };
  ForEachRow<int8_t>(call, [&](const int8_t* x, int8_t* y, int32_t depth) {
    const int32_t max = MaxOf(x, depth);
    uint32_t sum = 0;  // Q12
    for (int32_t i = 0; i < depth; ++i)
      if (x[i] - max >= p.diff_min()) sum += static_cast<uint32_t>(RoundingDivideByPowerOfTwo(exp_of(x[i] - max), 12));
    const int zeros = std::countl_zero(sum | 1u);
    const int32_t scale = Reciprocal(Wrap((sum << zeros) - 0x80000000u));
    const int shift = 12 - zeros + 31 - 8;
    for (int32_t i = 0; i < depth; ++i) {
      const int32_t diff = x[i] - max;
      const int32_t q = diff >= p.diff_min() ? RoundingDivideByPowerOfTwo(Mul(scale, exp_of(diff)), shift) - 128 : -128;
      y[i] = static_cast<int8_t>(ClampInt(q, -128, 127));
    }
  });
}

void RunFloat(const KernelCall& call) {
  const float beta = call.params<schema::SoftmaxParams>().beta();
  ForEachRow<float>(call, [beta](const float* x, float* y, int32_t depth) {
    const float max = MaxOf(x, depth);
    float sum = 0.0f;
    for (int32_t i = 0; i < depth; ++i) sum += y[i] = std::exp((x[i] - max) * beta);
    for (int32_t i = 0; i < depth; ++i) y[i] /= sum;
  });
}

using enum DataType;

}  // namespace

constexpr Kernel kSoftmaxInt8Fp32Rne = {{Op::kSoftmax, Numerics::kFp32Rne, Layout::kNeutral, {kInt8, kUint32, kInt8}},
                                        &CheckSoftmax<Numerics::kFp32Rne>,
                                        &RunFp32Rne};
constexpr Kernel kSoftmaxInt8Tflite = {{Op::kSoftmax, Numerics::kTflite, Layout::kNeutral, {kInt8, kNone, kInt8}},
                                       &CheckSoftmax<Numerics::kTflite>,
                                       &RunTflite};
constexpr Kernel kSoftmaxFloat32 = {{Op::kSoftmax, Numerics::kAny, Layout::kNeutral, {kFloat32, kNone, kFloat32}},
                                    &CheckSoftmax<Numerics::kAny>,
                                    &RunFloat};

}  // namespace takt::reference
