#include "converter/quant/equalization.h"

#include <algorithm>
#include <cmath>

#include "converter/ir/constants.h"
#include "converter/ir/op_def.h"
#include "converter/quant/weight_channels.h"

namespace takt::quant {
namespace {

using ir::Node;
using ir::TensorId;

constexpr int kMostDoublings = 6;  ///< Of a channel, up or down.

bool IsContraction(const ir::Graph& graph, const Node& node) {
  return ir::FindOpDef(node.op).quant == ir::QuantRule::kContraction && HasIntegerForm(graph, node);
}

/// The contraction behind `node` whose channels can be scaled with its output's, or nullptr.
Node* Partner(ir::Graph& graph, const Node& node) {
  const std::string activation = node.StringOr("activation", "none");
  if (!IsContraction(graph, node) || (activation != "none" && activation != "relu")) return nullptr;
  const std::vector<int> readers = graph.ConsumersOf(node.outputs[0]);
  if (readers.size() != 1 || graph.IsOutput(node.outputs[0])) return nullptr;
  Node& next = graph.nodes[static_cast<size_t>(readers[0])];
  if (!IsContraction(graph, next) || next.inputs[0] != node.outputs[0]) return nullptr;
  // A fully connected op may flatten what it reads: its inputs are then no channels.
  if (next.op == Op::kFullyConnected &&
      graph.tensor(next.inputs[1]).dims.back() != graph.tensor(node.outputs[0]).dims.back())
    return nullptr;
  return &next;
}

void Rescale(ir::Graph& graph, TensorId& id, const std::vector<float>& values) {
  const ir::Tensor old = graph.tensor(id);
  id = graph.AddConstant(old.name, DataType::kFloat32, old.dims, ir::ToBytes(values));
}

/// Doublings of each channel: its range in the activations over that in the weights which read it, each relative to the
/// widest, half of it in equal shares; a depthwise op's weights have scales of their own.
std::vector<int> Doublings(const std::vector<float>& ranges, const std::vector<float>& weights,
                           const WeightChannels& channel) {
  std::vector<float> reading(ranges.size());
  for (size_t i = 0; i < weights.size(); ++i) {
    float& most = reading[channel.Input(i, ranges.size())];
    most = std::max(most, std::fabs(weights[i]));
  }
  const float widest = *std::ranges::max_element(ranges);
  const float heaviest = *std::ranges::max_element(reading);
  std::vector<int> doublings(ranges.size());
  for (size_t c = 0; c < ranges.size(); ++c) {
    if (!(ranges[c] > 0) || !(reading[c] > 0)) continue;
    const double range = std::log2(widest / ranges[c]);
    const double weight = std::log2(heaviest / reading[c]);
    const double best = channel.depthwise ? range : (range - weight) / 2;
    doublings[c] = std::clamp(static_cast<int>(std::nearbyint(best)), -kMostDoublings, kMostDoublings);
  }
  return doublings;
}

}  // namespace

size_t Equalize(ir::Graph& graph, const Observations& observations) {
  size_t pairs = 0;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    Node* next = Partner(graph, graph.nodes[n]);
    if (next == nullptr) continue;
    Node& node = graph.nodes[n];
    const WeightChannels writes(graph, node), reads(graph, *next);
    std::vector<float> weights = ir::Elements<float>(graph.tensor(node.inputs[1]));
    std::vector<float> bias = ir::Elements<float>(graph.tensor(node.inputs[2]));
    std::vector<float> reading = ir::Elements<float>(graph.tensor(next->inputs[1]));
    const std::vector<float>& ranges = observations.ChannelRanges(node.outputs[0]);
    if (ranges.size() != writes.count || bias.size() != writes.count) continue;
    const std::vector<int> doublings = Doublings(ranges, reading, reads);
    if (std::ranges::all_of(doublings, [](int d) { return d == 0; })) continue;
    for (size_t i = 0; i < weights.size(); ++i) weights[i] = std::ldexp(weights[i], doublings[writes(i)]);
    for (size_t c = 0; c < bias.size(); ++c) bias[c] = std::ldexp(bias[c], doublings[c]);
    for (size_t i = 0; i < reading.size(); ++i)
      reading[i] = std::ldexp(reading[i], -doublings[reads.Input(i, ranges.size())]);
    Rescale(graph, node.inputs[1], weights);
    Rescale(graph, node.inputs[2], bias);
    Rescale(graph, next->inputs[1], reading);
    ++pairs;
  }
  return pairs;
}

}  // namespace takt::quant
