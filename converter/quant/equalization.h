// Cross-layer equalization (Nagel et al., Data-Free Quantization Through Weight Equalization and Bias Correction,
// 2019).
#ifndef TAKT_CONVERTER_QUANT_EQUALIZATION_H_
#define TAKT_CONVERTER_QUANT_EQUALIZATION_H_

#include "converter/quant/calibration.h"

namespace takt::quant {

/// Scales each channel between two contractions, the first without activation or with relu and read by the second
/// only, by a power of two: the float graph computes the same values, to the bit, in channels of more equal range.
/// Gives the number of pairs. Weights have a scale for each output channel, so what there is to gain is the one scale
/// of the activations; it is weighed against the spread that the second's weights get.
size_t Equalize(ir::Graph& graph, const Observations& observations);

}  // namespace takt::quant

#endif  // TAKT_CONVERTER_QUANT_EQUALIZATION_H_
