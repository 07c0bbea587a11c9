// fully_connected: activation. Over the last dimension of x; weights OI.
#include "converter/frontend/onnx_node.h"
#include "converter/frontend/tflite_node.h"
#include "converter/ir/constants.h"
#include "converter/ir/op_def.h"
#include "converter/ir/size_limits.h"
#include "converter/ops/contraction.h"
#include "converter/ops/onnx_matmul.h"
#include "converter/ops/onnx_signal.h"
#include "converter/ops/quantized_params.h"

namespace takt::ir {
namespace {

std::string Infer(const Graph& graph, const Node& node, std::vector<TensorType>& outputs) {
  const Tensor& input = graph.tensor(node.inputs[0]);
  const Tensor& weights = graph.tensor(node.inputs[1]);
  if (weights.dims.size() != 2) return "weights " + DimsText(weights.dims) + " are not of rank 2 (OI)";
  if (input.dims.empty() || input.dims.back() != weights.dims[1]) {
    return "the last dimension of " + DimsText(input.dims) + " differs from that of the weights " +
           DimsText(weights.dims);
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
  const schema::FullyConnectedParams params(StoredClamp(node.StringOr("activation", "none"), output),
                                            static_cast<int16_t>(ZeroPointOf(step.tensor(inputs[0]))),
                                            static_cast<int16_t>(ZeroPointOf(step.tensor(inputs[1]))),
                                            static_cast<int16_t>(ZeroPointOf(output)), 0);
  step.Set(Op::kFullyConnected, StepNumerics(step, inputs[0]), params, inputs, node.outputs);
}

void Import(frontend::TfliteNode& node) {
  if (!node.CheckArity(2, 3, 1)) return;
  const auto* options = node.options<tflite::FullyConnectedOptions>();
  const Tensor weights = node.tensor(node.input(1));
  if (weights.dims.size() != 2 || weights.dims[1] < 1)
    return node.Error("weights must have rank 2 (OI)", node.input(1));
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

TensorId Scaled(frontend::OnnxNode& node, TensorId id, double factor) {
  if (factor == 1.0) return id;
  if (!node.is_constant(id)) return node.Emit(Op::kMul, {id, node.FloatConstant({1}, {static_cast<float>(factor)})});
  std::vector<float> values = Elements<float>(node.tensor(id));
  for (float& value : values) value = static_cast<float>(static_cast<double>(value) * factor);
  return node.FloatConstant(node.dims(id), values);
}

TensorId Zeros(frontend::OnnxNode& node, int32_t count) {
  if (!MayMake(node, DataType::kFloat32, {count})) return kNoTensor;
  return node.FloatConstant({count}, std::vector<float>(static_cast<size_t>(count)));
}

/// alpha * A' * B' + beta * C, where C broadcasts to the result.
void ImportOnnxGemm(frontend::OnnxNode& node) {
  if (!node.CheckInputs(2, 3) || !node.CheckOutputs(1)) return;
  const TensorId c = node.input(2);
  if (node.dims(node.input(0)).size() != 2 || node.dims(node.input(1)).size() != 2)
    return node.Error("A and B must have rank 2");
  for (int i = 0; i < node.input_count(); ++i) {
    if (node.tensor(node.input(i)).type != DataType::kFloat32)
      return node.Error("operands must be float32", node.input(i));
  }
  const double alpha = node.Float("alpha", 1.0);
  const double beta = node.Float("beta", 1.0);
  const TensorId a = node.Int("transA", 0) ? node.Transpose(node.input(0), {1, 0}) : node.input(0);
  const TensorId b = node.Int("transB", 0) ? node.input(1) : node.Transpose(node.input(1), {1, 0});
  if (node.failed()) return;
  const int32_t channels = node.dims(b)[0];
  const bool is_bias = node.is_constant(c) && node.dims(c).size() <= 2 && node.tensor(c).element_count() == channels &&
                       (node.dims(c).empty() || node.dims(c).back() == channels);
  const TensorId bias = is_bias ? node.Reshape(Scaled(node, c, beta), {channels}) : Zeros(node, channels);
  // Only constant weights take alpha without a step.
  const bool fold = node.is_constant(b);
  TensorId y = node.Emit(Op::kFullyConnected, {a, fold ? Scaled(node, b, alpha) : b, bias});
  if (!fold) y = Scaled(node, y, alpha);
  node.SetOutput(0, c == kNoTensor || is_bias ? y : node.Emit(Op::kAdd, {y, Scaled(node, c, beta)}));
}

constexpr AttributeRule kAttributes[] = {{"activation", AttributeKind::kString, false}};
constexpr TfliteImport kTflite[] = {{9, "FULLY_CONNECTED", Import}};
constexpr OnnxImport kOnnx[] = {
    {"Gemm", 1, ImportOnnxGemm},
    {"MatMul", 1, ImportOnnxMatMul},
    {"Einsum", 12, ImportOnnxEinsum},
    {"DFT", 17, ImportOnnxDft},
    {"MelWeightMatrix", 17, ImportOnnxMelWeightMatrix},
};

}  // namespace

extern const OpDef kFullyConnectedDef;
const OpDef kFullyConnectedDef = {
    Op::kFullyConnected,    kAttributes, Infer, Lower, kTflite, NpuClass::kContraction, kOnnx, nullptr,
    QuantRule::kContraction};

}  // namespace takt::ir
