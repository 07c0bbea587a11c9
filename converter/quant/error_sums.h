// How far values are from those that they stand for, summed over any number of them.
#ifndef TAKT_CONVERTER_QUANT_ERROR_SUMS_H_
#define TAKT_CONVERTER_QUANT_ERROR_SUMS_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace takt::quant {

struct ErrorSums {
  double signal = 0, noise = 0, product = 0, energy = 0, max_error = 0;

  void Add(double want, double got) {
    double error = want == got ? 0 : std::fabs(want - got);
    if (std::isnan(error)) error = std::numeric_limits<double>::infinity();
    signal += want * want;
    noise += error * error;
    product += want * got;
    energy += got * got;
    max_error = std::max(max_error, error);
  }
  /// Signal to quantization noise in dB; infinite if there is no noise.
  double SqnrDb() const {
    if (noise == 0) return std::numeric_limits<double>::infinity();
    return 10 * std::log10(std::max(signal, std::numeric_limits<double>::min()) / noise);
  }
  /// Of the angle between both; 1 if both are zero.
  double Cosine() const {
    if (signal == 0 || energy == 0) return signal == energy ? 1 : 0;
    return product / std::sqrt(signal * energy);
  }
};

}  // namespace takt::quant

#endif  // TAKT_CONVERTER_QUANT_ERROR_SUMS_H_
