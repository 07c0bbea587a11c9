#include <algorithm>
#include <optional>

#include "converter/ir/op_def.h"
#include "converter/ops/quantized_params.h"
#include "converter/passes/passes.h"

namespace takt::passes {
namespace {

constexpr const char* kActivations[] = {"none", "relu", "relu6", "relu_n1_to_1"};

bool TakesActivation(const ir::Node& node) {
  if (node.op == Op::kConv2dAdd) return false;  // Its activation comes before the add.
  const auto attributes = ir::FindOpDef(node.op).attributes;
  return std::any_of(attributes.begin(), attributes.end(),
                     [](const ir::AttributeRule& rule) { return std::string("activation") == rule.name; });
}

/// The activation that equals `first` followed by a clamp to [min, max].
std::optional<std::string> Joined(const std::string& first, double min, double max) {
  double low = 0;
  double high = 0;
  ir::ActivationRange(first, low, high);
  low = std::max(low, min);
  high = std::min(high, max);
  for (const char* name : kActivations) {
    double name_low = 0;
    double name_high = 0;
    ir::ActivationRange(name, name_low, name_high);
    if (name_low == low && name_high == high) return name;
  }
  return std::nullopt;
}

}  // namespace

void FuseActivations(ir::Graph& graph, PassContext&) {
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const ir::Node clamp = graph.nodes[i];
    if (clamp.op != Op::kClamp) continue;
    const ir::TensorId middle = clamp.inputs[0];
    const int producer = graph.ProducerOf(middle);
    if (producer < 0 || graph.IsOutput(middle) || graph.ConsumersOf(middle).size() != 1) continue;
    ir::Node& node = graph.nodes[static_cast<size_t>(producer)];
    // Both clamp stored values; they join only where these mean the same.
    if (!TakesActivation(node) || !ir::SameQuantization(graph.tensor(middle), graph.tensor(clamp.outputs[0]))) continue;
    const auto joined = Joined(node.StringOr("activation", "none"), clamp.FloatOr("min", 0), clamp.FloatOr("max", 0));
    if (!joined) continue;
    node.attributes["activation"] = *joined;
    node.outputs = clamp.outputs;
    node.sources.insert(node.sources.end(), clamp.sources.begin(), clamp.sources.end());
    graph.nodes.erase(graph.nodes.begin() + static_cast<int64_t>(i));
    --i;
  }
}

}  // namespace takt::passes
