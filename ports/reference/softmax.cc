// softmax
#include <bit>
#include <cmath>

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

void RunTflite(const KernelCall& call) {
  const auto& p = call.params<schema::SoftmaxParams>();
  const auto exp_of = [&p](int32_t diff) {
    return fixed_point::ExpOfNegative(MultiplyTflite(static_cast<uint32_t>(diff), p.multiplier(), p.shift()), 5);
  };
  ForEachRow<int8_t>(call, [&](const int8_t* x, int8_t* y, int32_t depth) {
    const int32_t max = MaxOf(x, depth);
    uint32_t sum = 0;  // Q12
    for (int32_t i = 0; i < depth; ++i)
      if (x[i] - max >= p.diff_min()) sum += static_cast<uint32_t>(RoundingDivideByPowerOfTwo(exp_of(x[i] - max), 12));
    const int zeros = std::countl_zero(sum | 1u);
    const int32_t scale = fixed_point::Reciprocal(fixed_point::Wrap((sum << zeros) - 0x80000000u));
    const int shift = 12 - zeros + 31 - 8;
    for (int32_t i = 0; i < depth; ++i) {
      const int32_t diff = x[i] - max;
      const int32_t q =
          diff >= p.diff_min() ? RoundingDivideByPowerOfTwo(fixed_point::Mul(scale, exp_of(diff)), shift) - 128 : -128;
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
