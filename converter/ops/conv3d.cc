// conv3d: strides, dilations (depth, height, width), pads (three before, three after), activation. Weights ODHWI.
#include <algorithm>

#include "converter/ir/op_def.h"
#include "converter/ops/contraction.h"
#include "converter/ops/quantized_params.h"

namespace takt::ir {
namespace {

std::string Infer(const Graph& graph, const Node& node, std::vector<TensorType>& outputs) {
  const Tensor& input = graph.tensor(node.inputs[0]);
  const Tensor& weights = graph.tensor(node.inputs[1]);
  if (input.dims.size() != 5) return "input " + DimsText(input.dims) + " is not of rank 5 (NDHWC)";
  if (weights.dims.size() != 5) return "weights " + DimsText(weights.dims) + " are not of rank 5 (ODHWI)";
  const auto &strides = node.Ints("strides"), &dilations = node.Ints("dilations"), &pads = node.Ints("pads");
  if (strides.size() != 3 || dilations.size() != 3 || pads.size() != 6)
    return "strides and dilations have 3 values, pads 6";
  const auto fits = [](int64_t v, int64_t least) { return v >= least && v <= 65535; };
  std::vector<int32_t> dims = {input.dims[0]};
  for (size_t i = 0; i < 3; ++i) {
    if (!fits(strides[i], 1) || !fits(dilations[i], 1)) return "strides and dilations must be within 1 and 65535";
    if (!fits(pads[i], 0) || !fits(pads[i + 3], 0)) return "pads must be within 0 and 65535";
    const int64_t room = input.dims[i + 1] + pads[i] + pads[i + 3] - ((weights.dims[i + 1] - 1) * dilations[i] + 1);
    if (room < 0) return "the window is larger than the padded input " + DimsText(input.dims);
    dims.push_back(static_cast<int32_t>(room / strides[i] + 1));
  }
  const int32_t depth = weights.dims[4];
  if (depth < 1 || input.dims[4] % depth != 0 || weights.dims[0] % (input.dims[4] / depth) != 0) {
    return "input " + DimsText(input.dims) + " and weights " + DimsText(weights.dims) + " do not form whole groups";
  }
  dims.push_back(weights.dims[0]);
  outputs = {{input.type, dims}};
  return CheckContraction(graph, node, weights.dims[0]);
}

schema::Window3d WindowOf(const Node& node) {
  uint16_t values[4][3];
  for (size_t i = 0; i < 3; ++i) {
    values[0][i] = static_cast<uint16_t>(node.Ints("strides")[i]);
    values[1][i] = static_cast<uint16_t>(node.Ints("dilations")[i]);
    values[2][i] = static_cast<uint16_t>(node.Ints("pads")[i]);
    values[3][i] = static_cast<uint16_t>(node.Ints("pads")[i + 3]);
  }
  using Span = flatbuffers::span<const uint16_t, 3>;
  return {Span(values[0]), Span(values[1]), Span(values[2]), Span(values[3])};
}

void Lower(const Node&, backend::StepBuilder& step) {
  const Node node = step.node();
  const Tensor output = step.tensor(node.outputs[0]);
  const std::vector<TensorId> inputs = ContractionInputs(step, ScaleOf(output), false);
  if (inputs.empty()) return;
  const schema::Conv3dParams params(WindowOf(node), StoredClamp(node.StringOr("activation", "none"), output),
                                    static_cast<int16_t>(ZeroPointOf(step.tensor(inputs[0]))),
                                    static_cast<int16_t>(ZeroPointOf(step.tensor(inputs[1]))),
                                    static_cast<int16_t>(ZeroPointOf(output)), 0);
  step.Set(Op::kConv3d, StepNumerics(step, inputs[0]), params, inputs, node.outputs);
}

/// TFLite's weights are DHWIO; a transpose, folded where they are constant, makes them ODHWI.
void Import(frontend::TfliteNode& node) {
  if (!node.CheckArity(2, 3, 1)) return;
  const auto* options = node.options<tflite::Conv3DOptions>();
  if (options == nullptr) return node.Error("has no Conv3DOptions");
  Tensor weights = node.tensor(node.input(1));
  const std::vector<int32_t> x = node.tensor(node.input(0)).dims;
  if (weights.dims.size() != 5 || x.size() != 5) return node.Error("input and weights must have rank 5 (NDHWC, DHWIO)");
  const std::vector<int32_t> w = weights.dims;
  const std::vector<int64_t> strides = {options->stride_d(), options->stride_h(), options->stride_w()};
  const std::vector<int64_t> dilations = {options->dilation_d_factor(), options->dilation_h_factor(),
                                          options->dilation_w_factor()};
  std::vector<int64_t> pads(6, 0);
  for (size_t i = 0; options->padding() == tflite::Padding::SAME && i < 3; ++i) {
    if (strides[i] < 1) continue;
    const int64_t out = (x[i + 1] + strides[i] - 1) / strides[i];
    const int64_t total = std::max<int64_t>(0, (out - 1) * strides[i] + (w[i] - 1) * dilations[i] + 1 - x[i + 1]);
    pads[i] = total / 2;
    pads[i + 3] = total - total / 2;
  }
  weights.dims = {w[4], w[0], w[1], w[2], w[3]};
  if (weights.quantization) weights.quantization->axis = 0;
  const TensorId turned = node.NewTensor(weights, "/weights");
  node.AddTo(Op::kTranspose, {node.input(1)}, {turned}, {{"permutation", std::vector<int64_t>{4, 0, 1, 2, 3}}});
  const TensorId bias = BiasOrZeros(node, 2, w[4]);
  node.Add(Op::kConv3d, {node.input(0), turned, bias},
           {{"strides", strides},
            {"dilations", dilations},
            {"pads", pads},
            {"activation", node.Activation(options->fused_activation_function())}});
}

constexpr AttributeRule kAttributes[] = {{"strides", AttributeKind::kInts, true},
                                         {"dilations", AttributeKind::kInts, true},
                                         {"pads", AttributeKind::kInts, true},
                                         {"activation", AttributeKind::kString, false}};
constexpr TfliteImport kTflite[] = {{132, "CONV_3D", Import}};

}  // namespace

extern const OpDef kConv3dDef;
const OpDef kConv3dDef = {Op::kConv3d, kAttributes, Infer, Lower, kTflite, NpuClass::kNone};

}  // namespace takt::ir
