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

/// How many times nodes, outputs and states read each tensor.
std::vector<int> CountReaders(const ir::Graph& graph) {
  std::vector<int> readers(graph.tensors.size());
  const auto add = [&](ir::TensorId id) {
    if (id != ir::kNoTensor) ++readers[static_cast<size_t>(id)];
  };
  for (const ir::Node& node : graph.nodes) std::ranges::for_each(node.inputs, add);
  std::ranges::for_each(graph.outputs, add);
  for (const ir::State& state : graph.states) add(state.initial);
  return readers;
}

/// Weights of a big model must not stay in each form that they had. What is empty has a shape only as a constant.
void Release(ir::Tensor& t) {
  if (t.byte_size() > 0) t.data = nullptr;
}

}  // namespace

void FoldConstants(ir::Graph& graph, PassContext& context) {
  std::vector<int> readers = CountReaders(graph);
  std::vector<ir::Node> kept;
  for (ir::Node& node : graph.nodes) {
    const bool foldable = ReadsOnlyConstants(graph, node) && !(node.op == Op::kCopy && graph.IsOutput(node.outputs[0]));
    auto values = foldable ? Evaluate(IsolateNode(graph, node), context.numerics) : std::nullopt;
    if (!values) {
      kept.push_back(std::move(node));
      continue;
    }
    for (const ir::TensorId id : node.inputs) {
      if (id != ir::kNoTensor && --readers[static_cast<size_t>(id)] == 0) Release(graph.tensor(id));
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
