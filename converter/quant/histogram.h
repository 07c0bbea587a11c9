// Distribution of a tensor's values over any number of samples, in bounded memory, and the ranges that observers draw
// from it.
#ifndef TAKT_CONVERTER_QUANT_HISTOGRAM_H_
#define TAKT_CONVERTER_QUANT_HISTOGRAM_H_

#include <cstdint>
#include <span>
#include <vector>

namespace takt::quant {

struct Range {
  double min = 0;
  double max = 0;
};

/// How the range that int8 covers follows from the values seen.
enum class Observer {
  kMinMax,         ///< All of them.
  kMovingAverage,  ///< Exponential average of each sample's least and greatest.
  kPercentile,     ///< All but a share at each end.
  kEntropy,        ///< Least Kullback-Leibler divergence between the values and their quantized form.
  kMse,            ///< Least mean squared error, clipping included.
};

class Histogram {
 public:
  Histogram();

  /// The values of one sample. Those that are not finite are counted only.
  void Add(std::span<const float> values);

  uint64_t count() const { return count_; }
  uint64_t not_finite() const { return not_finite_; }
  /// `share`: what the percentile observer keeps, e.g. 0.9999. The range holds 0.
  Range Find(Observer observer, double share) const;

 private:
  void Widen(double magnitude);
  double Center(size_t bin) const;
  Range Percentile(double share) const;
  /// The range, each end shrunk in turn, for which `loss` of the range is least.
  template <typename Loss>
  Range Shrink(Loss loss) const;
  double SquaredError(const Range& range) const;
  std::vector<double> Density() const;
  double Divergence(const Range& range, std::span<const double> counts) const;

  std::vector<uint64_t> bins_;  ///< Of equal width over [-limit, limit).
  double limit_ = 0;            ///< A power of two; grows by doubling, which merges pairs of bins.
  uint64_t count_ = 0;
  uint64_t not_finite_ = 0;
  Range all_;
  Range average_;
};

}  // namespace takt::quant

#endif  // TAKT_CONVERTER_QUANT_HISTOGRAM_H_
