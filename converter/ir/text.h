// The graph as text: for people, for tests of passes, and for bug reports. Printing and parsing round-trip exactly.
//
//   graph "kws.tflite"
//   %0 "in": int8[1,4] quant(0.5:-1) source 0
//   %1 "w": int8[2,4] quant(axis 0, 0.25:0, 0.5:0) = [1, 2, 3, 4, 5, 6, 7, 8]
//   %2 "b": int32[2] = base64 "AAAAAAEAAAA="
//   %3 "out": int8[1,2] quant(0.5:0) view(%5 + 16, strides [8, 1])
//   inputs %0
//   outputs %3
//   state %4, %5                 (its tensor, its next value, perhaps its initial one, perhaps `in_place`;
//                                none or several such lines)
//   %3 = fully_connected(%0, %1, %2) "FULLY_CONNECTED" {activation = "relu"} from [0, 1]
//
// A node of control flow is followed by its bodies: `body {`, a graph, `}`. Tensors come in the order of their ids.
// quant(scale:zero_point, ...); an absent input is `_`; floats are the shortest decimals that read back to the same
// bits. Names escape `"`, `\` and control characters as in C.
#ifndef TAKT_CONVERTER_IR_TEXT_H_
#define TAKT_CONVERTER_IR_TEXT_H_

#include <optional>
#include <string>
#include <string_view>

#include "converter/ir/graph.h"

namespace takt::ir {

/// How to print constants of more than a few values.
enum class ConstantText {
  kExact,   ///< All bytes; the text parses.
  kDigest,  ///< Bytes and SHA-256 only, for reading; the parser refuses it.
};

std::string PrintGraph(const Graph& graph, ConstantText constants = ConstantText::kExact);

/// The graph of a text, not verified. Nothing if the text is malformed; `error` is then "line:column: expected X, found
/// Y".
std::optional<Graph> ParseGraph(std::string_view text, std::string& error);

}  // namespace takt::ir

#endif  // TAKT_CONVERTER_IR_TEXT_H_
