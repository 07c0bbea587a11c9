// The operators of a model file as it names them, whether or not they can be imported.
#ifndef TAKT_CONVERTER_FRONTEND_OPERATOR_LIST_H_
#define TAKT_CONVERTER_FRONTEND_OPERATOR_LIST_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace takt::frontend {

/// Of the main graph, in the file's order, which diagnostics count in: "CONV_2D", "CUSTOM Name"; ONNX's op type. Empty
/// if the file cannot be read.
std::vector<std::string> TfliteOperatorList(std::span<const uint8_t> bytes);
std::vector<std::string> OnnxOperatorList(std::span<const uint8_t> bytes);

}  // namespace takt::frontend

#endif  // TAKT_CONVERTER_FRONTEND_OPERATOR_LIST_H_
