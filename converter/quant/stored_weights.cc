#include "converter/quant/stored_weights.h"

#include <algorithm>
#include <cmath>

namespace takt::quant {
namespace {

constexpr int kMostOfPair = 128;

/// Both of one sign, in levels.
template <typename T>
T SumOfPair(T a, T b) {
  return (a > 0) == (b > 0) ? a + b : (std::abs(a) > std::abs(b) ? a : b);
}

/// Calls visit(i) for the first element of each pair.
template <typename Visit>
void ForEachPair(size_t count, const WeightChannels& channel, const Visit& visit) {
  for (size_t row = 0; row < count; row += channel.inner) {
    for (size_t i = row; i + 1 < row + channel.inner; i += 2) visit(i);
  }
}

}  // namespace

StoredWeights StoreWeights(const std::vector<float>& values, const WeightChannels& channel, bool pairs) {
  std::vector<float> scales(channel.count);
  for (size_t i = 0; i < values.size(); ++i)
    scales[channel(i)] = std::max(scales[channel(i)], std::fabs(values[i]) / 127);
  if (pairs) {
    ForEachPair(values.size(), channel, [&](size_t i) {
      float& scale = scales[channel(i)];
      scale = std::max(scale, std::fabs(SumOfPair(values[i], values[i + 1])) / kMostOfPair);
    });
  }
  StoredWeights stored;
  stored.quantization.axis = channel.axis;
  stored.quantization.zero_points.assign(channel.count, 0);
  for (const float scale : scales) stored.quantization.scales.push_back(scale > 1e-30f ? scale : 1.0f);
  for (size_t i = 0; i < values.size(); ++i) {
    const double scale = static_cast<double>(stored.quantization.scales[channel(i)]);
    stored.levels.push_back(
        static_cast<int8_t>(std::clamp(std::nearbyint(static_cast<double>(values[i]) / scale), -127.0, 127.0)));
  }
  if (pairs) {
    // Rounding may have added one.
    ForEachPair(values.size(), channel, [&](size_t i) {
      int8_t& a = stored.levels[i];
      int8_t& b = stored.levels[i + 1];
      const int sum = SumOfPair<int>(a, b);
      int8_t& larger = std::abs(int{a}) > std::abs(int{b}) ? a : b;
      if (std::abs(sum) > kMostOfPair) larger = static_cast<int8_t>(larger + (sum > 0 ? -1 : 1));
    });
  }
  return stored;
}

}  // namespace takt::quant
