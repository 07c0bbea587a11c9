// Chains of quantize, requantize and dequantize. A pair on an 8-bit value is a function of 256 values: it becomes one
// step exactly where both give the same bytes for all of them, in the numerics of the conversion.
#include <algorithm>
#include <numeric>
#include <utility>

#include "converter/ops/quantized_params.h"
#include "converter/passes/evaluate.h"
#include "converter/passes/passes.h"

namespace takt::passes {
namespace {

constexpr int32_t kValues = 256;

bool IsIdentity(const ir::Graph& graph, const ir::Node& node) {
  return node.op == Op::kRequantize && node.StringOr("activation", "none") == "none" &&
         ir::SameQuantization(graph.tensor(node.inputs[0]), graph.tensor(node.outputs[0]));
}

/// `nodes`, one after another, on each value of an 8-bit tensor like `input`.
std::optional<ir::Bytes> Table(const ir::Graph& graph, const ir::Tensor& input, const std::vector<ir::Node>& nodes,
                               Numerics numerics) {
  ir::Graph chain;
  ir::Tensor all = input;
  ir::Bytes values(kValues);
  std::iota(values.begin(), values.end(), uint8_t{0});
  all.dims = {kValues};
  all.view.reset();
  all.data = std::make_shared<const ir::Bytes>(std::move(values));
  ir::TensorId last = chain.AddTensor(std::move(all));
  for (ir::Node node : nodes) {
    ir::Tensor output = graph.tensor(node.outputs[0]);
    output.dims = {kValues};
    node.inputs = {last};
    last = chain.AddTensor(std::move(output));
    node.outputs = {last};
    chain.nodes.push_back(std::move(node));
  }
  chain.outputs = {last};
  const auto outputs = Evaluate(std::move(chain), numerics);
  return outputs ? std::optional(outputs->front()) : std::nullopt;
}

/// One step in place of `first` and `second`, if its bytes are the same.
std::optional<ir::Node> Merge(const ir::Graph& graph, const ir::Node& first, const ir::Node& second,
                              Numerics numerics) {
  const ir::Tensor& input = graph.tensor(first.inputs[0]);
  if (BitWidth(input.type) != 8) return std::nullopt;
  ir::Node merged = first;
  merged.op = graph.tensor(second.outputs[0]).type == DataType::kFloat32 ? Op::kDequantize : Op::kRequantize;
  merged.attributes.clear();
  merged.outputs = second.outputs;
  merged.sources.insert(merged.sources.end(), second.sources.begin(), second.sources.end());
  const auto before = Table(graph, input, {first, second}, numerics);
  const auto after = Table(graph, input, {merged}, numerics);
  return before && before == after ? std::optional(merged) : std::nullopt;
}

bool MergeOnePair(ir::Graph& graph, PassContext& context) {
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const ir::Node& second = graph.nodes[i];
    if (second.op != Op::kRequantize && second.op != Op::kQuantize && second.op != Op::kDequantize) continue;
    const ir::TensorId middle = second.inputs[0];
    const int producer = graph.ProducerOf(middle);
    if (producer < 0 || graph.IsOutput(middle) || graph.ConsumersOf(middle).size() != 1) continue;
    const ir::Node& first = graph.nodes[static_cast<size_t>(producer)];
    if (first.op != Op::kRequantize && first.op != Op::kDequantize) continue;
    auto merged = Merge(graph, first, second, context.numerics);
    if (!merged) continue;
    graph.nodes[i] = std::move(*merged);
    graph.nodes.erase(graph.nodes.begin() + producer);
    return true;
  }
  return false;
}

/// A requantize to the same quantization: its readers read its input, or what writes its input writes its output.
bool RemoveOneIdentity(ir::Graph& graph) {
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (!IsIdentity(graph, graph.nodes[i])) continue;
    const ir::TensorId in = graph.nodes[i].inputs[0];
    const ir::TensorId out = graph.nodes[i].outputs[0];
    if (!graph.IsOutput(out)) {
      graph.ReplaceUses(out, in);
    } else {
      const int producer = graph.ProducerOf(in);
      if (producer < 0 || graph.IsOutput(in) || graph.ConsumersOf(in).size() != 1) continue;
      auto& outputs = graph.nodes[static_cast<size_t>(producer)].outputs;
      std::replace(outputs.begin(), outputs.end(), in, out);
    }
    graph.nodes.erase(graph.nodes.begin() + static_cast<int64_t>(i));
    return true;
  }
  return false;
}

}  // namespace

void MergeRequantizes(ir::Graph& graph, PassContext& context) {
  while (MergeOnePair(graph, context) || RemoveOneIdentity(graph)) {
  }
}

}  // namespace takt::passes
