// Post-training quantization: a float graph and samples of its inputs give a graph with quantizations around every op
// that has an integer form, which passes/quantization_fusion.cc then makes integer.
#ifndef TAKT_CONVERTER_QUANT_QUANTIZER_H_
#define TAKT_CONVERTER_QUANT_QUANTIZER_H_

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "converter/base/diagnostics.h"
#include "converter/ir/graph.h"
#include "converter/quant/histogram.h"

namespace takt::quant {

struct Options {
  Observer observer = Observer::kMse;
  double share = 0.9999;         ///< Of values that the percentile observer keeps.
  bool correct_bias = true;      ///< Takes the mean error that rounded weights cause out of the bias.
  bool float_io = true;          ///< Graph inputs and outputs stay float32; otherwise they are int8.
  size_t compared_samples = 16;  ///< How many samples the accuracy report is made of.
};

/// Samples are loaded one at a time and not kept.
struct Samples {
  size_t count = 0;
  /// Bytes of every graph input (float32, in the graph's order and layout) of one sample.
  std::function<std::vector<ir::Bytes>(size_t index)> load;
};

/// How the int8 value of a tensor differs from the float one, over the compared samples, errors of earlier layers
/// included.
struct TensorAccuracy {
  std::string tensor;
  int node = -1;  ///< In the source model.
  double sqnr_db = 0;
  double cosine = 0;
  double max_error = 0;
};

struct Report {
  std::vector<TensorAccuracy> tensors;  ///< In the order of computation.
};

/// Quantizes in place: int8 activations (asymmetric, per tensor), int8 weights (symmetric, per output channel, [-127,
/// 127]). Values that are not finite, in weights or samples, and an empty set of samples are errors.
Report Quantize(ir::Graph& graph, const Samples& samples, const Options& options, Diagnostics& diagnostics);

}  // namespace takt::quant

#endif  // TAKT_CONVERTER_QUANT_QUANTIZER_H_
