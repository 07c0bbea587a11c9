#include "converter/quant/histogram.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace takt::quant {
namespace {

constexpr size_t kBins = 4096;
constexpr int kLevels = 255;       ///< Steps of int8.
constexpr double kMomentum = 0.1;  ///< Weight of the newest sample in the moving average.
constexpr int kShrinkSteps = 80;   ///< Candidates for an end of the range: 1 - k / 100 of the outermost value.

}  // namespace

Histogram::Histogram() : bins_(kBins) {}

void Histogram::Widen(double magnitude) {
  if (limit_ == 0) limit_ = std::exp2(std::floor(std::log2(magnitude)) + 1);
  while (magnitude >= limit_) {
    std::vector<uint64_t> merged(kBins);
    for (size_t i = 0; i < kBins; ++i) merged[kBins / 4 + i / 2] += bins_[i];
    bins_ = std::move(merged);
    limit_ *= 2;
  }
}

void Histogram::Add(std::span<const float> values) {
  Range sample;
  for (float value : values) {
    if (!std::isfinite(value)) {
      ++not_finite_;
      continue;
    }
    const double v = static_cast<double>(value);
    sample = {std::min(sample.min, v), std::max(sample.max, v)};
  }
  const double magnitude = std::max(-sample.min, sample.max);
  if (magnitude > 0) Widen(magnitude);
  for (float value : values) {
    if (!std::isfinite(value)) continue;
    const double at = limit_ == 0 ? 0.5 : static_cast<double>(value) / limit_ * 0.5 + 0.5;
    ++bins_[std::min(kBins - 1, static_cast<size_t>(at * kBins))];
  }
  const double weight = count_ == 0 ? 1.0 : kMomentum;
  average_ = {average_.min + weight * (sample.min - average_.min), average_.max + weight * (sample.max - average_.max)};
  all_ = {std::min(all_.min, sample.min), std::max(all_.max, sample.max)};
  count_ += values.size();
}

double Histogram::Center(size_t bin) const {
  return ((static_cast<double>(bin) + 0.5) / kBins * 2 - 1) * limit_;
}

Range Histogram::Percentile(double share) const {
  const double cut = (1 - share) * static_cast<double>(count_);
  const double width = 2 * limit_ / kBins;
  Range range;
  double below = 0;
  double above = 0;
  for (size_t i = 0; i < kBins; ++i) {
    below += static_cast<double>(bins_[i]);
    if (below <= cut) continue;
    range.min = Center(i) - width / 2;
    break;
  }
  for (size_t i = kBins; i-- > 0;) {
    above += static_cast<double>(bins_[i]);
    if (above <= cut) continue;
    range.max = Center(i) + width / 2;
    break;
  }
  return {std::clamp(range.min, all_.min, 0.0), std::clamp(range.max, 0.0, all_.max)};
}

template <typename Loss>
Range Histogram::Shrink(Loss loss) const {
  Range best = all_;
  // One end after the other: they have outliers of their own.
  for (double Range::*end : {&Range::max, &Range::min, &Range::max, &Range::min}) {
    Range found = best;
    double least = std::numeric_limits<double>::infinity();
    for (int k = 0; k < kShrinkSteps; ++k) {
      Range range = best;
      range.*end = all_.*end * (1 - k / 100.0);
      const double value = range.max > range.min ? loss(range) : least;
      if (value < least) least = value, found = range;
    }
    best = found;
  }
  return best;
}

double Histogram::SquaredError(const Range& range) const {
  const double step = (range.max - range.min) / kLevels;
  double sum = 0;
  for (size_t i = 0; i < kBins; ++i) {
    if (bins_[i] == 0) continue;
    const double outside = Center(i) - std::clamp(Center(i), range.min, range.max);
    sum += static_cast<double>(bins_[i]) * (outside * outside + step * step / 12);
  }
  return sum;
}

/// Counts of the bins without values that occur again and again, as a rectifier's zero does and what a layer makes of
/// an empty background: they are exact in every encoding that has a level near, but a bin that stands alone would ask
/// for a level of its own. Such a bin gets what is usual around it.
std::vector<double> Histogram::Density() const {
  constexpr size_t kReach = 4;
  constexpr double kUsual = 2, kChance = 10;  // Times the median of the bins around, and values more.
  std::vector<double> density(bins_.begin(), bins_.end());
  for (size_t i = 0; i < kBins; ++i) {
    const size_t begin = i < kReach ? 0 : i - kReach, end = std::min(kBins, i + kReach + 1);
    std::vector<uint64_t> around(bins_.begin() + static_cast<ptrdiff_t>(begin),
                                 bins_.begin() + static_cast<ptrdiff_t>(end));
    const auto middle = around.begin() + std::ssize(around) / 2;
    std::ranges::nth_element(around, middle);
    const auto median = static_cast<double>(*middle);
    if (density[i] > kUsual * median + kChance) density[i] = median;
  }
  return density;
}

/// Sum of p log(p / q), where p is the clipped distribution and q spreads each of its quantized levels over the bins
/// that fall on it and are not empty. k bins that differ by chance only, as those of a sample do, have twice that sum,
/// in counts, distributed as chi-squared with k - 1 degrees of freedom (Wilks 1938): its mean is no loss. Left in, it
/// asks for one bin a level, and so for the smaller a range the fewer the samples are.
double Histogram::Divergence(const Range& range, std::span<const double> counts) const {
  const double step = (range.max - range.min) / kLevels;
  std::vector<double> clipped(kBins);
  struct Level {
    double count = 0, loss = 0;
    int bins = 0;
  };
  std::vector<Level> levels(kLevels + 1);
  const auto bin_of = [&](double value) {
    return std::min(kBins - 1, static_cast<size_t>((value / limit_ * 0.5 + 0.5) * kBins));
  };
  const auto level_of = [&](size_t bin) -> Level& {
    return levels[static_cast<size_t>(
        std::clamp(std::nearbyint((Center(bin) - range.min) / step), 0.0, double{kLevels}))];
  };
  double total = 0;
  for (size_t i = 0; i < kBins; ++i) {
    total += counts[i];
    if (counts[i] != 0) clipped[bin_of(std::clamp(Center(i), range.min, range.max))] += counts[i];
  }
  for (size_t i = 0; i < kBins; ++i) {
    if (clipped[i] == 0) continue;
    // The reference is what was there before clipping: values moved to the ends are what a small range costs.
    level_of(i).count += counts[i];
    ++level_of(i).bins;
  }
  for (size_t i = 0; i < kBins; ++i) {
    if (clipped[i] == 0) continue;
    Level& level = level_of(i);
    level.loss += clipped[i] * std::log(clipped[i] / std::max(level.count / level.bins, 1e-4));
  }
  double sum = 0;
  for (const Level& level : levels) {
    if (level.bins > 0) sum += std::max(level.loss - (level.bins - 1) / 2.0, 0.0);
  }
  return sum / std::max(total, 1.0);
}

Range Histogram::Find(Observer observer, double share) const {
  if (limit_ == 0) return all_;
  switch (observer) {
    case Observer::kMinMax:
      break;
    case Observer::kMovingAverage:
      return average_;
    case Observer::kPercentile:
      return Percentile(share);
    case Observer::kEntropy:
      return Shrink([this, counts = Density()](const Range& range) { return Divergence(range, counts); });
    case Observer::kMse:
      return Shrink([this](const Range& range) { return SquaredError(range); });
  }
  return all_;
}

}  // namespace takt::quant
