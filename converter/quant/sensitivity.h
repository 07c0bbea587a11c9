// Mixed precision by measurement: which layers hurt, and the fewest that have to be finer.
#ifndef TAKT_CONVERTER_QUANT_SENSITIVITY_H_
#define TAKT_CONVERTER_QUANT_SENSITIVITY_H_

#include <vector>

#include "converter/quant/calibration.h"

namespace takt::quant {

/// The precision of every node of `graph` with which the loss is within options.max_loss; `damages` gets every layer,
/// the worst first, with the precision that it got.
///
/// Each layer's damage is the outputs' SQNR with that layer alone quantized, on options.compared_samples. The worst k
/// are made float, k the least that will do (found by bisection); of these, those become int16x8 with which the loss
/// stays within the limit. Cost: twice compared_samples runs a layer, and samples of the loss (kLossSamples at most)
/// times (log2 of the layers + 2 + k). Deterministic.
std::vector<Precision> ChoosePrecisions(const ir::Graph& graph, const Observations& observations,
                                        const Samples& samples, const Options& options, std::vector<Damage>& damages,
                                        Diagnostics& diagnostics);

}  // namespace takt::quant

#endif  // TAKT_CONVERTER_QUANT_SENSITIVITY_H_
