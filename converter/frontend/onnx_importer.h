// Reads an ONNX file into a graph. Any bytes are safe: they give a graph or errors.
#ifndef TAKT_CONVERTER_FRONTEND_ONNX_IMPORTER_H_
#define TAKT_CONVERTER_FRONTEND_ONNX_IMPORTER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "converter/base/diagnostics.h"
#include "converter/frontend/onnx_evaluation.h"
#include "converter/ir/graph.h"

namespace takt::frontend {

inline constexpr int kMinOnnxOpset = 1;
inline constexpr int kMaxOnnxOpset = 21;

struct OnnxOptions {
  std::string folder;                                    ///< Where external data lies: the model's own folder.
  std::map<std::string, std::vector<int32_t>> shapes;    ///< Dims of graph inputs, in place of those in the file.
  std::map<std::string, std::vector<double>> constants;  ///< Values of inputs that become constants; one fills it.
  bool nhwc_inputs = false;                              ///< Inputs of rank 4 (NCHW in the file) are bound as NHWC.
  Evaluator evaluate = nullptr;                          ///< Without it, only integers of shapes are computed.
};

/// The main graph of `bytes`, in ONNX's order of dimensions with transposes around NHWC ops (passes/layout.cc removes
/// them). Shapes follow from the inputs by the ops' own rules; arithmetic on shapes is evaluated. Nothing if there were
/// errors.
std::optional<ir::Graph> ImportOnnx(std::span<const uint8_t> bytes, const std::string& model_name,
                                    const OnnxOptions& options, Diagnostics& diagnostics);

}  // namespace takt::frontend

#endif  // TAKT_CONVERTER_FRONTEND_ONNX_IMPORTER_H_
