#include "converter/ir/constants.h"
#include "converter/ops/quantized_params.h"
#include "converter/passes/passes.h"

namespace takt::passes {
namespace {

/// Padding over height and width only, in the quantization of its input.
bool IsSpatial(const ir::Graph& graph, const ir::Node& pad) {
  const ir::Tensor& in = graph.tensor(pad.inputs[0]);
  if (in.dims.size() != 4 || in.quantization != graph.tensor(pad.outputs[0]).quantization) return false;
  const auto& before = pad.Ints("before");
  const auto& after = pad.Ints("after");
  return before[0] == 0 && after[0] == 0 && before[3] == 0 && after[3] == 0;
}

/// Whether no cell of the pad's input is below the value that it adds.
bool AddsMinimum(const ir::Graph& graph, const ir::Node& pad) {
  const ir::Tensor& out = graph.tensor(pad.outputs[0]);
  const double value = pad.FloatOr("value", 0);
  if (out.type != DataType::kFloat32 && out.quantization &&
      static_cast<float>(ir::SaturatedValue(value, out)) == ir::StoredClamp("none", out).min()) {
    return true;
  }
  const int producer = graph.ProducerOf(pad.inputs[0]);
  if (producer < 0 || value > 0) return false;
  const std::string activation = graph.nodes[static_cast<size_t>(producer)].StringOr("activation", "none");
  return activation == "relu" || activation == "relu6";
}

/// Whether `node` with these pads computes what it computes from the padded input: a convolution's pads are real zeros,
/// a maximum does not see its own, of which no window may consist.
bool MayTakePads(const ir::Graph& graph, const ir::Node& node, const ir::Node& pad, const std::vector<int64_t>& pads) {
  if (node.op != Op::kMaxPool2d) return pad.FloatOr("value", 0) == 0;
  const auto& kernel = node.Ints("kernel");
  for (size_t i = 0; i < pads.size(); ++i) {
    if (pads[i] >= kernel[i % 2]) return false;
  }
  return AddsMinimum(graph, pad);
}

/// transpose(pad(x)) becomes pad(transpose(x)): fewer bytes are transposed, and the pad stands where a window reads it.
void SwapTransposes(ir::Graph& graph) {
  for (ir::Node& transpose : graph.nodes) {
    if (transpose.op != Op::kTranspose) continue;
    const ir::TensorId between = transpose.inputs[0];
    const int producer = graph.ProducerOf(between);
    if (producer < 0 || graph.IsOutput(between) || graph.ConsumersOf(between).size() != 1) continue;
    ir::Node& pad = graph.nodes[static_cast<size_t>(producer)];
    const ir::Tensor& in = graph.tensor(pad.inputs[0]);
    if (pad.op != Op::kPad || in.quantization != graph.tensor(between).quantization) continue;
    const std::vector<int64_t>& permutation = transpose.Ints("permutation");
    ir::Tensor& tensor = graph.tensor(between);
    tensor.dims = ir::Permuted(in.dims, permutation);
    tensor.name = in.name + "/permuted";
    tensor.source = -1;
    for (const char* key : {"before", "after"}) {
      const std::vector<int64_t> old = pad.Ints(key);
      auto& values = std::get<std::vector<int64_t>>(pad.attributes.at(key));
      for (size_t i = 0; i < old.size(); ++i) values[i] = old[static_cast<size_t>(permutation[i])];
    }
    std::swap(pad.op, transpose.op);
    std::swap(pad.attributes, transpose.attributes);
    std::swap(pad.sources, transpose.sources);
    std::swap(pad.name, transpose.name);
  }
}

}  // namespace

void FoldPads(ir::Graph& graph, PassContext&) {
  SwapTransposes(graph);
  for (ir::Node& node : graph.nodes) {
    if (node.op != Op::kConv2d && node.op != Op::kDepthwiseConv2d && node.op != Op::kMaxPool2d) continue;
    const int producer = graph.ProducerOf(node.inputs[0]);
    if (producer < 0) continue;
    const ir::Node& pad = graph.nodes[static_cast<size_t>(producer)];
    if (pad.op != Op::kPad || !IsSpatial(graph, pad)) continue;
    std::vector<int64_t> pads = node.Ints("pads");
    const auto& before = pad.Ints("before");
    const auto& after = pad.Ints("after");
    pads[0] += before[1];
    pads[1] += before[2];
    pads[2] += after[1];
    pads[3] += after[2];
    if (!MayTakePads(graph, node, pad, pads)) continue;
    node.attributes["pads"] = pads;
    node.inputs[0] = pad.inputs[0];
    node.sources.insert(node.sources.begin(), pad.sources.begin(), pad.sources.end());
  }
}

}  // namespace takt::passes
