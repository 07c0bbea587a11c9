// Weights of a contraction as int8.
#ifndef TAKT_CONVERTER_QUANT_STORED_WEIGHTS_H_
#define TAKT_CONVERTER_QUANT_STORED_WEIGHTS_H_

#include <cstdint>
#include <vector>

#include "converter/ir/graph.h"
#include "converter/quant/weight_channels.h"

namespace takt::quant {

/// Symmetric, a scale for each output channel, levels in [-127, 127].
struct StoredWeights {
  ir::Quantization quantization;
  std::vector<int8_t> levels;
};

/// `pairs`: in each pair of neighbours along an output channel's inputs, positive levels add up to at most 128 and
/// negative ones to at least -128, so that kernels may add the products of a uint8 pair in 16 bits; the scale is the
/// least that allows it. Depthwise weights have no such neighbours.
StoredWeights StoreWeights(const std::vector<float>& values, const WeightChannels& channel, bool pairs);

}  // namespace takt::quant

#endif  // TAKT_CONVERTER_QUANT_STORED_WEIGHTS_H_
