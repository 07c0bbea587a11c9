// Reads a TFLite file into a graph. Any bytes are safe: they give a graph or errors.
#ifndef TAKT_CONVERTER_FRONTEND_TFLITE_IMPORTER_H_
#define TAKT_CONVERTER_FRONTEND_TFLITE_IMPORTER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "converter/base/diagnostics.h"
#include "converter/ir/graph.h"

namespace takt::frontend {

struct ImportOptions {
  /// Shapes of graph inputs by name, for dimensions that the model leaves open. Shapes behind them follow from the ops.
  std::map<std::string, std::vector<int32_t>> shapes;
  /// Key of the signature to read; empty: the first subgraph, with the names of its first signature.
  std::string signature = {};
};

/// A subgraph of `bytes` and those that it calls, verified (ir/verifier.h); `Tensor::source` and `Node::sources` are
/// indices of the file. Nothing if there were errors: all that the file breaks are reported in one run. Operators may
/// come in any order. uint8 tensors are int8 inside, float16 constants float32; graph inputs and outputs keep their
/// types.
std::optional<ir::Graph> ImportTflite(std::span<const uint8_t> bytes, const std::string& model_name,
                                      Diagnostics& diagnostics, const ImportOptions& options = {});

}  // namespace takt::frontend

#endif  // TAKT_CONVERTER_FRONTEND_TFLITE_IMPORTER_H_
