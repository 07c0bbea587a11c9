// What ports/xnnpack leaves to the reference port of the rows that it offers, and why. Bytes are compared by every op's
// own test; rows that it does not offer are listed in tests/support/ports.cc.
#include <gtest/gtest.h>

#include <string>

#include "ports/xnnpack/kernels.h"
#include "schema/plan_generated.h"

namespace takt::test {
namespace {

constexpr DataType kI8 = DataType::kInt8, kI32 = DataType::kInt32, kF32 = DataType::kFloat32;

KernelKey Key(Op op, Numerics numerics, DataType second, DataType type) {
  return {op, numerics, Layout::kNeutral, {type, second, type}};
}
const char* Reason(const KernelKey& key, const KernelCall& call) {
  const char* reason = xnnpack::Refusal(key, call);
  return reason == nullptr ? "taken" : reason;
}

/// x[1,6,6,4] -> conv2d 3x3 -> y[1,4,4,4], free to be broken.
struct ConvCall {
  int32_t x_dims[4] = {1, 6, 6, 4}, w_dims[4] = {4, 3, 3, 4}, channels = 4, y_dims[4] = {1, 4, 4, 4};
  int8_t weights[144] = {};
  int32_t bias[4] = {};
  float scales[4] = {0.1f, 0.2f, 0.3f, 0.4f};
  schema::Conv2dParams params{schema::Window2d(1, 1, 1, 1, 0, 0, 0, 0), schema::Clamp(-128, 127), 3, 0, 5, 0};
  bool constant = true;

  const char* Refused() {
    const TensorRef inputs[] = {{nullptr, x_dims, nullptr, kI8, 4, false},
                                {weights, w_dims, nullptr, kI8, 4, constant},
                                {bias, &channels, nullptr, kI32, 1, true},
                                {scales, &channels, nullptr, kF32, 1, true}};
    const TensorRef y{nullptr, y_dims, nullptr, kI8, 4, false};
    return Reason(Key(Op::kConv2d, Numerics::kFp32Rne, kI8, kI8),
                  {.step_params = &params, .inputs = inputs, .outputs = {&y, 1}, .scratch = {}, .persistent = {}});
  }
};

TEST(Xnnpack, RefusesConvolutionsWithTheReason) {
  EXPECT_STREQ(ConvCall().Refused(), "taken");
  ConvCall c;
  c.params.mutate_weight_zero_point(1);
  EXPECT_STREQ(c.Refused(), "weights have a zero point");
  c = {};
  c.params.mutable_clamp().mutate_max(-128);
  EXPECT_STREQ(c.Refused(), "the clamp leaves one value");
  c = {};
  c.constant = false;
  EXPECT_STREQ(c.Refused(), "weights or bias are no constants");
  c = {};
  c.y_dims[1] = 3;  // A row of windows less than the input has.
  EXPECT_STREQ(c.Refused(), "windows leave cells at the end of an axis unread");
  c = {};
  c.params.mutable_window().mutate_stride_h(0);
  EXPECT_STREQ(c.Refused(), "the step breaks its op's rule");
}

const char* AddRefused(const schema::AddParams& params) {
  const int32_t dims[] = {2, 8};
  const TensorRef t{nullptr, dims, nullptr, kI8, 2, false};
  const TensorRef inputs[] = {t, t};
  return Reason(Key(Op::kAdd, Numerics::kFp32Rne, kI8, kI8),
                {.step_params = &params, .inputs = inputs, .outputs = {&t, 1}, .scratch = {}, .persistent = {}});
}

TEST(Xnnpack, RefusesAddsWithTheReason) {
  const auto add = [](int32_t a, int32_t b, int8_t shift) {
    return schema::AddParams(schema::Clamp(-128, 127), a, b, 0, 0, 0, shift, 0, 1, 2, 3, schema::AddFunction::add, 0);
  };
  EXPECT_STREQ(AddRefused(add(1 << 20, 1 << 15, 20)), "taken");
  EXPECT_STREQ(AddRefused(add(1 << 20, -(1 << 19), 20)), "taken");
  EXPECT_STREQ(AddRefused(add(-(1 << 20), 1 << 19, 20)), "an operand's multiplier is not positive");
  EXPECT_STREQ(AddRefused(add(1 << 21, 1 << 20, 20)), "the larger multiplier has not 21 bits");
  EXPECT_STREQ(AddRefused(add(1 << 20, (1 << 10) - 1, 20)), "a ratio of scales is outside of [2^-10, 2^8)");
}

TEST(Xnnpack, HasARefusalForWhatItDoesNotOffer) {
  EXPECT_STREQ(Reason(Key(Op::kSoftmax, Numerics::kFp32Rne, kI8, kI8), {}), "XNNPACK has no operator with these bytes");
}

}  // namespace
}  // namespace takt::test
