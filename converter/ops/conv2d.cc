// conv2d: strides, dilations, pads, activation. conv2d_add: those, add_activation, and the quantization of the
// convolution's result (conv_scale, conv_zero_point) that the add reads.
#include "converter/ir/op_def.h"
#include "converter/ops/contraction.h"
#include "converter/ops/onnx_conv.h"
#include "converter/ops/onnx_signal.h"
#include "converter/ops/quantized_params.h"
#include "converter/ops/window.h"

namespace takt::ir {
namespace {

std::string InferConv2d(const Graph& graph, const Node& node, std::vector<TensorType>& outputs) {
  const Tensor& input = graph.tensor(node.inputs[0]);
  const Tensor& weights = graph.tensor(node.inputs[1]);
  if (weights.dims.size() != 4) return "weights " + DimsText(weights.dims) + " are not of rank 4 (OHWI)";
  int32_t height = 0;
  int32_t width = 0;
  std::string error = WindowOutput(input, node, {weights.dims[1], weights.dims[2]}, height, width);
  if (!error.empty()) return error;
  const int32_t channels = weights.dims[0];
  const int32_t depth = weights.dims[3];
  if (depth < 1 || input.dims[3] < 1 || input.dims[3] % depth != 0 || channels % (input.dims[3] / depth) != 0) {
    return "input " + DimsText(input.dims) + " and weights " + DimsText(weights.dims) + " do not form whole groups";
  }
  outputs = {{input.type, {input.dims[0], height, width, channels}}};
  return CheckContraction(graph, node, channels);
}

std::string InferConv2dAdd(const Graph& graph, const Node& node, std::vector<TensorType>& outputs) {
  if (node.inputs.size() != 4) return "has " + std::to_string(node.inputs.size()) + " inputs, not 4";
  std::string error = InferConv2d(graph, node, outputs);
  if (!error.empty()) return error;
  const Tensor& skip = graph.tensor(node.inputs[3]);
  if (skip.dims != outputs[0].dims || skip.type != outputs[0].type) return "the added tensor differs in shape or type";
  return "";
}

schema::Conv2dParams ConvParams(const backend::StepBuilder& step, schema::Clamp clamp, int32_t output_zero_point) {
  const Node& node = step.node();
  return {PlanWindow(node),
          clamp,
          static_cast<int16_t>(ZeroPointOf(step.tensor(node.inputs[0]))),
          static_cast<int16_t>(ZeroPointOf(step.tensor(node.inputs[1]))),
          static_cast<int16_t>(output_zero_point),
          0};
}

void LowerConv2d(const Node&, backend::StepBuilder& step) {
  const Node node = step.node();
  const Tensor output = step.tensor(node.outputs[0]);
  const std::vector<TensorId> inputs = ContractionInputs(step, ScaleOf(output), false);
  if (inputs.empty()) return;
  const schema::Clamp clamp = StoredClamp(node.StringOr("activation", "none"), output);
  step.Set(Op::kConv2d, StepNumerics(step, inputs[0]), ConvParams(step, clamp, ZeroPointOf(output)), inputs,
           node.outputs);
}

void LowerConv2dAdd(const Node&, backend::StepBuilder& step) {
  const Node node = step.node();
  const Tensor output = step.tensor(node.outputs[0]);
  const Tensor skip = step.tensor(node.inputs[3]);
  if (output.type != DataType::kInt8) {
    step.Error("a fused residual add needs int8 tensors", node.outputs[0]);
    return;
  }
  Tensor middle = output;
  const auto scale = static_cast<float>(node.FloatOr("conv_scale", 0));
  const auto zero_point = static_cast<int32_t>(node.IntOr("conv_zero_point", 0));
  middle.quantization = Quantization{{scale}, {zero_point}, 0};
  std::vector<TensorId> inputs = ContractionInputs(step, scale, false);
  if (inputs.empty()) return;
  inputs.push_back(node.inputs[3]);
  const schema::Clamp clamp = StoredClamp(node.StringOr("activation", "none"), middle);
  const schema::Conv2dAddParams params(ConvParams(step, clamp, zero_point),
                                       MakeAddParams(step, {ScaleOf(skip), ZeroPointOf(skip)}, {scale, zero_point},
                                                     output, node.StringOr("add_activation", "none"), false));
  step.Set(Op::kConv2dAdd, step.numerics(), params, inputs, node.outputs);
}

void ImportConv2d(frontend::TfliteNode& node) {
  if (!node.CheckArity(2, 3, 1)) return;
  const auto* options = node.options<tflite::Conv2DOptions>();
  if (options == nullptr) return node.Error("has no Conv2DOptions");
  const Tensor& weights = node.tensor(node.input(1));
  if (weights.dims.size() != 4) return node.Error("weights must have rank 4 (OHWI)", node.input(1));
  const std::vector<int64_t> strides = {options->stride_h(), options->stride_w()};
  const std::vector<int64_t> dilations = {options->dilation_h_factor(), options->dilation_w_factor()};
  const std::vector<int64_t> pads =
      ExplicitPads(node.tensor(node.input(0)), options->padding() == tflite::Padding::SAME,
                   {weights.dims[1], weights.dims[2]}, strides, dilations);
  const TensorId bias = BiasOrZeros(node, 2, weights.dims[0]);
  node.Add(Op::kConv2d, {node.input(0), node.input(1), bias},
           {{"strides", strides},
            {"dilations", dilations},
            {"pads", pads},
            {"activation", node.Activation(options->fused_activation_function())}});
}

void ImportOnnxConv(frontend::OnnxNode& node) {
  if (!node.CheckInputs(2, 3) || !node.CheckOutputs(1)) return;
  const int64_t group = node.Int("group", 1);
  const auto window = ReadOnnxConvWindow(node, node.input(1), group);
  if (!window) return;
  const size_t rank = node.dims(node.input(0)).size();
  const TensorId y = EmitOnnxConv(node, node.ToNhwc(node.input(0)), node.input(1), node.input(2), group, *window);
  node.SetOutput(0, node.FromNhwc(y, rank));
}

constexpr AttributeRule kConvAttributes[] = {{"strides", AttributeKind::kInts, true},
                                             {"dilations", AttributeKind::kInts, false},
                                             {"pads", AttributeKind::kInts, true},
                                             {"activation", AttributeKind::kString, false}};
constexpr AttributeRule kConvAddAttributes[] = {{"strides", AttributeKind::kInts, true},
                                                {"dilations", AttributeKind::kInts, false},
                                                {"pads", AttributeKind::kInts, true},
                                                {"activation", AttributeKind::kString, false},
                                                {"add_activation", AttributeKind::kString, false},
                                                {"conv_scale", AttributeKind::kFloat, true},
                                                {"conv_zero_point", AttributeKind::kInt, true}};
constexpr TfliteImport kConvTflite[] = {{3, "CONV_2D", ImportConv2d}};
constexpr OnnxImport kConvOnnx[] = {{"Conv", 1, ImportOnnxConv}, {"STFT", 17, ImportOnnxStft}};

}  // namespace

extern const OpDef kConv2dDef;
extern const OpDef kConv2dAddDef;
const OpDef kConv2dDef = {Op::kConv2d, kConvAttributes, InferConv2d,
                          LowerConv2d, kConvTflite,     NpuClass::kContraction,
                          kConvOnnx,   nullptr,         QuantRule::kContraction};
const OpDef kConv2dAddDef = {Op::kConv2dAdd,        kConvAddAttributes, InferConv2dAdd, LowerConv2dAdd, {},
                             NpuClass::kContraction};

}  // namespace takt::ir
