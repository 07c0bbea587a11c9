#include "converter/quant/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace takt::quant {
namespace {

std::vector<float> Normal(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<float> values(count);
  for (float& value : values) {  // Sum of twelve uniforms: variance 1.
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += static_cast<double>(random()) / 4294967296.0;
    value = static_cast<float>(sum);
  }
  return values;
}

TEST(Histogram, RangesHoldZero) {
  Histogram h;
  h.Add(std::vector<float>{2, 3});
  EXPECT_EQ(h.Find(Observer::kMinMax, 0).min, 0);
  EXPECT_EQ(h.Find(Observer::kMinMax, 0).max, 3);
}

TEST(Histogram, OneSampleOrManyGiveTheSamePercentile) {
  const std::vector<float> values = Normal(100000, 1);
  Histogram once;
  once.Add(values);
  Histogram pieces;
  for (size_t i = 0; i < values.size(); i += 100) pieces.Add(std::span(values).subspan(i, 100));
  // Both end with the same bins; widening merges pairs exactly.
  EXPECT_EQ(once.Find(Observer::kPercentile, 0.999).max, pieces.Find(Observer::kPercentile, 0.999).max);
  std::vector<float> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  // Exact but for the width of a bin: 4096 over [-8, 8).
  EXPECT_NEAR(once.Find(Observer::kPercentile, 0.999).max, static_cast<double>(sorted[99900]), 16.0 / 4096);
}

TEST(Histogram, OutliersAreClippedWhereThatCostsLess) {
  std::vector<float> values = Normal(1000000, 2);
  values.push_back(16);
  Histogram h;
  h.Add(values);
  // Least of ((max + 4.5) / 255)^2 / 12 + (16 - max)^2 / 10^6, the normal part being within [-4.5, 4.5], lies below 5.
  EXPECT_LT(h.Find(Observer::kMse, 0).max, 6);
  EXPECT_GT(h.Find(Observer::kMse, 0).max, 3);
  EXPECT_LT(h.Find(Observer::kPercentile, 0.9999).max, 4);
  EXPECT_LT(h.Find(Observer::kEntropy, 0).max, 16);
}

/// Unit mean: clipping at c loses exp(-c) of the values, each by some log(255), steps of c / 255 lose (c / 255)^2 / 24:
/// least at c = 11. Few values, whose bins differ by chance, must not ask for less.
TEST(Histogram, EntropyOfAnExponentialDistribution) {
  for (const size_t count : {2000, 20000, 1000000}) {
    std::mt19937 random(3);
    std::vector<float> values(count);
    for (float& value : values)
      value = static_cast<float>(-std::log((static_cast<double>(random()) + 1) / 4294967297.0));
    Histogram h;
    h.Add(values);
    const double most = h.Find(Observer::kMinMax, 0).max;
    EXPECT_GT(h.Find(Observer::kEntropy, 0).max, std::min(10.0, 0.95 * most)) << count;
    EXPECT_LT(h.Find(Observer::kEntropy, 0).max, 15) << count;
  }
}

/// Half of the values are a background of 16 channels, one value each: the range must be about that of the others
/// alone.
TEST(Histogram, EntropyIgnoresValuesThatOccurAgainAndAgain) {
  std::mt19937 random(4);
  std::vector<float> values(200000);
  for (float& value : values) value = static_cast<float>(-std::log((static_cast<double>(random()) + 1) / 4294967297.0));
  Histogram plain, mixed;
  plain.Add(values);
  for (size_t i = 0; i < values.size() / 2; ++i) values[i] = static_cast<float>(i % 16) * 0.17f;
  mixed.Add(values);
  const double wanted = plain.Find(Observer::kEntropy, 0).max;
  EXPECT_NEAR(mixed.Find(Observer::kEntropy, 0).max, wanted, 0.15 * wanted);
}

TEST(Histogram, UniformValuesKeepTheirRange) {
  std::vector<float> values;
  for (int i = -1000; i <= 1000; ++i) values.push_back(static_cast<float>(i) / 1000);
  Histogram h;
  h.Add(values);
  EXPECT_GT(h.Find(Observer::kMse, 0).max, 0.98);
}

TEST(Histogram, MovingAverageFollowsTheSamples) {
  Histogram h;
  h.Add(std::vector<float>{10});
  for (int i = 0; i < 100; ++i) h.Add(std::vector<float>{1});
  EXPECT_LT(h.Find(Observer::kMovingAverage, 0).max, 1.01);
  EXPECT_EQ(h.Find(Observer::kMinMax, 0).max, 10);
}

TEST(Histogram, CountsWhatIsNotFinite) {
  Histogram h;
  h.Add(std::vector<float>{1, std::nanf(""), std::numeric_limits<float>::infinity()});
  EXPECT_EQ(h.not_finite(), 2u);
  EXPECT_EQ(h.Find(Observer::kMinMax, 0).max, 1);
}

TEST(Histogram, ZerosAlone) {
  Histogram h;
  h.Add(std::vector<float>(8, 0.0f));
  EXPECT_EQ(h.Find(Observer::kMse, 0).max, 0);
}

}  // namespace
}  // namespace takt::quant
