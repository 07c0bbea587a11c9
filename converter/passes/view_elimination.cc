// Ops that only name memory anew. reshape: a dense view of its input, or a copy where one of both is bound from
// outside. concatenation: one copy per part into a strided view of the output. slice: a copy from a strided view of the
// input.
#include <algorithm>
#include <utility>

#include "converter/passes/passes.h"

namespace takt::passes {
namespace {

std::vector<int64_t> ByteStrides(const ir::Tensor& tensor) {
  std::vector<int64_t> strides(tensor.dims.size());
  int64_t stride = BitWidth(tensor.type) / 8;
  for (size_t i = strides.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= tensor.dims[i];
  }
  return strides;
}

ir::TensorId AddView(ir::Graph& graph, ir::TensorId like, ir::View view) {
  ir::Tensor tensor = graph.tensor(like);
  tensor.name += "/view";
  tensor.source = -1;
  tensor.data = nullptr;
  tensor.view = std::move(view);
  return graph.AddTensor(std::move(tensor));
}

ir::Node Copy(const ir::Node& from, ir::TensorId input, ir::TensorId output) {
  ir::Node node;
  node.op = Op::kCopy;
  node.inputs = {input};
  node.outputs = {output};
  node.sources = from.sources;
  node.name = from.name;
  return node;
}

bool IsBound(const ir::Graph& graph, ir::TensorId id) {
  return graph.tensor(id).is_constant() || graph.IsOutput(id) || graph.IsInput(id);
}

void Reshape(ir::Graph& graph, const ir::Node& node, PassContext& context, std::vector<ir::Node>& out) {
  const ir::TensorId from = node.inputs[0];
  const ir::TensorId to = node.outputs[0];
  const auto& view = graph.tensor(from).view;
  const ir::TensorId base = view ? view->base : from;
  if (!IsBound(graph, base) && !graph.IsOutput(to) && !(view && !view->strides.empty())) {
    graph.tensor(to).view = ir::View{base, view ? view->offset_bytes : 0, {}};
    return;
  }
  context.diagnostics.Note({graph.name, node.sources.empty() ? -1 : node.sources[0], node.name, graph.tensor(to).name},
                           "becomes a copy: its memory is bound from outside");
  out.push_back(Copy(node, from, AddView(graph, from, {to, 0, {}})));
}

void Concatenation(ir::Graph& graph, const ir::Node& node, std::vector<ir::Node>& out) {
  const ir::TensorId to = node.outputs[0];
  const std::vector<int64_t> strides = ByteStrides(graph.tensor(to));
  const auto axis = static_cast<size_t>(node.Int("axis"));
  int64_t offset = 0;
  for (ir::TensorId part : node.inputs) {
    const int64_t bytes = graph.tensor(part).dims[axis] * strides[axis];
    out.push_back(Copy(node, part, AddView(graph, part, {to, offset, strides})));
    offset += bytes;
  }
}

void Slice(ir::Graph& graph, const ir::Node& node, std::vector<ir::Node>& out) {
  ir::TensorId base = node.inputs[0];
  std::vector<int64_t> strides = ByteStrides(graph.tensor(base));
  int64_t offset = 0;
  if (const auto& view = graph.tensor(base).view) {
    offset = view->offset_bytes;
    if (!view->strides.empty()) strides = view->strides;
    base = view->base;
  }
  for (size_t i = 0; i < strides.size(); ++i) {
    offset += node.Ints("begin")[i] * strides[i];
    strides[i] *= node.Ints("strides")[i];
  }
  out.push_back(Copy(node, AddView(graph, node.outputs[0], {base, offset, strides}), node.outputs[0]));
}

}  // namespace

void EliminateViews(ir::Graph& graph, PassContext& context) {
  std::vector<ir::Node> nodes;
  for (ir::Node& node : graph.nodes) {
    if (node.op == Op::kReshape) {
      Reshape(graph, node, context, nodes);
    } else if (node.op == Op::kConcatenation) {
      Concatenation(graph, node, nodes);
    } else if (node.op == Op::kSlice) {
      Slice(graph, node, nodes);
    } else {
      nodes.push_back(std::move(node));
    }
  }
  graph.nodes = std::move(nodes);
}

}  // namespace takt::passes
