// softmax
#include <bit>
#include <cmath>
#include <limits>

#include "engine/base/fixed_point.h"
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

template <typename E, typename Out = E, typename F>
void ForEachRow(const KernelCall& call, F f) {
  const TensorRef& x = call.inputs[0];
  const int32_t depth = x.dims[x.rank - 1];
  const uint32_t size = x.size();
  for (uint32_t at = 0; at < size; at += static_cast<uint32_t>(depth))
    f(x.as<const E>() + at, call.outputs[0].as<Out>() + at, depth);
}

/// Output stored in units of 1 / 2^bits, from 0.
template <typename Out>
constexpr int kBits = 8 * sizeof(Out);

template <typename Out>
void RunFp32Rne(const KernelCall& call) {
  constexpr uint64_t kMax = (uint64_t{1} << kBits<Out>)-1;
  const auto* table = call.inputs[1].as<const uint32_t>();
  ForEachRow<int8_t, Out>(call, [table](const int8_t* x, Out* y, int32_t depth) {
    const int32_t max = MaxOf(x, depth);
    uint64_t sum = 0;
    for (int32_t i = 0; i < depth; ++i) sum += table[max - x[i]];
    for (int32_t i = 0; i < depth; ++i) {
      const uint64_t q = ((uint64_t{table[max - x[i]]} << (kBits<Out> + 1)) + sum) / (2 * sum);
      y[i] = static_cast<Out>(static_cast<int32_t>(q < kMax ? q : kMax) + std::numeric_limits<Out>::min());
    }
  });
}

/// exp(-beta * scale * d) * 2^30 is the product of the entries for d's high and low byte, which have 24 bits of
/// fraction.
void RunFp32Rne16(const KernelCall& call) {
  const auto* table = call.inputs[1].as<const uint32_t>();
  const auto exp_of = [table](int32_t d) { return (uint64_t{table[d >> 8]} * table[256 + (d & 255)]) >> 18; };
  ForEachRow<int16_t>(call, [exp_of](const int16_t* x, int16_t* y, int32_t depth) {
    const int32_t max = MaxOf(x, depth);
    uint64_t sum = 0;
    for (int32_t i = 0; i < depth; ++i) sum += exp_of(max - x[i]);
    for (int32_t i = 0; i < depth; ++i) {
      const uint64_t q = ((exp_of(max - x[i]) << 16) + sum) / (2 * sum);
      y[i] = static_cast<int16_t>(q < 32767 ? q : 32767);
    }
  });
}

/// Q15 throughout: exp and 1 / (1 + x) by interpolation; the output holds the row's exponentials for a while.
void RunTflite16(const KernelCall& call) {
  const auto& p = call.params<schema::SoftmaxParams>();
  const auto *exp_table = call.inputs[1].as<const int16_t>(), *reciprocal_table = call.inputs[2].as<const int16_t>();
  const auto saturated = [](int32_t v) { return static_cast<int16_t>(ClampInt(v, -32768, 32767)); };
  ForEachRow<int16_t>(call, [&](const int16_t* x, int16_t* y, int32_t depth) {
    const int32_t max = MaxOf(x, depth);
    uint32_t sum = 0;
    for (int32_t i = 0; i < depth; ++i) {
      const auto scaled =
          static_cast<uint32_t>(MultiplyTflite(static_cast<uint32_t>(x[i] - max), p.multiplier(), p.shift()));
      y[i] = Interpolate(exp_table, saturated(static_cast<int32_t>(scaled + 32767u)));
      sum += static_cast<uint32_t>(y[i]);
    }
    const int zeros = std::countl_zero(sum);
    const auto normalized = static_cast<int32_t>(((uint64_t{sum} << (zeros - 1)) + (1 << 13)) >> 14);
    const int32_t reciprocal = Interpolate(reciprocal_table, saturated(normalized - (1 << 15) - (1 << 16)));
    const int shift = 31 - zeros;
    for (int32_t i = 0; i < depth; ++i) {
      const int64_t product = int64_t{y[i]} * reciprocal + (int64_t{1} << (shift - 1));
      y[i] = static_cast<int16_t>(ClampInt(static_cast<int32_t>(product >> shift), 0, 32767));
    }
  });
}

template <typename Out>
void RunTflite(const KernelCall& call) {
  using Limits = std::numeric_limits<Out>;
  const auto& p = call.params<schema::SoftmaxParams>();
  const auto exp_of = [&p](int32_t diff) {
    return fixed_point::ExpOfNegative(MultiplyTflite(static_cast<uint32_t>(diff), p.multiplier(), p.shift()), 5);
  };
  ForEachRow<int8_t, Out>(call, [&](const int8_t* x, Out* y, int32_t depth) {
    const int32_t max = MaxOf(x, depth);
    uint32_t sum = 0;  // Q12
    for (int32_t i = 0; i < depth; ++i)
      if (x[i] - max >= p.diff_min()) sum += static_cast<uint32_t>(RoundingDivideByPowerOfTwo(exp_of(x[i] - max), 12));
    const int zeros = std::countl_zero(sum | 1u);
    const int32_t scale = fixed_point::Reciprocal(fixed_point::Wrap((sum << zeros) - 0x80000000u));
    const int shift = 12 - zeros + 31 - kBits<Out>;
    for (int32_t i = 0; i < depth; ++i) {
      const int32_t diff = x[i] - max;
      const int32_t q =
          diff >= p.diff_min() ? RoundingDivideByPowerOfTwo(fixed_point::Mul(scale, exp_of(diff)), shift) : 0;
      y[i] = static_cast<Out>(ClampInt(q + Limits::min(), Limits::min(), Limits::max()));
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

template <typename Out>
constexpr Kernel Fp32RneRow() {
  return {{Op::kSoftmax, Numerics::kFp32Rne, Layout::kNeutral, {kInt8, kUint32, kDataTypeOf<Out>}},
          &CheckSoftmax<Numerics::kFp32Rne>,
          &RunFp32Rne<Out>};
}
template <typename Out>
constexpr Kernel TfliteRow() {
  return {{Op::kSoftmax, Numerics::kTflite, Layout::kNeutral, {kInt8, kNone, kDataTypeOf<Out>}},
          &CheckSoftmax<Numerics::kTflite>,
          &RunTflite<Out>};
}

}  // namespace

constexpr Kernel kSoftmaxInt8Fp32Rne = Fp32RneRow<int8_t>();
constexpr Kernel kSoftmaxInt8Tflite = TfliteRow<int8_t>();
constexpr Kernel kSoftmaxInt8ToInt16Fp32Rne = Fp32RneRow<int16_t>();
constexpr Kernel kSoftmaxInt8ToInt16Tflite = TfliteRow<int16_t>();
constexpr Kernel kSoftmaxInt16Fp32Rne = {
    {Op::kSoftmax, Numerics::kFp32Rne, Layout::kNeutral, {kInt16, kUint32, kInt16}},
    &CheckSoftmax<Numerics::kFp32Rne>,
    &RunFp32Rne16};
constexpr Kernel kSoftmaxInt16Tflite = {{Op::kSoftmax, Numerics::kTflite, Layout::kNeutral, {kInt16, kInt16, kInt16}},
                                        &CheckSoftmax<Numerics::kTflite>,
                                        &RunTflite16};
constexpr Kernel kSoftmaxFloat32 = {{Op::kSoftmax, Numerics::kAny, Layout::kNeutral, {kFloat32, kNone, kFloat32}},
                                    &CheckSoftmax<Numerics::kAny>,
                                    &RunFloat};

}  // namespace takt::reference
