#include <cmath>

#include "ports/reference/kernels.h"
#include "schema/plan_generated.h"
#include "tests/ops/kernel_fixture.h"

namespace takt {
namespace {

TEST(Softmax, BothNumericsAreWithinOneOfTheOracle) {
  const double scale = 0.125;
  std::vector<int8_t> x;
  for (int i = 0; i < 36; ++i) x.push_back(static_cast<int8_t>((i * i * 37 + 11) % 97 - 48));
  std::vector<uint32_t> table;
  for (int d = 0; d < 256; ++d) table.push_back(static_cast<uint32_t>(std::nearbyint(std::exp(-scale * d) * (1 << 22))));
  const schema::SoftmaxParams p(1, 1 << 30, 24, -248);  // scale * 2^26 = 0.5 * 2^24
  test::KernelFixture f, g;
  f.Input(DataType::kInt8, {3, 12}, x);
  f.Input(DataType::kUint32, {256}, table, true);
  f.Output(DataType::kInt8, {3, 12});
  g.Input(DataType::kInt8, {3, 12}, x);
  g.Output(DataType::kInt8, {3, 12});
  const auto fp32 = f.Run<int8_t>(reference::kSoftmaxInt8Fp32Rne, p);
  const auto tflite = g.Run<int8_t>(reference::kSoftmaxInt8Tflite, p);
  for (int r = 0; r < 3; ++r) {
    double sum = 0;
    for (int i = 0; i < 12; ++i) sum += std::exp(scale * x[r * 12 + i]);
    for (int i = 0; i < 12; ++i) {
      const double v = std::fmin(256 * std::exp(scale * x[r * 12 + i]) / sum, 255) - 128;
      EXPECT_NEAR(fp32[r * 12 + i], v, 0.501);
      EXPECT_NEAR(tflite[r * 12 + i], v, 1.0);
    }
  }
}

}  // namespace
}  // namespace takt
