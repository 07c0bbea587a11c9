#include "converter/ir/constants.h"
#include "converter/passes/passes.h"

namespace takt::passes {
namespace {

using ir::Node;
using ir::TensorId;

bool IsContraction(Op op) {
  return op == Op::kConv2d || op == Op::kDepthwiseConv2d || op == Op::kFullyConnected;
}

/// One value for each of `channels`, if the constant broadcasts along the last dimension only; empty otherwise.
std::vector<float> PerChannel(const ir::Tensor& constant, int64_t channels) {
  if (!constant.is_constant() || constant.type != DataType::kFloat32) return {};
  std::vector<float> values = ir::Elements<float>(constant);
  if (values.size() == 1) values.assign(static_cast<size_t>(channels), values[0]);
  const bool last = constant.element_count() == 1 || (!constant.dims.empty() && constant.dims.back() == channels);
  return last && static_cast<int64_t>(values.size()) == channels ? values : std::vector<float>();
}

TensorId Replaced(ir::Graph& graph, TensorId constant, const std::vector<float>& values) {
  ir::Tensor tensor = graph.tensor(constant);
  tensor.data = std::make_shared<const ir::Bytes>(ir::ToBytes(values));
  return graph.AddTensor(std::move(tensor));
}

/// y = scale * (W x + b) + offset, element c of each for output channel c.
void Fold(ir::Graph& graph, Node& contraction, const std::vector<float>& scale, const std::vector<float>& offset) {
  std::vector<float> weights = ir::Elements<float>(graph.tensor(contraction.inputs[1]));
  std::vector<float> bias = ir::Elements<float>(graph.tensor(contraction.inputs[2]));
  const size_t channels = bias.size();
  // The output channel is the first dimension of the weights, but the last of depthwise ones.
  const size_t row = contraction.op == Op::kDepthwiseConv2d ? 1 : weights.size() / channels;
  for (size_t i = 0; i < weights.size(); ++i) weights[i] *= scale[i / row % channels];
  for (size_t c = 0; c < channels; ++c) bias[c] = bias[c] * scale[c] + offset[c];
  contraction.inputs[1] = Replaced(graph, contraction.inputs[1], weights);
  contraction.inputs[2] = Replaced(graph, contraction.inputs[2], bias);
}

/// The producer of `id`, if it is a float contraction with constant weights that nothing else reads.
Node* FoldableProducer(ir::Graph& graph, TensorId id) {
  const int producer = graph.ProducerOf(id);
  if (producer < 0) return nullptr;
  Node& node = graph.nodes[static_cast<size_t>(producer)];
  const bool constant = IsContraction(node.op) && graph.tensor(node.inputs[1]).is_constant() &&
                        graph.tensor(node.inputs[2]).is_constant() && graph.tensor(id).type == DataType::kFloat32;
  const bool alone = graph.ConsumersOf(id).size() == 1 && !graph.IsOutput(id);
  return constant && alone && node.StringOr("activation", "none") == "none" ? &node : nullptr;
}

/// Folds a multiplication or addition; its node then only renames the contraction's output, and is to be removed.
bool FoldNode(ir::Graph& graph, const Node& node) {
  const bool add = node.op == Op::kAdd;
  if (!add && node.op != Op::kMul) return false;
  const bool subtract = node.StringOr("function", "add") == "subtract";
  for (size_t i = 0; i < (subtract ? 1u : 2u); ++i) {
    Node* contraction = FoldableProducer(graph, node.inputs[i]);
    if (contraction == nullptr || graph.tensor(node.outputs[0]).dims != graph.tensor(node.inputs[i]).dims) continue;
    const int64_t channels = graph.tensor(contraction->inputs[2]).element_count();
    std::vector<float> values = PerChannel(graph.tensor(node.inputs[1 - i]), channels);
    if (values.empty()) continue;
    for (float& value : values) value = subtract ? -value : value;
    const std::vector<float> same(values.size(), add ? 1.0f : 0.0f);
    Fold(graph, *contraction, add ? same : values, add ? values : same);
    contraction->outputs = node.outputs;
    contraction->attributes["activation"] = node.StringOr("activation", "none");
    contraction->sources.insert(contraction->sources.end(), node.sources.begin(), node.sources.end());
    return true;
  }
  return false;
}

}  // namespace

void FoldAffine(ir::Graph& graph, PassContext&) {
  for (size_t i = 0; i < graph.nodes.size();) {
    if (FoldNode(graph, Node(graph.nodes[i]))) {
      graph.nodes.erase(graph.nodes.begin() + static_cast<int64_t>(i));
    } else {
      ++i;
    }
  }
}

}  // namespace takt::passes
