// The normalization of pixels as a part of the network, so that a stored image goes straight in.
#ifndef TAKT_CONVERTER_QUANT_NORMALIZATION_H_
#define TAKT_CONVERTER_QUANT_NORMALIZATION_H_

#include "converter/quant/quantizer.h"

namespace takt::quant {

/// Makes each graph input, which was (v - mean) / std, v in [0, 1]. 1 / std joins the weights of the contraction that
/// reads the input, perhaps behind transposes, reshapes and zero padding; the mean joins its bias where nothing is
/// padded, and is else subtracted by a step of its own, since padding stands for the mean. Where no such contraction
/// is, both are steps. What becomes a step is named.
void FoldNormalization(ir::Graph& graph, const Normalization& normalization, Diagnostics& diagnostics);

}  // namespace takt::quant

#endif  // TAKT_CONVERTER_QUANT_NORMALIZATION_H_
