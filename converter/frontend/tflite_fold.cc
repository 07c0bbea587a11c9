#include "converter/frontend/tflite_fold.h"

#include <algorithm>
#include <utility>

#include "converter/passes/evaluate.h"

namespace takt::frontend {

void FoldPlainConstants(ir::Graph& graph, size_t first_node) {
  constexpr int64_t kMostBytes = 1 << 16;
  const auto plain = [&graph](ir::TensorId id) { return id == ir::kNoTensor || !graph.tensor(id).quantization; };
  const auto constant = [&](ir::TensorId id) {
    return plain(id) && (id == ir::kNoTensor || graph.tensor(id).is_constant());
  };
  const auto small = [&](ir::TensorId id) {
    return plain(id) && !graph.IsOutput(id) && graph.tensor(id).byte_size() <= kMostBytes;
  };
  for (size_t i = first_node; i < graph.nodes.size();) {
    const ir::Node& node = graph.nodes[i];
    std::optional<std::vector<ir::Bytes>> values;
    if (std::all_of(node.inputs.begin(), node.inputs.end(), constant) &&
        std::all_of(node.outputs.begin(), node.outputs.end(), small))
      values = passes::Evaluate(passes::IsolateNode(graph, node), Numerics::kFp32Rne);
    if (!values) {
      ++i;
      continue;
    }
    for (size_t k = 0; k < values->size(); ++k)
      graph.tensor(node.outputs[k]).data = std::make_shared<const ir::Bytes>(std::move((*values)[k]));
    graph.nodes.erase(graph.nodes.begin() + static_cast<ptrdiff_t>(i));
  }
}

bool ForwardConstant(ir::Graph& graph, const std::vector<ir::TensorId>& inputs, ir::TensorId output) {
  if (inputs.size() != 1 || inputs[0] == ir::kNoTensor) return false;
  const ir::Tensor& from = graph.tensor(inputs[0]);
  ir::Tensor& to = graph.tensor(output);
  if (!from.is_constant() || from.type != DataType::kFloat32 || to.type != from.type || to.dims != from.dims)
    return false;
  to.data = from.data;
  return true;
}

void ReportEmptyOperands(const ir::Graph& graph, size_t first_node, Diagnostics& diagnostics) {
  for (size_t i = first_node; i < graph.nodes.size(); ++i) {
    const ir::Node& node = graph.nodes[i];
    for (const ir::TensorId id : node.inputs) {
      if (id == ir::kNoTensor || graph.tensor(id).element_count() != 0) continue;
      diagnostics.Error({graph.name, node.sources.empty() ? -1 : node.sources[0], node.name, graph.tensor(id).name},
                        "has no elements, but its reader gives some; leave the operator out of the model");
    }
  }
}

}  // namespace takt::frontend
