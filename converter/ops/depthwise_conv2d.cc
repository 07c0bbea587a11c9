// depthwise_conv2d: strides, dilations, pads, activation. Weights 1HWO; output channel o reads input channel o /
// multiplier.
#include "converter/ir/op_def.h"
#include "converter/ops/contraction.h"
#include "converter/ops/quantized_params.h"
#include "converter/ops/window.h"

namespace takt::ir {
namespace {

std::string Infer(const Graph& graph, const Node& node, std::vector<TensorType>& outputs) {
  const Tensor& input = graph.tensor(node.inputs[0]);
  const Tensor& weights = graph.tensor(node.inputs[1]);
  if (weights.dims.size() != 4 || weights.dims[0] != 1) return "weights " + DimsText(weights.dims) + " are not 1HWO";
  int32_t height = 0;
  int32_t width = 0;
  std::string error = WindowOutput(input, node, {weights.dims[1], weights.dims[2]}, height, width);
  if (!error.empty()) return error;
  const int32_t channels = weights.dims[3];
  if (input.dims[3] < 1 || channels % input.dims[3] != 0) {
    return std::to_string(channels) + " output channels are no multiple of " + std::to_string(input.dims[3]) +
           " inputs";
  }
  outputs = {{input.type, {input.dims[0], height, width, channels}}};
  return CheckContraction(graph, node, channels);
}

void Lower(const Node&, backend::StepBuilder& step) {
  const Node node = step.node();
  const Tensor output = step.tensor(node.outputs[0]);
  const std::vector<TensorId> inputs = ContractionInputs(step, ScaleOf(output), false);
  if (inputs.empty()) return;
  const schema::DepthwiseConv2dParams params(PlanWindow(node), StoredClamp(node.StringOr("activation", "none"), output),
                                             static_cast<int16_t>(ZeroPointOf(step.tensor(inputs[0]))),
                                             static_cast<int16_t>(ZeroPointOf(step.tensor(inputs[1]))),
                                             static_cast<int16_t>(ZeroPointOf(output)), 0);
  step.Set(Op::kDepthwiseConv2d, StepNumerics(step, inputs[0]), params, inputs, node.outputs);
}

void Import(frontend::TfliteNode& node) {
  if (!node.CheckArity(2, 3, 1)) return;
  const auto* options = node.options<tflite::DepthwiseConv2DOptions>();
  if (options == nullptr) return node.Error("has no DepthwiseConv2DOptions");
  const Tensor& weights = node.tensor(node.input(1));
  if (weights.dims.size() != 4) return node.Error("weights must have rank 4 (1HWO)", node.input(1));
  const std::vector<int64_t> strides = {options->stride_h(), options->stride_w()};
  const std::vector<int64_t> dilations = {options->dilation_h_factor(), options->dilation_w_factor()};
  const std::vector<int64_t> pads =
      ExplicitPads(node.tensor(node.input(0)), options->padding() == tflite::Padding::SAME,
                   {weights.dims[1], weights.dims[2]}, strides, dilations);
  const TensorId bias = BiasOrZeros(node, 2, weights.dims[3]);
  node.Add(Op::kDepthwiseConv2d, {node.input(0), node.input(1), bias},
           {{"strides", strides},
            {"dilations", dilations},
            {"pads", pads},
            {"activation", node.Activation(options->fused_activation_function())}});
}

constexpr AttributeRule kAttributes[] = {{"strides", AttributeKind::kInts, true},
                                         {"dilations", AttributeKind::kInts, false},
                                         {"pads", AttributeKind::kInts, true},
                                         {"activation", AttributeKind::kString, false}};
constexpr TfliteImport kTflite[] = {{4, "DEPTHWISE_CONV_2D", Import}};

}  // namespace

extern const OpDef kDepthwiseConv2dDef;
const OpDef kDepthwiseConv2dDef = {
    Op::kDepthwiseConv2d,   kAttributes, Infer, Lower, kTflite, NpuClass::kContraction, {}, nullptr,
    QuantRule::kContraction};

}  // namespace takt::ir
