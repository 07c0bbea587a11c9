// The arithmetic of an lstm's cell in three kinds, for the oracle of lstm_test.cc.
#ifndef TAKT_TESTS_OPS_LSTM_ORACLE_H_
#define TAKT_TESTS_OPS_LSTM_ORACLE_H_

#include <algorithm>
#include <cmath>
#include <string>
#include <variant>
#include <vector>

#include "tests/ops/op_test.h"

namespace takt::test {

enum Input : size_t { kX, kW, kR, kBias, kH, kC, kPeepholes, kFactors, kOffsets, kProjection, kProjectionBias };
enum Gate : size_t { kIn, kForget, kCandidate, kOut };

inline bool Has(const OpCase& c, size_t i) {
  return i < c.inputs.size() && c.inputs[i].type != DataType::kNone;
}
inline int64_t Flag(const OpCase& c, const char* key) {
  const auto at = c.attributes.find(key);
  return at == c.attributes.end() ? 0 : std::get<int64_t>(at->second);
}
inline double Bound(const OpCase& c, const char* key) {
  const auto at = c.attributes.find(key);
  return at == c.attributes.end() ? 3e38 : std::get<double>(at->second);
}

struct Sizes {
  size_t steps, batches, inputs, outputs, cells, first;
  explicit Sizes(const OpCase& c) {
    const bool batch_major = Flag(c, "batch_major") != 0;
    const auto dim = [&](size_t i, size_t d) { return static_cast<size_t>(c.inputs[i].dims[d]); };
    steps = dim(kX, batch_major ? 1 : 0), batches = dim(kX, batch_major ? 0 : 1), inputs = dim(kX, 2);
    outputs = dim(kH, 1), cells = dim(kC, 1), first = Flag(c, "coupled") != 0 ? 1 : 0;
  }
  size_t rows() const { return (4 - first) * cells; }
};

inline float WeightScale(const OpCase& c, size_t operand, size_t gate) {
  const std::vector<float>& scales = c.inputs[operand].scales;
  const Sizes n(c);
  return scales.size() == 1 ? scales[0] : scales[(gate - n.first) * n.cells];
}
inline double Logistic(double x) {
  return 1 / (1 + std::exp(-x));
}

/// Everything in double, on real values.
struct RealCell {
  using F = double;
  const OpCase& c;
  static constexpr bool kReal = true;

  double One() const { return 1; }
  double Sum(size_t, double x, double h) const { return x + h; }
  double Function(size_t gate, double sum) const {
    const double v = std::clamp(sum, -Bound(c, "clip"), Bound(c, "clip"));
    return gate == kCandidate ? std::tanh(v) : Logistic(v);
  }
  double Next(double f, double cell, double i, double g) const {
    return std::clamp(f * cell + i * g, -Bound(c, "cell_clip"), Bound(c, "cell_clip"));
  }
  double Hidden(double o, double cell) const { return o * std::tanh(cell); }
  double Project(double acc) const {
    return std::clamp(acc, -Bound(c, "projection_clip"), Bound(c, "projection_clip"));
  }
};

/// 2^16 * logistic(i / 24).
inline double Entry(int i) {
  return std::nearbyint(65536 * Logistic(i / 24.0));
}
/// More by half of what a line errs in the middle of its piece.
inline double MovedEntry(int i) {
  const auto exact = [](double at) { return 65536 * Logistic(at / 24); };
  return i == 255 ? 65535 : std::nearbyint(exact(i) + (exact(i + 0.5) - (exact(i) + exact(i + 1)) / 2) / 2);
}

/// Sums in float, gates of 2^-15 by a quadratic between entries, one rounding for each of c, h and the projection.
struct Fp32RneCell {
  using F = float;
  const OpCase& c;
  static constexpr bool kReal = false;

