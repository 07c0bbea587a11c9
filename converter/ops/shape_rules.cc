#include "converter/ops/shape_rules.h"

namespace takt::ir {

std::string InferAsInput(const Graph& graph, const Node& node, std::vector<TensorType>& outputs) {
  const Tensor& input = graph.tensor(node.inputs[0]);
  outputs = {{input.type, input.dims}};
  return "";
}

std::string InferBroadcast(const Graph& graph, const Node& node, size_t first, DataType type,
                           std::vector<TensorType>& outputs) {
  std::vector<int32_t> dims;
  for (size_t n = 0; n < node.inputs.size(); ++n) {
    const Tensor& t = graph.tensor(node.inputs[n]);
    if (n > first && t.type != graph.tensor(node.inputs[first]).type) return "operands differ in type";
    if (t.dims.size() > dims.size()) dims.insert(dims.begin(), t.dims.size() - dims.size(), 1);
    for (size_t i = 0; i < t.dims.size(); ++i) {
      int32_t& dim = dims[dims.size() - 1 - i];
      const int32_t own = t.dims[t.dims.size() - 1 - i];
      if (own != dim && own != 1 && dim != 1)
        return "shape " + DimsText(t.dims) + " does not broadcast with that of the operands before it";
      if (dim == 1) dim = own;
    }
  }
  outputs = {{type, dims}};
  return "";
}

std::string InferBroadcastOfInputs(const Graph& graph, const Node& node, std::vector<TensorType>& outputs) {
  return InferBroadcast(graph, node, 0, graph.tensor(node.inputs[0]).type, outputs);
}

}  // namespace takt::ir
