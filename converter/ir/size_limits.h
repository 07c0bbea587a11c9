// Limits on sizes that a model's numbers give (converter/LIMITS.md): of any tensor, so that products of some of its
// dimensions fit 32 bits, and of constants that the converter makes of a shape or of a few numbers (fills, ranges,
// masks, index maps, matrices of transforms), so that a small file does not take much memory or time.
#ifndef TAKT_CONVERTER_IR_SIZE_LIMITS_H_
#define TAKT_CONVERTER_IR_SIZE_LIMITS_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "converter/ir/graph.h"

namespace takt::ir {

inline constexpr int64_t kMostElements = int64_t{1} << 30;

/// A dimension that was computed: what does not fit is the nearest that does, and more than a tensor may have.
constexpr int32_t Dim(int64_t size) {
  return static_cast<int32_t>(std::clamp<int64_t>(size, INT32_MIN, INT32_MAX));
}

/// "tensor [65536, 65536] has …" if dims are more than a tensor may have, counted without those that are 0 or
/// negative. Empty if they are not.
std::string WhyTooLarge(const std::vector<int32_t>& dims);

inline constexpr int64_t kMostMadeElements = int64_t{1} << 24;

/// Why a constant of these dims is not made: "would make a constant [65536, 65536] of boolean, 4294967296 bytes; …".
/// Empty if it is.
std::string WhyNotMade(DataType type, const std::vector<int64_t>& dims);

/// Whether the operator of `node` (a TfliteNode or OnnxNode) may make a constant; if not, reports it at `named`.
template <typename Node>
bool MayMake(Node& node, DataType type, const std::vector<int64_t>& dims, TensorId named = kNoTensor) {
  const std::string wrong = WhyNotMade(type, dims);
  if (!wrong.empty()) node.Error(wrong, named);
  return wrong.empty();
}

}  // namespace takt::ir

#endif  // TAKT_CONVERTER_IR_SIZE_LIMITS_H_
