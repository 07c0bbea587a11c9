// The limit of constants that the converter makes of a shape or of a few numbers of a model: fills, ranges, masks,
// index maps, matrices of transforms. A small file must not take much memory or time (converter/LIMITS.md).
#ifndef TAKT_CONVERTER_IR_MADE_CONSTANT_H_
#define TAKT_CONVERTER_IR_MADE_CONSTANT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "converter/ir/graph.h"

namespace takt::ir {

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

#endif  // TAKT_CONVERTER_IR_MADE_CONSTANT_H_
