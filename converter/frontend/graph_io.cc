#include "converter/frontend/graph_io.h"

#include <utility>

namespace takt::frontend {
namespace {

ir::Node Step(Op op, ir::TensorId from, ir::TensorId to) {
  ir::Node node;
  node.op = op;
  node.inputs = {from};
  node.outputs = {to};
  node.name = OpName(op);
  return node;
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

void AdaptGraphIo(ir::Graph& graph, const std::set<ir::TensorId>& uint8_tensors, Diagnostics& diagnostics) {
  std::set<ir::TensorId> bound(graph.inputs.begin(), graph.inputs.end());
  for (ir::TensorId& id : graph.inputs) {
    if (uint8_tensors.count(id) == 0) continue;
    const ir::TensorId inner = id;
    id = OuterUint8(graph, inner, diagnostics);
    graph.nodes.insert(graph.nodes.begin(), Step(Op::kRequantize, id, inner));
  }
  for (ir::TensorId& id : graph.outputs) {
    const ir::TensorId inner = id;
    if (uint8_tensors.count(id) != 0) {
      id = OuterUint8(graph, inner, diagnostics);
      graph.nodes.push_back(Step(Op::kRequantize, inner, id));
    } else if (graph.tensor(id).is_constant() || !bound.insert(id).second) {
      diagnostics.Note({graph.name, -1, "", graph.tensor(id).name},
                       "is an output that is also a constant, an input or another output; becomes a copy");
      ir::Tensor copy = graph.tensor(inner);
      copy.name += "/copy";
      copy.data = nullptr;
      id = graph.AddTensor(std::move(copy));
      graph.nodes.push_back(Step(Op::kCopy, inner, id));
    }
  }
}

}  // namespace takt::frontend
