#include "ports/kernel_util/tile_kernels.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace takt {
namespace {

/// The definition, one product at a time.
template <typename E, typename Sum>
std::vector<Sum> Naive(const TileWindow& t, const E* x, const int8_t* w, std::vector<Sum> acc, bool depthwise) {
  size_t at = 0;
  for (int oy = 0; oy < t.out_height; ++oy) {
    for (int ox = 0; ox < t.out_width; ++ox) {
      for (int oc = 0; oc < t.out_channels; ++oc, ++at) {
        if (!t.accumulate) acc[at] = 0;
        for (int ky = 0; ky < t.kernel_h; ++ky) {
          for (int kx = 0; kx < t.kernel_w; ++kx) {
            for (int c = depthwise ? oc : 0; c < (depthwise ? oc + 1 : t.channels); ++c) {
              const int y = oy * t.stride_h - t.pad_top + ky * t.dilation_h,
                        xx = ox * t.stride_w - t.pad_left + kx * t.dilation_w;
              if (y < 0 || y >= t.height || xx < 0 || xx >= t.width) continue;
              const int tap = (ky * t.kernel_w + kx) * t.channels + c;
              const int weight = w[depthwise ? tap : oc * t.kernel_h * t.kernel_w * t.channels + tap];
              acc[at] +=
                  static_cast<Sum>((x[y * t.x_row + xx * t.x_pixel + c] - t.x_zero_point) * (weight - t.w_zero_point));
            }
          }
        }
      }
    }
  }
  return acc;
}

void Run(const TileKernels& kernels, const TileWindow& t, const int8_t* x, const int8_t* w, uint32_t* acc,
         TileScratch scratch, bool depthwise) {
  depthwise ? kernels.depthwise(t, x, w, acc) : kernels.contract(t, x, w, acc, scratch);
}
void Run(const TileKernels& kernels, const TileWindow& t, const int16_t* x, const int8_t* w, uint64_t* acc,
         TileScratch scratch, bool depthwise) {
  depthwise ? kernels.depthwise_int16(t, x, w, acc) : kernels.contract_int16(t, x, w, acc, scratch);
}

/// Tiles of any shape; sums start near their type's end, where they wrap.
template <typename E, typename Sum>
void ExpectSumsOfTheDefinition() {
  std::mt19937 random(3);
  const auto draw = [&](int lo, int hi) {
    return lo + static_cast<int>(random() % static_cast<unsigned>(hi - lo + 1));
  };
  for (int i = 0; i < 300; ++i) {
    const bool depthwise = i % 3 == 0;
    TileWindow t = {};
    t.height = draw(1, 7), t.width = draw(1, 7), t.channels = draw(1, 40);
    t.x_pixel = t.channels + draw(0, 3), t.x_row = t.x_pixel * t.width + draw(0, 5);
    t.kernel_h = draw(1, 6), t.kernel_w = draw(1, 6), t.stride_h = draw(1, 3), t.stride_w = draw(1, 3);
    t.dilation_h = draw(1, 2), t.dilation_w = draw(1, 2), t.pad_top = draw(0, 3), t.pad_left = draw(0, 3);
    t.out_height = draw(1, 5), t.out_width = draw(1, 5), t.out_channels = depthwise ? t.channels : draw(1, 27);
    t.x_zero_point = sizeof(E) == 1 ? draw(-128, 127) : 0, t.w_zero_point = draw(-3, 3), t.accumulate = i % 2 == 0;
    std::vector<E> x(static_cast<size_t>(t.x_row * t.height));
    std::vector<int8_t> w(static_cast<size_t>(t.kernel_h * t.kernel_w * t.channels * t.out_channels));
    for (auto& v : x) v = static_cast<E>(i % 4 == 0 ? 1u << (8 * sizeof(E) - 1) : random());
    for (auto& v : w) v = static_cast<int8_t>(random());
    const std::vector<Sum> start(static_cast<size_t>(t.out_height * t.out_width * t.out_channels), Sum{0} - 16);
    const auto expected = Naive(t, x.data(), w.data(), start, depthwise);
    for (const TileKernels* kernels : {&kPortableTiles, &BestTileKernels()}) {
      std::vector<int16_t> column(w.size()), weights(w.size() + static_cast<size_t>(t.out_channels));
      std::vector<Sum> acc = start;
      Run(*kernels, t, x.data(), w.data(), acc.data(), {column.data(), weights.data()}, depthwise);
      ASSERT_EQ(acc, expected) << i;
    }
  }
}

TEST(TileKernels, AllImplementationsGiveTheSumsOfTheDefinition) {
  ExpectSumsOfTheDefinition<int8_t, uint32_t>();
  ExpectSumsOfTheDefinition<int16_t, uint64_t>();
}

TEST(TileKernels, AllImplementationsRequantizeAlike) {
  std::mt19937 random(4);
  const auto draw = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  for (int i = 0; i < 200; ++i) {
    const auto channels = static_cast<size_t>(1 + draw(40)), pixels = static_cast<size_t>(1 + draw(5));
    const TileOutput out = {static_cast<int32_t>(pixels), static_cast<int32_t>(channels), -100, 120, 7};
    std::vector<uint32_t> acc(pixels * channels), bias(channels);
    std::vector<float> scales(channels);
    for (uint32_t& v : acc) v = draw(8) == 0 ? static_cast<uint32_t>(random()) : draw(2000) - 1000;
    for (uint32_t& v : bias) v = draw(200) - 100;
    for (float& v : scales) v = static_cast<float>(1 + draw(8)) / 16;  // many ties
    std::vector<int8_t> expected(acc.size()), y(acc.size());
    kPortableTiles.requantize(out, acc.data(), bias.data(), scales.data(), expected.data());
    BestTileKernels().requantize(out, acc.data(), bias.data(), scales.data(), y.data());
    ASSERT_EQ(y, expected) << i;
  }
}

}  // namespace
}  // namespace takt
