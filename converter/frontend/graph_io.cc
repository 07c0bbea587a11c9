#include "converter/frontend/graph_io.h"

#include <utility>

namespace takt::frontend {
namespace {

ir::Node Step(Op op, ir::TensorId from, ir::TensorId to, std::string name) {
  ir::Node node;
  node.op = op;
  node.inputs = {from};
  node.outputs = {to};
  node.name = std::move(name);
  return node;
}

ir::Node Requantize(ir::TensorId from, ir::TensorId to) {
  return Step(Op::kRequantize, from, to, OpName(Op::kRequantize));
}

/// A uint8 tensor that takes over name and source of the int8 tensor `id`.
ir::TensorId OuterUint8(ir::Graph& graph, ir::TensorId id, Diagnostics& diagnostics) {
  ir::Tensor outer = graph.tensor(id);
  outer.type = DataType::kUint8;
  outer.data = nullptr;
  for (int32_t& zero_point : outer.quantization->zero_points) zero_point += 128;
  diagnostics.Note({graph.name, -1, "", outer.name}, "is uint8; a requantize step converts it, as all inside is int8");
  graph.tensor(id).name += "/int8";
  graph.tensor(id).source = -1;
  return graph.AddTensor(std::move(outer));
}

}  // namespace

ir::TensorId AddCopy(ir::Graph& graph, ir::TensorId value, const std::string& suffix, std::string node_name) {
  ir::Tensor copy = graph.tensor(value);
  copy.name += suffix;
  copy.data = nullptr;
  const ir::TensorId made = graph.AddTensor(std::move(copy));
  graph.nodes.push_back(Step(Op::kCopy, value, made, std::move(node_name)));
  return made;
}

void AdaptGraphIo(ir::Graph& graph, const std::set<ir::TensorId>& uint8_tensors, Diagnostics& diagnostics) {
  std::set<ir::TensorId> bound(graph.inputs.begin(), graph.inputs.end());
  for (ir::TensorId& id : graph.inputs) {
    if (uint8_tensors.count(id) == 0) continue;
    const ir::TensorId inner = id;
    id = OuterUint8(graph, inner, diagnostics);
    graph.nodes.insert(graph.nodes.begin(), Requantize(id, inner));
  }
  for (ir::TensorId& id : graph.outputs) {
    const ir::TensorId inner = id;
    if (uint8_tensors.count(id) != 0) {
      id = OuterUint8(graph, inner, diagnostics);
      graph.nodes.push_back(Requantize(inner, id));
    } else if (graph.tensor(id).is_constant() || !bound.insert(id).second) {
      diagnostics.Note({graph.name, -1, "", graph.tensor(id).name},
                       "is an output that is also a constant, an input or another output; becomes a copy");
      id = AddCopy(graph, inner, "/copy", OpName(Op::kCopy));
    }
  }
}

}  // namespace takt::frontend
