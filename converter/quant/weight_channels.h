// Which channels an element of a contraction's weights belongs to.
#ifndef TAKT_CONVERTER_QUANT_WEIGHT_CHANNELS_H_
#define TAKT_CONVERTER_QUANT_WEIGHT_CHANNELS_H_

#include "converter/ir/graph.h"

namespace takt::quant {

/// Output channels are the first dimension of weights, of depthwise ones the last.
struct WeightChannels {
  WeightChannels(const ir::Graph& graph, const ir::Node& node)
      : depthwise(node.op == Op::kDepthwiseConv2d), axis(depthwise ? 3 : 0) {
    const ir::Tensor& weights = graph.tensor(node.inputs[1]);
    count = static_cast<size_t>(weights.dims[static_cast<size_t>(axis)]);
    inner = depthwise ? 1 : static_cast<size_t>(weights.element_count()) / count;
    depth = depthwise ? 1 : static_cast<size_t>(weights.dims.back());
  }
  /// Index of the output channel of element i.
  size_t operator()(size_t i) const { return i / inner % count; }
  /// The channel, of so many inputs, that element i multiplies: of the group of its output channel (convolutions with
  /// groups have weights for a part of the inputs).
  size_t Input(size_t i, size_t inputs) const {
    const size_t c = (*this)(i);
    return (depthwise ? c * inputs / count : c / (count * depth / inputs) * depth + i % depth) % inputs;
  }

  bool depthwise;
  int axis;
  size_t count = 0, inner = 1, depth = 1;
};

}  // namespace takt::quant

#endif  // TAKT_CONVERTER_QUANT_WEIGHT_CHANNELS_H_
