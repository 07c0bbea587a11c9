#include "converter/ops/twiddles.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace takt::ir {
namespace {

constexpr double kPi = 3.14159265358979323846;

/// The unevaluated sum of two doubles (T. J. Dekker, "A floating-point technique for extending the available
/// precision", 1971): 106 bits, by operations that IEEE 754 fixes.
struct Double2 {
  double high = 0, low = 0;

  friend Double2 operator+(Double2 a, Double2 b) {
    const double sum = a.high + b.high, part = sum - a.high;
    const double error = (a.high - (sum - part)) + (b.high - part);
    return Normal(sum, error + a.low + b.low);
  }
  friend Double2 operator-(Double2 a, Double2 b) { return a + Double2{-b.high, -b.low}; }
  friend Double2 operator*(Double2 a, Double2 b) {
    const double product = a.high * b.high;
    return Normal(product, std::fma(a.high, b.high, -product) + a.high * b.low + a.low * b.high);
  }
  friend Double2 operator/(Double2 a, double b) {
    const double quotient = a.high / b;
    return Normal(quotient, (std::fma(-quotient, b, a.high) + a.low) / b);
  }
  static Double2 Normal(double high, double low) {
    const double sum = high + low;
    return {sum, low - (sum - high)};
  }
};

template <typename T>
void Append(std::vector<uint8_t>& bytes, double value) {
  T element;
  if constexpr (std::numeric_limits<T>::is_integer)
    element = static_cast<T>(std::floor(0.5 + std::numeric_limits<T>::max() * value));
  else
    element = static_cast<T>(value);
  const size_t at = bytes.size();
  bytes.resize(at + sizeof(T));
  std::memcpy(bytes.data() + at, &element, sizeof(T));
}

}  // namespace

/// Taylor's series at phase / 2^8, squared 8 times.
UnitComplex UnitCircle(double phase) {
  constexpr int kHalvings = 8, kTerms = 16;
  const Double2 x{std::ldexp(phase, -kHalvings), 0};
  Double2 cosine{1, 0}, sine{0, 0}, term{1, 0};
  for (int n = 1; n <= kTerms; ++n) {
    term = term * x / n;
    Double2& sum = n % 2 != 0 ? sine : cosine;
    sum = n % 4 < 2 ? sum + term : sum - term;
  }
  for (int i = 0; i < kHalvings; ++i) {
    const Double2 both = sine * cosine;
    cosine = cosine * cosine - sine * sine;
    sine = both + both;
  }
  return {cosine.high, sine.high};
}

std::vector<UnitComplex> UnitRoots(int64_t n) {
  constexpr UnitComplex kQuarters[] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
  std::vector<UnitComplex> roots;
  for (int64_t k = 0; k < n; ++k)
    roots.push_back(4 * k % n == 0 ? kQuarters[4 * k / n]
                                   : UnitCircle(2 * kPi * static_cast<double>(k) / static_cast<double>(n)));
  return roots;
}

std::vector<uint8_t> Twiddles(uint32_t length, bool inverse, DataType type) {
  std::vector<uint8_t> bytes;
  const auto add = [&](double phase) {
    const UnitComplex factor = UnitCircle(inverse ? -phase : phase);
    for (const double part : {factor.cosine, factor.sine}) {
      if (type == DataType::kInt16) Append<int16_t>(bytes, part);
      if (type == DataType::kInt32) Append<int32_t>(bytes, part);
      if (type == DataType::kFloat32) Append<float>(bytes, part);
    }
  };
  const int half = static_cast<int>(length / 2);
  for (int i = 0; i < half; ++i) add(-2 * kPi * i / half);
  for (int i = 0; i < half / 2; ++i) add(-kPi * (static_cast<double>(i + 1) / half + 0.5));
  return bytes;
}

}  // namespace takt::ir
