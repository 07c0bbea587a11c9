#include <algorithm>

#include "converter/passes/passes.h"

namespace takt::passes {

void EliminateDeadCode(ir::Graph& graph, PassContext&) {
  std::vector<bool> live(graph.tensors.size());
  for (ir::TensorId id : graph.outputs) live[static_cast<size_t>(id)] = true;
  std::vector<ir::Node> kept;
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    bool used = false;
    for (ir::TensorId id : node->outputs) {
      used |= live[static_cast<size_t>(id)];
      const auto& view = graph.tensor(id).view;
      used |= view && live[static_cast<size_t>(view->base)];
    }
    if (!used) continue;
    for (ir::TensorId id : node->inputs) {
      if (id == ir::kNoTensor) continue;
      live[static_cast<size_t>(id)] = true;
      if (graph.tensor(id).view) live[static_cast<size_t>(graph.tensor(id).view->base)] = true;
    }
    kept.push_back(std::move(*node));
  }
  std::reverse(kept.begin(), kept.end());
  graph.nodes = std::move(kept);
}

}  // namespace takt::passes
