#include "converter/passes/passes.h"

namespace takt::passes {
namespace {

/// Padding with real zero over height and width only, in the quantization of its input: what a convolution's own pads
/// do.
bool IsSpatialZeroPad(const ir::Graph& graph, const ir::Node& pad) {
  const ir::Tensor& in = graph.tensor(pad.inputs[0]);
  const ir::Tensor& out = graph.tensor(pad.outputs[0]);
  if (in.dims.size() != 4 || in.quantization != out.quantization || pad.FloatOr("value", 0) != 0) return false;
  const auto& before = pad.Ints("before");
  const auto& after = pad.Ints("after");
  return before[0] == 0 && after[0] == 0 && before[3] == 0 && after[3] == 0;
}

}  // namespace

void FoldPads(ir::Graph& graph, PassContext&) {
  for (ir::Node& node : graph.nodes) {
    if (node.op != Op::kConv2d && node.op != Op::kDepthwiseConv2d) continue;
    const int producer = graph.ProducerOf(node.inputs[0]);
    if (producer < 0) continue;
    const ir::Node& pad = graph.nodes[static_cast<size_t>(producer)];
    if (pad.op != Op::kPad || !IsSpatialZeroPad(graph, pad)) continue;
    std::vector<int64_t> pads = node.Ints("pads");
    const auto& before = pad.Ints("before");
    const auto& after = pad.Ints("after");
    pads[0] += before[1];
    pads[1] += before[2];
    pads[2] += after[1];
    pads[3] += after[2];
    node.attributes["pads"] = pads;
    node.inputs[0] = pad.inputs[0];
    node.sources.insert(node.sources.begin(), pad.sources.begin(), pad.sources.end());
  }
}

}  // namespace takt::passes
