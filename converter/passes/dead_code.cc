#include <algorithm>
#include <utility>

#include "converter/passes/passes.h"

namespace takt::passes {
namespace {

/// Tensors that are read, or whose memory is part of what is read.
class Uses {
 public:
  explicit Uses(const ir::Graph& graph) : graph_(graph), used_(graph.tensors.size()) {}
  void Add(ir::TensorId id) {
    if (id == ir::kNoTensor) return;
    used_[static_cast<size_t>(id)] = true;
    if (graph_.tensor(id).view) used_[static_cast<size_t>(graph_.tensor(id).view->base)] = true;
  }
  bool Has(ir::TensorId id) const {
    const auto& view = graph_.tensor(id).view;
    return used_[static_cast<size_t>(id)] || (view && used_[static_cast<size_t>(view->base)]);
  }
  bool operator[](size_t i) const { return used_[i]; }

 private:
  const ir::Graph& graph_;
  std::vector<bool> used_;
};

/// Drops tensors that nothing names and numbers the rest anew, in their order.
void Renumber(ir::Graph& graph, const Uses& uses) {
  std::vector<ir::TensorId> number(graph.tensors.size(), ir::kNoTensor);
  std::vector<ir::Tensor> tensors;
  for (size_t i = 0; i < number.size(); ++i) {
    if (!uses[i]) continue;
    number[i] = static_cast<ir::TensorId>(tensors.size());
    tensors.push_back(std::move(graph.tensors[i]));
  }
  graph.tensors = std::move(tensors);
  const auto renumber = [&](ir::TensorId& id) {
    if (id != ir::kNoTensor) id = number[static_cast<size_t>(id)];
  };
  for (ir::Tensor& tensor : graph.tensors) {
    if (tensor.view) renumber(tensor.view->base);
  }
  for (ir::Node& node : graph.nodes) {
    std::for_each(node.inputs.begin(), node.inputs.end(), renumber);
    std::for_each(node.outputs.begin(), node.outputs.end(), renumber);
  }
  std::for_each(graph.inputs.begin(), graph.inputs.end(), renumber);
  std::for_each(graph.outputs.begin(), graph.outputs.end(), renumber);
  for (ir::State& state : graph.states) renumber(state.tensor), renumber(state.next), renumber(state.initial);
}

}  // namespace

void EliminateDeadCode(ir::Graph& graph, PassContext&) {
  Uses uses(graph);
  for (ir::TensorId id : graph.inputs) uses.Add(id);
  for (ir::TensorId id : graph.outputs) uses.Add(id);
  for (const ir::State& state : graph.states) uses.Add(state.tensor), uses.Add(state.next), uses.Add(state.initial);
  std::vector<ir::Node> kept;
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    const auto is_used = [&](ir::TensorId id) { return uses.Has(id); };
    if (std::none_of(node->outputs.begin(), node->outputs.end(), is_used)) continue;
    for (ir::TensorId id : node->inputs) uses.Add(id);
    for (ir::TensorId id : node->outputs) uses.Add(id);
    kept.push_back(std::move(*node));
  }
  std::reverse(kept.begin(), kept.end());
  graph.nodes = std::move(kept);
  Renumber(graph, uses);
}

}  // namespace takt::passes
