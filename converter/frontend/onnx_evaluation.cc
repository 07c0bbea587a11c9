#include "converter/frontend/onnx_evaluation.h"

#include <map>
#include <set>

namespace takt::frontend {
namespace {

constexpr int64_t kMaxElements = 1 << 20;  ///< Larger constants are left to the passes.

bool CanEvaluate(const ir::Graph& graph, size_t first) {
  std::set<ir::TensorId> written;
  for (size_t i = first; i < graph.nodes.size(); ++i) {
    const ir::Node& node = graph.nodes[i];
    if (node.op == Op::kDequantize) return false;
    for (ir::TensorId id : node.inputs) {
      if (id != ir::kNoTensor && !written.count(id) && !graph.tensor(id).is_constant()) return false;
    }
    for (ir::TensorId id : node.outputs) {
      if (graph.tensor(id).quantization || graph.tensor(id).element_count() > kMaxElements) return false;
      written.insert(id);
    }
  }
  return true;
}

}  // namespace

void EvaluateNodes(ir::Graph& graph, size_t first, const std::vector<ir::TensorId>& outputs,
                   const Evaluator& evaluate) {
  if (!CanEvaluate(graph, first)) return;
  ir::Graph alone;
  std::map<ir::TensorId, ir::TensorId> copies;
  const auto move = [&](ir::TensorId& id) {
    if (id == ir::kNoTensor) return;
    const auto found = copies.find(id);
    const ir::TensorId copy = found != copies.end() ? found->second : alone.AddTensor(graph.tensor(id));
    copies[id] = copy;
    id = copy;
  };
  std::set<ir::TensorId> written;
  for (size_t i = first; i < graph.nodes.size(); ++i) {
    written.insert(graph.nodes[i].outputs.begin(), graph.nodes[i].outputs.end());
    alone.nodes.push_back(graph.nodes[i]);
    for (ir::TensorId& id : alone.nodes.back().inputs) move(id);
    for (ir::TensorId& id : alone.nodes.back().outputs) move(id);
  }
  std::vector<ir::TensorId> results;
  for (ir::TensorId id : outputs) {
    if (written.count(id)) results.push_back(id), alone.outputs.push_back(copies.at(id));
  }
  const auto values = results.empty() ? std::nullopt : evaluate(std::move(alone));
  if (!values) return;
  for (size_t i = 0; i < results.size(); ++i)
    graph.tensor(results[i]).data = std::make_shared<const ir::Bytes>((*values)[i]);
  for (ir::TensorId id : written) {
    if (!graph.tensor(id).is_constant()) graph.tensor(id) = {};
  }
  graph.nodes.resize(first);
}

}  // namespace takt::frontend
