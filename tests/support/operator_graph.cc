#include "tests/support/operator_graph.h"

#include <algorithm>
#include <map>
#include <set>

namespace takt::test {
namespace {

using ir::TensorId;

bool IsReadOutside(const ir::Graph& graph, const std::set<const ir::Node*>& part, TensorId id) {
  const std::vector<int> readers = graph.ConsumersOf(id);
  return graph.IsOutput(id) || std::any_of(readers.begin(), readers.end(), [&](int reader) {
           return part.count(&graph.nodes[static_cast<size_t>(reader)]) == 0;
         });
}

ir::Graph Cut(const ir::Graph& graph, const std::set<const ir::Node*>& part) {
  ir::Graph cut;
  cut.name = graph.name;
  std::map<TensorId, TensorId> ids = {{ir::kNoTensor, ir::kNoTensor}};
  const auto map = [&](TensorId id, bool input) {
    const auto [it, fresh] = ids.try_emplace(id, static_cast<TensorId>(cut.tensors.size()));
    if (!fresh) return it->second;
    cut.AddTensor(graph.tensor(id));
    if (input && !graph.tensor(id).is_constant() && !graph.IsState(id)) cut.inputs.push_back(it->second);
    return it->second;
  };
  for (const ir::Node& node : graph.nodes) {
    if (part.count(&node) == 0) continue;
    ir::Node copy = node;
    for (TensorId& id : copy.inputs) id = map(id, true);
    for (TensorId& id : copy.outputs) {
      const TensorId from = id;
      id = map(from, false);
      if (IsReadOutside(graph, part, from)) cut.outputs.push_back(id);
    }
    cut.nodes.push_back(std::move(copy));
  }
  for (const ir::State& state : graph.states) {
    if (ids.count(state.tensor) != 0) {
      const TensorId initial = state.initial == ir::kNoTensor ? ir::kNoTensor : map(state.initial, false);
      cut.states.push_back({map(state.tensor, true), map(state.next, false), initial});
    }
  }
  return cut;
}

}  // namespace

std::vector<ir::Graph> SplitByOperator(const ir::Graph& graph) {
  std::map<int32_t, std::set<const ir::Node*>> operators;
  for (const ir::Node& node : graph.nodes) operators[node.sources.at(0)].insert(&node);
  std::vector<ir::Graph> cuts;
  for (const auto& [source, part] : operators) cuts.push_back(Cut(graph, part));
  return cuts;
}

}  // namespace takt::test
