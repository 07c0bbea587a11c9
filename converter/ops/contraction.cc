#include "converter/ops/contraction.h"

#include "converter/ir/constants.h"
#include "converter/ir/size_limits.h"
#include "converter/ops/quantized_params.h"

namespace takt::ir {

namespace {

/// Of TFLite's biases: int32 beside int8 activations, int64 beside int16 ones.
DataType BiasType(DataType activations) {
  if (activations == DataType::kInt16) return DataType::kInt64;
  return IsInteger(activations) ? DataType::kInt32 : DataType::kFloat32;
}

}  // namespace

TensorId BiasOrZeros(frontend::TfliteNode& node, int index, int32_t channels) {
  if (node.has_input(index)) return node.input(index);
  const DataType type = BiasType(node.tensor(node.output(0)).type);
  if (!MayMake(node, type, {channels}, node.output(0))) return kNoTensor;
  const std::string name = node.tensor(node.output(0)).name + "/bias";
  return node.graph().AddConstant(name, type, {channels}, Bytes(static_cast<size_t>(channels) * BitWidth(type) / 8));
}

std::string CheckContraction(const Graph& graph, const Node& node, int32_t channels) {
  const DataType input = graph.tensor(node.inputs[0]).type;
  const DataType weights = graph.tensor(node.inputs[1]).type;
  const Tensor& bias = graph.tensor(node.inputs[2]);
  if (input == DataType::kFloat32) {
    if (weights != DataType::kFloat32) return "weights must be float32 beside a float32 input";
    if (bias.type != DataType::kFloat32) return "bias must be float32 beside a float32 input";
  } else if (input == DataType::kInt8 || input == DataType::kInt16) {
    if (weights != DataType::kInt8) return "weights must be int8 beside an int8 or int16 input";
    const bool narrow = input == DataType::kInt16 && (bias.type == DataType::kInt32 || bias.type == DataType::kInt16);
    if (bias.type != BiasType(input) && !narrow) return "bias must be int32 beside an int8 input, int64 beside int16";
  } else {
    return "input must be int8, int16 or float32";
  }
  if (bias.element_count() != channels) {
    return "bias has " + std::to_string(bias.element_count()) + " values for " + std::to_string(channels) + " channels";
  }
  return "";
}

TensorId WideBias(backend::StepBuilder& step, TensorId id) {
  const Tensor& bias = step.tensor(id);
  const bool narrow = step.numerics() == Numerics::kTflite && bias.type == DataType::kInt32;
  if (bias.type == DataType::kInt64 || narrow) return id;
  if (!bias.is_constant()) {
    step.Error("its bias is not a constant; int16 activations take an int64 bias or a constant one", id);
    return kNoTensor;
  }
  std::vector<int64_t> values;
  if (bias.type == DataType::kInt16) {
    for (int16_t v : Elements<int16_t>(bias)) values.push_back(v);
  } else {
    for (int32_t v : Elements<int32_t>(bias)) values.push_back(v);
  }
  return step.Constant("bias", DataType::kInt64, {static_cast<int32_t>(values.size())}, values);
}

std::vector<TensorId> ContractionInputs(backend::StepBuilder& step, float output_scale, bool float_product) {
  const Node node = step.node();
  std::vector<TensorId> inputs = {node.inputs[0], node.inputs[1], node.inputs[2]};
  if (!IsInteger(step.tensor(inputs[0]).type)) return inputs;
  if (!CheckQuantized(step)) return {};
  if (step.tensor(inputs[0]).type == DataType::kInt16) inputs[2] = WideBias(step, inputs[2]);
  if (inputs[2] == kNoTensor) return {};
  const TensorId requantization = ContractionRequantization(step, output_scale, float_product);
  if (requantization == kNoTensor) return {};
  inputs.push_back(requantization);
  return inputs;
}

}  // namespace takt::ir