  double One() const { return 32768; }
  float Scale(size_t i) const { return c.inputs[i].scales[0]; }
  float Sum(size_t gate, double x, double h) const {
    const float a = static_cast<float>(x) * (Scale(kX) * WeightScale(c, kW, gate));
    const float b = static_cast<float>(h) * (Scale(kH) * WeightScale(c, kR, gate));
    return a + b;
  }
  static double ByTable(bool tanh, float units) {
    const double v = std::nearbyint(std::clamp(units, -131072.0f, 131072.0f));
    const double width = tanh ? 256 : 512, at = std::fabs(v) / width;
    const int i = static_cast<int>(at);
    double q = Entry(255);
    if (i < 255) {
      const double rest = at - i, first = Entry(i + 1) - Entry(i);
      const double second = i < 254 ? Entry(i + 2) - Entry(i + 1) - first : 0;
      q = Entry(i) + rest * first + std::floor(rest * (rest - 1) * second / 2 * width) / width;
    }
    if (tanh) return std::copysign(std::floor(q - 32768 + 0.5), v) * 1.0;
    return std::floor((v < 0 ? 65536 - q : q) / 2 + 0.5);
  }
  double Function(size_t gate, float sum) const {
    const auto bound = static_cast<float>(Bound(c, "clip"));
    return ByTable(gate == kCandidate, std::clamp(sum, -bound, bound) * 12288.0f);
  }
  static double Rounded(float v, double zero_point, double lo, double hi) {
    return std::clamp(static_cast<double>(std::nearbyint(v)) + zero_point, lo, hi);
  }
  double Next(double f, double cell, double i, double g) const {
    const double stored = std::round(Bound(c, "cell_clip") / static_cast<double>(Scale(kC)));
    const double bound = std::min(stored, 32767.0), lo = stored < 32767 ? -bound : -32768;
    const float a = static_cast<float>(f * cell) * 0x1p-15f;
    const float b = static_cast<float>(i * g) * static_cast<float>(0x1p-30 / static_cast<double>(Scale(kC)));
    return Rounded(a + b, 0, lo, bound);
  }
  double Hidden(double o, double cell) const {
    const double product = o * ByTable(true, static_cast<float>(cell) * (Scale(kC) * 12288.0f));
    const bool projected = Has(c, kProjection);
    const double scale = projected ? std::get<double>(c.attributes.at("hidden_scale")) : c.outputs[0].scale();
    const double zp = projected ? static_cast<double>(Flag(c, "hidden_zero_point")) : c.outputs[0].zero_point;
    const bool wide = c.outputs[0].type == DataType::kInt16;
    return Rounded(static_cast<float>(product) * static_cast<float>(0x1p-30 / scale), zp, wide ? -32768 : -128,
                   wide ? 32767 : 127) -
           zp;
  }
  double Project(double acc) const {
    const double scale = std::get<double>(c.attributes.at("hidden_scale")) * c.inputs[kProjection].scale();
    const float v = static_cast<float>(acc) * static_cast<float>(scale / c.outputs[0].scale());
    const Operand& y = c.outputs[0];
    const double clip = Bound(c, "projection_clip");
    const double lo = y.type == DataType::kInt16 ? -32768 : -128, hi = -lo - 1;
    const auto end = [&](double real) { return std::clamp(std::round(real / y.scale()) + y.zero_point, lo, hi); };
    return Rounded(v, y.zero_point, end(-clip), end(clip)) - y.zero_point;
  }
};

/// Each product is rounded and saturates before it is added; gates are Q15, linear between entries.
struct TfliteCell {
  using F = double;
  const OpCase& c;
  static constexpr bool kReal = false;

  double One() const { return 32767; }
  static double Saturated16(double v) { return std::clamp(v, -32768.0, 32767.0); }
  double Requantized(double acc, double scale) const {
    const bool wide = c.inputs[kX].type == DataType::kInt16;
    const auto multiply = wide ? MultiplyByTflite15 : MultiplyByTflite;
    return Saturated16(static_cast<double>(multiply(static_cast<int64_t>(acc), Multiplier(scale))));
  }
  double Product(size_t x, size_t w, size_t gate) const {
    return static_cast<double>(c.inputs[x].scales[0] * WeightScale(c, w, gate)) * 4096;
  }
  double Sum(size_t gate, double x, double h) const {
    return Saturated16(Requantized(x, Product(kX, kW, gate)) + Requantized(h, Product(kH, kR, gate)));
  }
  static double ByTable(bool tanh, double units) {
    const double width = tanh ? 256 : 512, at = std::fabs(units) / width;
    const int i = static_cast<int>(at);
    double q = tanh ? 65535 : 65534;
    if (i < 255) q = MovedEntry(i) + (at - i) * (MovedEntry(i + 1) - MovedEntry(i));
    // In 2^-8 or 2^-10 of the result; half up on both sides of zero.
    const double unit = tanh ? 256 : 1024;
    const double fine = tanh ? (q - 32768) * 256 : q * 512;
    if (units >= 0) return std::floor((fine + unit / 2) / unit);
    return std::floor(((tanh ? -fine : 65536 * 512.0 - fine) + unit / 2 - 1) / unit);
  }
  double Function(size_t gate, double sum) const { return ByTable(gate == kCandidate, 3 * sum); }
  double Short(double v, double scale) const {
    return static_cast<double>(MultiplyByTflite(static_cast<int64_t>(v), Multiplier(scale)));
  }
  double Next(double f, double cell, double i, double g) const {
    const double scale = c.inputs[kC].scale();
    const double sum = Saturated16(Saturated16(Short(f * cell, 0x1p-15)) + Saturated16(Short(i * g, 0x1p-30 / scale)));
    const double bound = std::trunc(std::min(Bound(c, "cell_clip") / scale, 32768.0));
    return bound < 32768 ? std::clamp(sum, -bound, bound) : sum;
  }
  double Hidden(double o, double cell) const {
    const double shift = c.inputs[kC].scale() * 4096;
    const double units = shift >= 1 ? 3 * shift * cell : std::floor(3 * shift * cell + 0.5);
    const Operand& y = c.outputs[0];
    return Saturated(c, y, Short(o * ByTable(true, units), 0x1p-30 / y.scale()) + y.zero_point) - y.zero_point;
  }
  double Project(double acc) const { return acc; }
};

}  // namespace takt::test

#endif  // TAKT_TESTS_OPS_LSTM_ORACLE_H_
