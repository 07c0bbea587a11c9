#include <algorithm>

#include "converter/passes/passes.h"

namespace takt::passes {
namespace {

/// Whether `id` is the int8 result of a conv2d that only one node reads.
bool IsPrivateConv(const ir::Graph& graph, ir::TensorId id) {
  const int producer = graph.ProducerOf(id);
  return producer >= 0 && graph.nodes[static_cast<size_t>(producer)].op == Op::kConv2d &&
         graph.tensor(id).type == DataType::kInt8 && graph.tensor(id).quantization &&
         graph.tensor(id).quantization->scales.size() == 1 && graph.ConsumersOf(id).size() == 1 && !graph.IsOutput(id);
}

/// Index of the add's input that the later convolution writes, or -1.
int FusableInput(const ir::Graph& graph, const ir::Node& add) {
  if (add.StringOr("function", "add") != "add" || add.inputs[0] == add.inputs[1]) return -1;
  if (graph.tensor(add.inputs[0]).dims != graph.tensor(add.inputs[1]).dims) return -1;
  const int later = graph.ProducerOf(add.inputs[0]) > graph.ProducerOf(add.inputs[1]) ? 0 : 1;
  return IsPrivateConv(graph, add.inputs[static_cast<size_t>(later)]) ? later : -1;
}

}  // namespace

void FuseResiduals(ir::Graph& graph, PassContext&) {
  std::vector<size_t> fused;
  for (ir::Node& add : graph.nodes) {
    if (add.op != Op::kAdd) continue;
    const int input = FusableInput(graph, add);
    if (input < 0) continue;
    const ir::TensorId result = add.inputs[static_cast<size_t>(input)];
    const ir::TensorId skip = add.inputs[static_cast<size_t>(1 - input)];
    const auto producer = static_cast<size_t>(graph.ProducerOf(result));
    ir::Node node = graph.nodes[producer];
    node.op = Op::kConv2dAdd;
    if (node.inputs.size() < 3) node.inputs.resize(3, ir::kNoTensor);
    node.inputs.push_back(skip);
    node.outputs = add.outputs;
    node.attributes["add_activation"] = add.StringOr("activation", "none");
    node.attributes["conv_scale"] = static_cast<double>(graph.tensor(result).quantization->scales[0]);
    node.attributes["conv_zero_point"] = int64_t{graph.tensor(result).quantization->zero_points[0]};
    node.sources.insert(node.sources.end(), add.sources.begin(), add.sources.end());
    add = std::move(node);
    fused.push_back(producer);
  }
  std::sort(fused.begin(), fused.end());
  for (auto it = fused.rbegin(); it != fused.rend(); ++it)
    graph.nodes.erase(graph.nodes.begin() + static_cast<int64_t>(*it));
}

}  // namespace takt::passes
