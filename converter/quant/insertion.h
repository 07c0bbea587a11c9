// Quantizations around the nodes of a float graph that are to be integer.
#ifndef TAKT_CONVERTER_QUANT_INSERTION_H_
#define TAKT_CONVERTER_QUANT_INSERTION_H_

#include <vector>

#include "converter/quant/calibration.h"

namespace takt::quant {

/// Precision of every node, by its index, where all that can have `wanted`: ops without an integer form are float, and
/// those whose operands share one quantization follow what they read, or, at the start, what reads them.
std::vector<Precision> AssignPrecisions(const ir::Graph& graph, const Observations& observations,
                                        const std::vector<Precision>& wanted);

/// The graph with stored weights, quantized constants and a quantize and a dequantize wherever a value comes to a node
/// in a type of its own. Inputs and outputs stay float32, but pass through options.io. Tensors keep their names: the
/// stored form of what a node writes has its name; that of a graph input or output ends in "/int8" or "/int16".
ir::Graph InsertQuantizations(const ir::Graph& graph, const Observations& observations,
                              const std::vector<Precision>& precisions, const Options& options);

}  // namespace takt::quant

#endif  // TAKT_CONVERTER_QUANT_INSERTION_H_
