// Factors of the Fourier transform (ports/reference/fft.cc), the same on every host.
#ifndef TAKT_CONVERTER_OPS_TWIDDLES_H_
#define TAKT_CONVERTER_OPS_TWIDDLES_H_

#include <cstdint>
#include <vector>

#include "engine/base/data_type.h"

namespace takt::ir {

/// A complex number in double-double arithmetic, rounded to double; exact but for the last bit's ties.
struct UnitComplex {
  double cosine, sine;
};
/// cos and sin of `phase`, |phase| <= 8.
UnitComplex UnitCircle(double phase);
/// cos and sin of 2 pi k / n for each k in [0, n); exact where they are 0 or 1.
std::vector<UnitComplex> UnitRoots(int64_t n);

/// Bytes of [length / 2 + length / 4, 2] elements of `type`: factors of the complex transform of length / 2, then of
/// the step between it and the real one. Integers are fractions of their type's largest value, rounded half up.
std::vector<uint8_t> Twiddles(uint32_t length, bool inverse, DataType type);

}  // namespace takt::ir

#endif  // TAKT_CONVERTER_OPS_TWIDDLES_H_
