// transpose_conv2d: strides, dilations, pads (cropped from the output), size (of the output: height, width),
// activation.
#include <algorithm>
#include <cstring>

#include "converter/ir/op_def.h"
#include "converter/ops/contraction.h"
#include "converter/ops/onnx_conv.h"
#include "converter/ops/quantized_params.h"
#include "converter/ops/window.h"

namespace takt::ir {
namespace {

std::string Infer(const Graph& graph, const Node& node, std::vector<TensorType>& outputs) {
  const Tensor& input = graph.tensor(node.inputs[0]);
  const Tensor& weights = graph.tensor(node.inputs[1]);
  if (input.dims.size() != 4) return "input " + DimsText(input.dims) + " is not of rank 4 (NHWC)";
  if (weights.dims.size() != 4) return "weights " + DimsText(weights.dims) + " are not of rank 4 (OHWI)";
  const auto& size = node.Ints("size");
  if (size.size() != 2 || size[0] < 1 || size[1] < 1) return "size must be two positive values";
  Tensor output = input;
  output.dims = {input.dims[0], static_cast<int32_t>(size[0]), static_cast<int32_t>(size[1]), weights.dims[0]};
  // The convolution that takes the output to the input.
  int32_t height = 0;
  int32_t width = 0;
  std::string error = WindowOutput(output, node, {weights.dims[1], weights.dims[2]}, height, width);
  if (!error.empty()) return error;
  if (height < input.dims[1] || width < input.dims[2]) {
    return "input " + DimsText(input.dims) + " reaches outside of the output " + DimsText(output.dims) +
           " and its pads";
  }
  const int32_t depth = weights.dims[3];
  if (depth < 1 || input.dims[3] < 1 || input.dims[3] % depth != 0 || weights.dims[0] % (input.dims[3] / depth) != 0) {
    return "input " + DimsText(input.dims) + " and weights " + DimsText(weights.dims) + " do not form whole groups";
  }
  outputs = {{input.type, output.dims}};
  return CheckContraction(graph, node, weights.dims[0]);
}

void Lower(const Node&, backend::StepBuilder& step) {
  const Node node = step.node();
  const Tensor output = step.tensor(node.outputs[0]);
  const std::vector<TensorId> inputs = ContractionInputs(step, ScaleOf(output), false);
  if (inputs.empty()) return;
  const schema::TransposeConv2dParams params(PlanWindow(node), StoredClamp(node.StringOr("activation", "none"), output),
                                             static_cast<int16_t>(ZeroPointOf(step.tensor(inputs[0]))),
                                             static_cast<int16_t>(ZeroPointOf(step.tensor(inputs[1]))),
                                             static_cast<int16_t>(ZeroPointOf(output)), 0);
  step.Set(Op::kTransposeConv2d, StepNumerics(step, inputs[0]), params, inputs, node.outputs);
}

struct Window {
  bool same;
  std::vector<int64_t> strides;
};

/// The output's recorded shape counts. What the cells at the end add behind it is cropped.
void Emit(frontend::TfliteNode& node, TensorId x, TensorId weights, int bias, const Window& window,
          const std::string& activation) {
  const Tensor output = node.tensor(node.output(0));
  const std::vector<int32_t> in = node.tensor(x).dims;
  const std::vector<int32_t> w = node.tensor(weights).dims;
  if (in.size() != 4 || w.size() != 4 || output.dims.size() != 4)
    return node.Error("input, weights and output must have rank 4 (NHWC, OHWI, NHWC)");
  if (window.strides[0] < 1 || window.strides[1] < 1) return node.Error("strides must be positive");
  std::vector<int64_t> pads = ExplicitPads(output, window.same, {w[1], w[2]}, window.strides, {1, 1});
  for (size_t i = 0; i < 2; ++i) {
    const int64_t reach = (in[i + 1] - 1) * window.strides[i] + w[i + 1] - pads[i];
    pads[i + 2] = std::max<int64_t>(0, reach - output.dims[i + 1]);
  }
  const TensorId zeros_or_bias = BiasOrZeros(node, bias, w[0]);
  node.Add(Op::kTransposeConv2d, {x, weights, zeros_or_bias},
           {{"strides", window.strides},
            {"pads", pads},
            {"size", std::vector<int64_t>{output.dims[1], output.dims[2]}},
            {"activation", activation}});
}

/// Inputs: the output's shape, weights, x, [bias].
void Import(frontend::TfliteNode& node) {
  if (!node.CheckArity(3, 4, 1)) return;
  const auto* options = node.options<tflite::TransposeConvOptions>();
  if (options == nullptr) return node.Error("has no TransposeConvOptions");
  Emit(node, node.input(2), node.input(1), 3,
       {options->padding() == tflite::Padding::SAME, {options->stride_h(), options->stride_w()}},
       node.Activation(options->fused_activation_function()));
}

/// MediaPipe's operator. Inputs: x, weights, [bias]; options: three int32, padding (1: same, 2: valid), width and
/// height of the stride.
void ImportCustom(frontend::TfliteNode& node) {
  if (!node.CheckArity(2, 3, 1)) return;
  int32_t options[3] = {};
  if (node.custom_options().size() < sizeof(options)) return node.Error("has options of fewer than 12 bytes");
  std::memcpy(options, node.custom_options().data(), sizeof(options));
  if (options[0] != 1 && options[0] != 2)
    return node.Error("has padding " + std::to_string(options[0]) + ", not 1 or 2");
  Emit(node, node.input(0), node.input(1), 2, {options[0] == 1, {options[2], options[1]}}, "none");
}

constexpr AttributeRule kAttributes[] = {{"strides", AttributeKind::kInts, true},
                                         {"dilations", AttributeKind::kInts, false},
                                         {"pads", AttributeKind::kInts, true},
                                         {"size", AttributeKind::kInts, true},
                                         {"activation", AttributeKind::kString, false}};
constexpr TfliteImport kTflite[] = {{67, "TRANSPOSE_CONV", Import}, {32, "Convolution2DTransposeBias", ImportCustom}};
constexpr OnnxImport kOnnx[] = {{"ConvTranspose", 1, ImportOnnxConvTranspose}};

}  // namespace

extern const OpDef kTransposeConv2dDef;
const OpDef kTransposeConv2dDef = {Op::kTransposeConv2d, kAttributes, Infer, Lower, kTflite, NpuClass::kNone, kOnnx};

}  // namespace takt::ir
