#include "converter/ops/contraction.h"

#include "converter/ops/quantized_params.h"
#include "converter/ops/window.h"

namespace takt::ir {

TensorId BiasOrZeros(frontend::TfliteNode& node, int index, int32_t channels) {
  if (node.has_input(index)) return node.input(index);
  const bool integer = IsInteger(node.tensor(node.input(0)).type);
  const std::string name = node.tensor(node.output(0)).name + "/bias";
  return node.graph().AddConstant(name, integer ? DataType::kInt32 : DataType::kFloat32, {channels},
                                  Bytes(static_cast<size_t>(channels) * 4));
}

std::string CheckContraction(const Graph& graph, const Node& node, int32_t channels) {
  const Tensor& input = graph.tensor(node.inputs[0]);
  const Tensor& weights = graph.tensor(node.inputs[1]);
  const Tensor& bias = graph.tensor(node.inputs[2]);
  const bool integer = input.type == DataType::kInt8;
  if (!integer && input.type != DataType::kFloat32) return "input must be int8 or float32";
  if (weights.type != input.type) return "weights must have the input's type (hybrid models are not supported)";
  if (bias.type != (integer ? DataType::kInt32 : DataType::kFloat32))
    return "bias must be int32 for int8, float32 for float32";
  if (bias.element_count() != channels) {
    return "bias has " + std::to_string(bias.element_count()) + " values for " + std::to_string(channels) + " channels";
  }
  return "";
}

std::vector<TensorId> ContractionInputs(backend::StepBuilder& step, float output_scale, bool float_product) {
  const Node node = step.node();
  std::vector<TensorId> inputs = {node.inputs[0], node.inputs[1], node.inputs[2]};
  if (!IsInteger(step.tensor(inputs[0]).type)) return inputs;
  if (!CheckQuantized(step)) return {};
  const TensorId requantization = ContractionRequantization(step, output_scale, float_product);
  if (requantization == kNoTensor) return {};
  inputs.push_back(requantization);
  return inputs;
}

}  // namespace takt::ir
