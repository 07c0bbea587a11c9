// svdf: rank, activation. Inputs x, feature weights, time weights, bias, state; outputs y, the next state.
#include "converter/frontend/tflite_node.h"
#include "converter/ir/op_def.h"
#include "converter/ops/contraction.h"
#include "converter/ops/quantized_params.h"
#include "converter/ops/window.h"

namespace takt::ir {
namespace {

std::string Infer(const Graph& graph, const Node& node, std::vector<TensorType>& outputs) {
  const Tensor& x = graph.tensor(node.inputs[0]);
  const std::vector<int32_t>& feature = graph.tensor(node.inputs[1]).dims;
  const std::vector<int32_t>& time = graph.tensor(node.inputs[2]).dims;
  const Tensor& state = graph.tensor(node.inputs[4]);
  const int64_t rank = node.Int("rank");
  if (x.dims.size() != 2 || feature.size() != 2 || feature[1] != x.dims[1])
    return "input " + DimsText(x.dims) + " and feature weights " + DimsText(feature) + " are not [B, I] and [F, I]";
  if (time.size() != 2 || time[0] != feature[0])
    return "time weights " + DimsText(time) + " are not [F, M] with the " + std::to_string(feature[0]) + " filters";
  if (rank < 1 || rank > UINT16_MAX || feature[0] % rank != 0)
    return "rank " + std::to_string(rank) + " does not divide the " + std::to_string(feature[0]) + " filters";
  const std::vector<int32_t> memory = {x.dims[0], time[0] * time[1]};
  if (state.dims != memory) return "state " + DimsText(state.dims) + " is not " + DimsText(memory);
  const auto units = static_cast<int32_t>(feature[0] / rank);
  if (graph.tensor(node.inputs[3]).dims != std::vector<int32_t>{units})
    return "the bias does not have one value for each of " + std::to_string(units) + " units";
  outputs = {{x.type, {x.dims[0], units}}, {state.type, state.dims}};
  return "";
}

/// The stage that takes products of scales a and b to a value of scale `out`; scales are multiplied as floats.
schema::Rescale Stage(backend::StepBuilder& step, float a, float b, float out) {
  const float scale = a * b / out;
  if (step.numerics() != Numerics::kTflite) return {CheckedScale(scale, step), 0, 0};
  const FixedMultiplier fixed = QuantizeMultiplier(static_cast<double>(scale));
  return {0, fixed.multiplier, fixed.shift};
}

void Lower(const Node&, backend::StepBuilder& step) {
  const Node node = step.node();
  if (!CheckQuantized(step)) return;
  const Tensor x = step.tensor(node.inputs[0]), y = step.tensor(node.outputs[0]);
  const Tensor feature = step.tensor(node.inputs[1]), time = step.tensor(node.inputs[2]);
  const Tensor state = step.tensor(node.inputs[4]);
  schema::Rescale remember, output;
  if (IsInteger(x.type)) {
    if (ZeroPointOf(feature) != 0 || ZeroPointOf(time) != 0 || feature.quantization->per_channel() ||
        time.quantization->per_channel())
      return step.Error("its weights have zero point 0 and one scale each; quantize the model so");
    remember = Stage(step, ScaleOf(x), ScaleOf(feature), ScaleOf(state));
    output = Stage(step, ScaleOf(state), ScaleOf(time), ScaleOf(y));
  }
  // TFLite's integer kernel has no activation: relu comes from a zero point of -128.
  const bool plain = IsInteger(x.type) && step.numerics() == Numerics::kTflite;
  const schema::SvdfParams params(StoredClamp(plain ? "none" : node.StringOr("activation", "none"), y), remember,
                                  output, static_cast<int16_t>(ZeroPointOf(x)), static_cast<int16_t>(ZeroPointOf(y)),
                                  static_cast<uint16_t>(node.Int("rank")), static_cast<int16_t>(ZeroPointOf(state)));
  step.Set(Op::kSvdf, StepNumerics(step, node.inputs[0]), params, node.inputs, node.outputs);
}

void Import(frontend::TfliteNode& node) {
  if (!node.CheckArity(3, 5, 1)) return;
  const auto* options = node.options<tflite::SVDFOptions>();
  if (options == nullptr || options->rank() < 1) return node.Error("has no positive rank; the file is damaged");
  const Tensor feature = node.tensor(node.input(1));
  if (feature.dims.size() != 2 || feature.type != node.tensor(node.input(0)).type)
    return node.Error("feature weights must have rank 2 and the type of the input", node.input(1));
  const std::string activation = node.Activation(options->fused_activation_function());
  const TensorId bias = BiasOrZeros(node, 3, feature.dims[0] / options->rank());
  const TensorId next = node.NextState(4);
  if (next == kNoTensor) return;
  node.AddTo(Op::kSvdf, {node.input(0), node.input(1), node.input(2), bias, node.input(4)}, {node.output(0), next},
             {{"rank", int64_t{options->rank()}}, {"activation", activation}});
}

constexpr AttributeRule kAttributes[] = {{"rank", AttributeKind::kInt, true},
                                         {"activation", AttributeKind::kString, false}};
constexpr TfliteImport kTflite[] = {{27, "SVDF", Import}};

}  // namespace

extern const OpDef kSvdfDef;
const OpDef kSvdfDef = {Op::kSvdf, kAttributes, Infer, Lower, kTflite};

}  // namespace takt::ir
