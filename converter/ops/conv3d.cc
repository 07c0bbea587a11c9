// conv3d: strides, dilations (depth, height, width), pads (three before, three after), activation. Weights ODHWI.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "converter/ir/constants.h"
#include "converter/ir/op_def.h"
#include "converter/ir/size_limits.h"
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
  if (depth < 1 || input.dims[4] < 1 || input.dims[4] % depth != 0 || weights.dims[0] % (input.dims[4] / depth) != 0) {
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

using Ints = std::vector<int64_t>;

/// x [N, D, H, W, C] with zeros between the cells of each spatial dimension, and as many behind the last.
TensorId Spread(frontend::TfliteNode& node, TensorId x, const Ints& strides) {
  const auto reshaped = [&node](TensorId id, std::vector<int32_t> dims) {
    Tensor shaped = node.tensor(id);
    shaped.dims = std::move(dims);
    const TensorId made = node.NewTensor(shaped, "/spread" + std::to_string(node.graph().tensors.size()));
    node.AddTo(Op::kReshape, {id}, {made});
    return made;
  };
  for (size_t i = 0; i < 3; ++i) {
    if (strides[i] == 1) continue;
    std::vector<int32_t> dims = node.tensor(x).dims;
    int32_t rows = 1, row = 1;
    for (size_t d = 0; d < dims.size(); ++d) (d < i + 2 ? rows : row) *= dims[d];
    const TensorId apart = node.Emit(Op::kPad, {reshaped(x, {rows, 1, row})},
                                     {{"before", Ints(3, 0)}, {"after", Ints{0, strides[i] - 1, 0}}});
    dims[i + 1] = Dim(dims[i + 1] * strides[i]);
    x = reshaped(apart, dims);
  }
  return x;
}

/// TFLite's weights DHWOI as those ODHWI of the convolution over the spread input: mirrored.
TensorId Mirrored(frontend::TfliteNode& node, const Tensor& source) {
  const std::vector<float> from = Elements<float>(source);
  const std::vector<int32_t>& w = source.dims;
  const size_t outputs = static_cast<size_t>(w[3]), inputs = static_cast<size_t>(w[4]);
  const size_t cells = from.size() / (outputs * inputs);
  std::vector<float> to(from.size());
  for (size_t k = 0; k < cells; ++k)
    for (size_t o = 0; o < outputs; ++o)
      for (size_t i = 0; i < inputs; ++i)
        to[(o * cells + cells - 1 - k) * inputs + i] = from[(k * outputs + o) * inputs + i];
  return node.graph().AddConstant(source.name + "/mirrored", source.type, {w[3], w[0], w[1], w[2], w[4]}, ToBytes(to));
}

/// One spatial dimension of a transposed convolution: pads of the convolution over the spread input, whose result is
/// cropped to `size` where it is longer.
struct Reach {
  int64_t before, after;
};
Reach ReachOf(int64_t in, int64_t size, int64_t kernel, int64_t stride, int64_t dilation, bool same) {
  const int64_t reach = (kernel - 1) * dilation, steps = (size + stride - 1) / stride;
  const int64_t total = same ? std::max<int64_t>(0, (steps - 1) * stride + reach + 1 - size) : 0;
  const int64_t before = reach - total / 2;
  return {before, size + reach - before - in * stride};
}

/// The size of the output is an operand: a convolution over the input with zeros between its cells.
void ImportTranspose(frontend::TfliteNode& node) {
  if (!node.CheckArity(3, 4, 1)) return;
  const auto* options = node.options<tflite::Conv3DOptions>();
  if (options == nullptr) return node.Error("has no Conv3DOptions");
  const auto size = node.ConstantInts(0);
  if (!size) return;
  const Tensor weights = node.tensor(node.input(1)), x = node.tensor(node.input(2));
  if (!weights.is_constant() || weights.type != DataType::kFloat32 || x.type != DataType::kFloat32)
    return node.Error("takes float32, and weights that are constant", node.input(1));
  const std::vector<int32_t>& w = weights.dims;
  if (weights.element_count() == 0 || w.size() != 5 || x.dims.size() != 5 || size->size() != 5 || w[4] != x.dims[4] ||
      (*size)[4] != w[3] || (*size)[0] != x.dims[0])
    return node.Error("input " + DimsText(x.dims) + ", weights " + DimsText(w) + " and the output's shape do not fit");
  const Ints strides = {options->stride_d(), options->stride_h(), options->stride_w()};
  const Ints dilations = {options->dilation_d_factor(), options->dilation_h_factor(), options->dilation_w_factor()};
  Ints pads(6, 0), crop(5, 0);
  for (size_t i = 0; i < 3; ++i) {
    if (strides[i] < 1 || strides[i] > 65535 || dilations[i] < 1 || dilations[i] > 65535 || (*size)[i + 1] < 1 ||
        x.dims[i + 1] * strides[i] > 1 << 24)
      return node.Error("strides, dilations and sizes must be positive, and reach at most 2^24 cells");
    const Reach reach = ReachOf(x.dims[i + 1], (*size)[i + 1], w[i], strides[i], dilations[i],
                                options->padding() == tflite::Padding::SAME);
    pads[i] = reach.before;
    pads[i + 3] = std::max<int64_t>(0, reach.after);
    crop[i + 1] = std::max<int64_t>(0, -reach.after);
  }
  const std::string activation = node.Activation(options->fused_activation_function());
  std::vector<int32_t> dims;
  for (const int64_t d : *size) dims.push_back(static_cast<int32_t>(d));
  if (!node.SetDims(0, dims)) return;
  node.Note("becomes a convolution over its input with zeros between the cells");
  const std::vector<TensorId> inputs = {Spread(node, node.input(2), strides), Mirrored(node, weights),
                                        BiasOrZeros(node, 3, w[3])};
  const std::map<std::string, Attribute> attributes = {
      {"strides", Ints(3, 1)}, {"dilations", dilations}, {"pads", pads}, {"activation", activation}};
  if (crop == Ints(5, 0)) return void(node.Add(Op::kConv3d, inputs, attributes));
  node.Add(Op::kSlice, {node.Emit(Op::kConv3d, inputs, attributes)}, {{"begin", Ints(5, 0)}, {"strides", Ints(5, 1)}});
}

constexpr AttributeRule kAttributes[] = {{"strides", AttributeKind::kInts, true},
                                         {"dilations", AttributeKind::kInts, true},
                                         {"pads", AttributeKind::kInts, true},
                                         {"activation", AttributeKind::kString, false}};
constexpr TfliteImport kTflite[] = {{132, "CONV_3D", Import}, {141, "CONV_3D_TRANSPOSE", ImportTranspose}};

}  // namespace

extern const OpDef kConv3dDef;
const OpDef kConv3dDef = {Op::kConv3d, kAttributes, Infer, Lower, kTflite, NpuClass::kNone};

}  // namespace takt::ir
