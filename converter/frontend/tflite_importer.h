// Reads a TFLite file into a graph. Any bytes are safe: they give a graph or errors.
#ifndef TAKT_CONVERTER_FRONTEND_TFLITE_IMPORTER_H_
#define TAKT_CONVERTER_FRONTEND_TFLITE_IMPORTER_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "converter/base/diagnostics.h"
#include "converter/ir/graph.h"

namespace takt::frontend {

/// The first subgraph of `bytes`; tensor i of it is tensor i of the graph. Nothing if there were errors.
std::optional<ir::Graph> ImportTflite(std::span<const uint8_t> bytes, const std::string& model_name,
                                      Diagnostics& diagnostics);

}  // namespace takt::frontend

#endif  // TAKT_CONVERTER_FRONTEND_TFLITE_IMPORTER_H_
