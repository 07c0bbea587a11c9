#include <cmath>

#include "ports/reference/kernels.h"
#include "schema/plan_generated.h"
#include "tests/ops/kernel_fixture.h"

namespace takt {
namespace {

using schema::Clamp, schema::Conv2dParams, schema::Window2d;

struct Case { int n, h, w, c, groups, o, kh, kw, stride, dilation, pad; };

class Conv2d : public testing::TestWithParam<Case> {};

int Draw(uint32_t& s) { return static_cast<int8_t>((s = s * 1664525u + 1013904223u) >> 24); }

TEST_P(Conv2d, EqualsOracleInDouble) {
  const Case k = GetParam();
  uint32_t seed = 1;
  const int depth = k.c / k.groups, xz = 3, zp = -5;
  const int oh = (k.h + 2 * k.pad - (k.kh - 1) * k.dilation - 1) / k.stride + 1;
  const int ow = (k.w + 2 * k.pad - (k.kw - 1) * k.dilation - 1) / k.stride + 1;
  std::vector<int8_t> x(k.n * k.h * k.w * k.c), w(k.o * k.kh * k.kw * depth);
  for (auto& v : x) v = static_cast<int8_t>(Draw(seed));
  for (auto& v : w) v = static_cast<int8_t>(Draw(seed));
  std::vector<int32_t> bias(k.o);
  for (auto& v : bias) v = Draw(seed) * 10;
  std::vector<float> scale(k.o);
  for (int i = 0; i < k.o; ++i) scale[i] = 0.001f + 0.0001f * static_cast<float>(i);
  test::KernelFixture f;
  f.Input(DataType::kInt8, {k.n, k.h, k.w, k.c}, x);
  f.Input(DataType::kInt8, {k.o, k.kh, k.kw, depth}, w, true);
  f.Input(DataType::kInt32, {k.o}, bias, true);
  f.Input(DataType::kFloat32, {k.o}, scale, true);
  f.Output(DataType::kInt8, {k.n, oh, ow, k.o});
  const auto u = [](int v) { return static_cast<uint16_t>(v); };
  const Conv2dParams p(Window2d(u(k.stride), u(k.stride), u(k.dilation), u(k.dilation), u(k.pad), u(k.pad), u(k.pad), u(k.pad)),
                       Clamp(-100, 120), static_cast<int16_t>(xz), 0, static_cast<int16_t>(zp), 0);
  const auto y = f.Run<int8_t>(reference::kConv2dInt8Fp32Rne, p);
  size_t at = 0;
  for (int n = 0; n < k.n; ++n)
    for (int oy = 0; oy < oh; ++oy)
      for (int ox = 0; ox < ow; ++ox)
        for (int o = 0; o < k.o; ++o, ++at) {
          double acc = bias[o];
          for (int ky = 0; ky < k.kh; ++ky)
            for (int kx = 0; kx < k.kw; ++kx)
              for (int i = 0; i < depth; ++i) {
                const int iy = oy * k.stride - k.pad + ky * k.dilation, ix = ox * k.stride - k.pad + kx * k.dilation;
                if (iy < 0 || ix < 0 || iy >= k.h || ix >= k.w) continue;
                acc += (x[((n * k.h + iy) * k.w + ix) * k.c + o / (k.o / k.groups) * depth + i] - xz) *
                       w[((o * k.kh + ky) * k.kw + kx) * depth + i];
              }
          const double v = std::fmin(std::fmax(acc * scale[o], -100 - zp), 120 - zp);
          if (std::fabs(v - std::floor(v) - 0.5) > 0x1p-14) {
            EXPECT_EQ(y[at], std::nearbyint(v) + zp) << at;
          }
        }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Conv2d, testing::Values(
    Case{1, 5, 6, 3, 1, 4, 3, 3, 1, 1, 1}, Case{2, 7, 7, 4, 2, 6, 3, 2, 2, 1, 1}, Case{1, 9, 8, 2, 1, 3, 3, 3, 1, 2, 3},
    Case{1, 4, 4, 8, 1, 8, 1, 1, 1, 1, 0}, Case{1, 3, 3, 1, 1, 2, 3, 3, 1, 1, 4}));

TEST(Conv2dRule, RejectsScaleOutOfRangeAndNonConstant) {
  test::KernelFixture f;
  f.Input<int8_t>(DataType::kInt8, {1, 1, 1, 1}, {1});
  f.Input<int8_t>(DataType::kInt8, {1, 1, 1, 1}, {1}, true);
  f.Input<int32_t>(DataType::kInt32, {1}, {1}, true);
  f.Input<float>(DataType::kFloat32, {1}, {1}, true);
  f.Output(DataType::kInt8, {1, 1, 1, 1});
  const Conv2dParams p(Window2d(1, 1, 1, 1, 0, 0, 0, 0), Clamp(-128, 127), 0, 0, 0, 0);
  EXPECT_TRUE(f.Check(reference::kConv2dInt8Fp32Rne, p).ok());
  EXPECT_EQ(f.Check(reference::kConv2dInt8Tflite, p).site(), Site::kOpOperands);
  *f.input(3).as<float>() = 256;
  EXPECT_EQ(f.Check(reference::kConv2dInt8Fp32Rne, p).site(), Site::kOpConstant);
  *f.input(3).as<float>() = 1;
  f.input(3).constant = false;
  EXPECT_EQ(f.Check(reference::kConv2dInt8Fp32Rne, p).site(), Site::kOpConstant);
  f.input(3).constant = true;
  const Conv2dParams no_stride(Window2d(0, 1, 1, 1, 0, 0, 0, 0), Clamp(-128, 127), 0, 0, 0, 0);
  EXPECT_EQ(f.Check(reference::kConv2dInt8Fp32Rne, no_stride).site(), Site::kOpParams);
}

}  // namespace
}  // namespace takt
