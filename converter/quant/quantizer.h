// Post-training quantization: a float graph and samples of its inputs give a graph with quantizations around every op
// that has an integer form, which passes/quantization_fusion.cc then makes integer.
#ifndef TAKT_CONVERTER_QUANT_QUANTIZER_H_
#define TAKT_CONVERTER_QUANT_QUANTIZER_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "converter/base/diagnostics.h"
#include "converter/ir/graph.h"
#include "converter/quant/histogram.h"

namespace takt::quant {

/// How a node computes. Integers: weights are int8, symmetric, one scale for each output channel, in [-127, 127].
enum class Precision {
  kInt8,   ///< Activations asymmetric, one scale a tensor; bias int32.
  kInt16,  ///< Activations symmetric; bias int64.
  kFloat,
};

/// What quantization may cost.
struct MaxLoss {
  double value = 0;
  enum Unit {
    kPoints,  ///< Percent of samples whose highest score (of output 0) is another than the float graph's: no less than
              ///< the accuracy that is lost, whatever the labels.
    kDb,      ///< The least SQNR of the outputs.
  } unit = kPoints;
};

/// Of pixels v in [0, 1]: (v - mean) / std. One figure, or one a channel; none: 0 and 1.
struct Normalization {
  std::vector<double> mean, std;
};

struct Options {
  Observer observer = Observer::kMse;
  double share = 0.9999;         ///< Of values that the percentile observer keeps.
  bool correct_bias = true;      ///< Takes the mean error that rounded weights cause out of the bias.
  size_t compared_samples = 16;  ///< How many samples the accuracy report is made of.
  Precision precision = Precision::kInt8;
  /// Type of the graph's inputs and outputs: float32, int8 or int16.
  DataType io = DataType::kFloat32;
  /// Weights obey the rule of stored_weights.h; what that costs is named.
  bool pair_weights = false;
  /// Makes the network normalize its inputs itself (normalization.h): they, and the samples, are then pixels in [0, 1],
  /// in int8 stored as 255 v - 128.
  std::optional<Normalization> normalization{};
  /// Tries cross-layer equalization (equalization.h), and keeps it where the outputs' SQNR gains.
  bool equalize = false;
  /// Moves the fewest layers to int16x8 or float that keep the loss within it.
  std::optional<MaxLoss> max_loss{};
  std::function<void(const std::string& stage)> progress{};  ///< Called as long work goes on.
};

/// Samples are loaded one at a time and not kept.
struct Samples {
  size_t count = 0;
  /// Bytes of every graph input (float32, in the graph's order and layout) of one sample.
  std::function<std::vector<ir::Bytes>(size_t index)> load;
};

/// How the stored value of a tensor differs from the float one, over the compared samples, errors of earlier layers
/// included.
struct TensorAccuracy {
  std::string tensor;
  int node = -1;  ///< In the source model.
  double sqnr_db = 0;
  double cosine = 0;
  double max_error = 0;
};

/// What a layer costs alone.
struct Damage {
  std::string tensor;
  int node = -1;        ///< In the source model.
  double sqnr_db = 0;   ///< Of the outputs if only this layer is quantized.
  Precision precision;  ///< That it got.
};

struct Report {
  std::vector<TensorAccuracy> tensors;  ///< In the order of computation.
  std::vector<Damage> damages;          ///< The worst first; none unless max_loss asked for a choice.
};

/// Quantizes in place. Values that are not finite, in weights or samples, and an empty set of samples are errors.
Report Quantize(ir::Graph& graph, const Samples& samples, const Options& options, Diagnostics& diagnostics);

}  // namespace takt::quant

#endif  // TAKT_CONVERTER_QUANT_QUANTIZER_H_
