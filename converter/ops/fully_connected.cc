// fully_connected: activation. Over the last dimension of x; weights OI.
#include "converter/ir/op_def.h"
#include "converter/ops/contraction.h"
#include "converter/ops/quantized_params.h"
#include "converter/ops/window.h"

namespace takt::ir {
namespace {

std::string Infer(const Graph& graph, const Node& node, std::vector<TensorType>& outputs) {
  const Tensor& input = graph.tensor(node.inputs[0]);
  const Tensor& weights = graph.tensor(node.inputs[1]);
  if (weights.dims.size() != 2) return "weights " + DimsText(weights.dims) + " are not of rank 2 (OI)";
  if (input.dims.empty() || input.dims.back() != weights.dims[1]) {
    return "the last dimension of " + DimsText(input.dims) + " differs from that of the weights " + DimsText(weights.dims);
  }
  std::vector<int32_t> dims = input.dims;
  dims.back() = weights.dims[0];
  outputs = {{input.type, dims}};
  return CheckContraction(graph, node, weights.dims[0]);
}

void Lower(const Node&, backend::StepBuilder& step) {
  const Node node = step.node();
  const Tensor output = step.tensor(node.outputs[0]);
  const std::vector<TensorId> inputs = ContractionInputs(step, ScaleOf(output), true);
  if (inputs.empty()) return;
  const schema::FullyConnectedParams params(
      StoredClamp(node.StringOr("activation", "none"), output), static_cast<int16_t>(ZeroPointOf(step.tensor(inputs[0]))),
      static_cast<int16_t>(ZeroPointOf(step.tensor(inputs[1]))), static_cast<int16_t>(ZeroPointOf(output)), 0);
  step.Set(Op::kFullyConnected, StepNumerics(step, inputs[0]), params, inputs, node.outputs);
}

void Import(frontend::TfliteNode& node) {
  if (!node.CheckArity(2, 3, 1)) return;
  const auto* options = node.options<tflite::FullyConnectedOptions>();
  const Tensor weights = node.tensor(node.input(1));
  if (weights.dims.size() != 2 || weights.dims[1] < 1) return node.Error("weights must have rank 2 (OI)", node.input(1));
  const std::string activation = options ? node.Activation(options->fused_activation_function()) : "none";
  const TensorId bias = BiasOrZeros(node, 2, weights.dims[0]);
  TensorId x = node.input(0);
  Tensor shaped = node.tensor(x);
  const bool keeps = (options != nullptr && options->keep_num_dims()) || shaped.dims.size() == 2;
  if (!keeps || shaped.dims.empty() || shaped.dims.back() != weights.dims[1]) {
    shaped.dims = {static_cast<int32_t>(shaped.element_count() / weights.dims[1]), weights.dims[1]};
    const TensorId flat = node.NewTensor(shaped, "/flat");
    node.AddTo(Op::kReshape, {x}, {flat});
    x = flat;
  }
  std::vector<int32_t> dims = shaped.dims;
  dims.back() = weights.dims[0];
  const Tensor output = node.tensor(node.output(0));
  if (output.dims == dims) {
    node.Add(Op::kFullyConnected, {x, node.input(1), bias}, {{"activation", activation}});
    return;
  }
  Tensor result = output;
  result.dims = dims;
  const TensorId flat_output = node.NewTensor(result, "/rows");
  node.AddTo(Op::kFullyConnected, {x, node.input(1), bias}, {flat_output}, {{"activation", activation}});
  node.Add(Op::kReshape, {flat_output});
}

constexpr AttributeRule kAttributes[] = {{"activation", AttributeKind::kString, false}};
constexpr TfliteImport kTflite[] = {{9, "FULLY_CONNECTED", Import}};

}  // namespace

extern const OpDef kFullyConnectedDef;
const OpDef kFullyConnectedDef = {Op::kFullyConnected, kAttributes, Infer, Lower, kTflite, NpuClass::kContraction};

}  // namespace takt::ir
