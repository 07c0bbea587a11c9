#include "converter/ir/inline.h"

#include <utility>

namespace takt::ir {

void Inliner::Append(const std::vector<TensorId>& arguments, const std::vector<TensorId>& results,
                     const std::string& suffix, std::vector<Node>& nodes) {
  std::map<TensorId, TensorId> place = constants_;
  for (size_t i = 0; i < arguments.size(); ++i) place[body_.inputs[i]] = arguments[i];
  for (size_t i = 0; i < results.size(); ++i) place[body_.outputs[i]] = results[i];
  std::vector<TensorId> fresh;
  for (size_t i = 0; i < body_.tensors.size(); ++i) {
    const auto id = static_cast<TensorId>(i);
    if (place.count(id) != 0) continue;
    Tensor tensor = body_.tensors[i];
    const bool constant = tensor.is_constant();
    if (!constant) tensor.name += suffix;
    tensor.source = -1;
    place[id] = graph_.AddTensor(std::move(tensor));
    (constant ? constants_[id] : fresh.emplace_back()) = place[id];
  }
  for (const TensorId id : fresh) {
    auto& view = graph_.tensor(id).view;
    if (!view) continue;
    view->base = place.at(view->base);
    if (const auto& outer = graph_.tensor(view->base).view) {
      view->offset_bytes += outer->offset_bytes;
      view->base = outer->base;
    }
  }
  for (Node node : body_.nodes) {
    for (std::vector<TensorId>* ids : {&node.inputs, &node.outputs})
      for (TensorId& id : *ids)
        if (id != kNoTensor) id = place.at(id);
    node.sources.clear();
    nodes.push_back(std::move(node));
  }
}

TensorId AddOutputOf(const Graph& body, size_t i, const std::string& suffix, Graph& graph) {
  Tensor tensor = body.tensor(body.outputs[i]);
  tensor.name += suffix;
  tensor.source = -1;
  tensor.view.reset();
  return graph.AddTensor(std::move(tensor));
}

}  // namespace takt::ir
