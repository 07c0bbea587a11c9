#include <algorithm>
#include <utility>

#include "converter/passes/evaluate.h"
#include "converter/passes/passes.h"

namespace takt::passes {
namespace {

bool ReadsOnlyConstants(const ir::Graph& graph, const ir::Node& node) {
  return std::all_of(node.inputs.begin(), node.inputs.end(),
                     [&](ir::TensorId id) { return id == ir::kNoTensor || graph.tensor(id).is_constant(); });
}

/// A graph output is memory that a step writes: a copy of the constant.
void CopyToOutput(ir::Graph& graph, ir::Node& node, ir::TensorId output) {
  ir::Tensor constant = graph.tensor(output);
  constant.name += "/constant";
  constant.source = -1;
  graph.tensor(output).data = nullptr;
  node.op = Op::kCopy;
  node.attributes.clear();
  node.inputs = {graph.AddTensor(std::move(constant))};
}

}  // namespace

void FoldConstants(ir::Graph& graph, PassContext& context) {
  std::vector<ir::Node> kept;
  for (ir::Node& node : graph.nodes) {
    const bool foldable = ReadsOnlyConstants(graph, node) && !(node.op == Op::kCopy && graph.IsOutput(node.outputs[0]));
    auto values = foldable ? Evaluate(IsolateNode(graph, node), context.numerics) : std::nullopt;
    if (!values) {
      kept.push_back(std::move(node));
      continue;
    }
    for (size_t i = 0; i < values->size(); ++i) {
      const ir::TensorId output = node.outputs[i];
      graph.tensor(output).data = std::make_shared<const ir::Bytes>(std::move((*values)[i]));
      if (!graph.IsOutput(output)) continue;
      ir::Node copy = node;
      copy.outputs = {output};
      CopyToOutput(graph, copy, output);
      kept.push_back(std::move(copy));
    }
  }
  graph.nodes = std::move(kept);
}

}  // namespace takt::passes
