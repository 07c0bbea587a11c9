// mean: axes, keep_dims.
#include <algorithm>
#include <numeric>

#include "converter/frontend/onnx_node.h"
#include "converter/frontend/tflite_node.h"
#include "converter/ir/op_def.h"
#include "converter/ops/quantized_params.h"
#include "converter/ops/window.h"

namespace takt::ir {
namespace {

bool Has(const std::vector<int64_t>& axes, size_t axis) {
  return std::find(axes.begin(), axes.end(), static_cast<int64_t>(axis)) != axes.end();
}

std::string Infer(const Graph& graph, const Node& node, std::vector<TensorType>& outputs) {
  const Tensor& input = graph.tensor(node.inputs[0]);
  const auto& axes = node.Ints("axes");
  const bool keep = node.IntOr("keep_dims", 0) != 0;
  if (input.dims.size() > kMaxRank) return "rank above 6";
  for (int64_t axis : axes) {
    if (axis < 0 || axis >= static_cast<int64_t>(input.dims.size())) return "axis outside " + DimsText(input.dims);
  }
  std::vector<int32_t> dims;
  for (size_t i = 0; i < input.dims.size(); ++i) {
    if (!Has(axes, i)) dims.push_back(input.dims[i]);
    if (Has(axes, i) && keep) dims.push_back(1);
  }
  outputs = {{input.type, dims}};
  return "";
}

/// TFLite's mean divides inside the multiplier: as many bits of 1/N as fit.
FixedMultiplier FoldCount(FixedMultiplier fixed, int64_t count) {
  int shift = 0;
  while ((int64_t{2} << shift) <= count) ++shift;
  shift = std::min({shift, 32, 31 + fixed.shift});
  fixed.multiplier = static_cast<int32_t>((static_cast<int64_t>(fixed.multiplier) << shift) / count);
  fixed.shift -= shift;
  return fixed;
}

void Lower(const Node&, backend::StepBuilder& step) {
  const Node node = step.node();
  if (!CheckQuantized(step)) return;
  const Tensor& input = step.tensor(node.inputs[0]);
  const Tensor& output = step.tensor(node.outputs[0]);
  int64_t count = 1;
  uint8_t axes[6] = {};
  std::vector<int64_t> sorted = node.Ints("axes");
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < sorted.size(); ++i) {
    axes[i] = static_cast<uint8_t>(sorted[i]);
    count *= input.dims[static_cast<size_t>(sorted[i])];
  }
  float scale = 0;
  FixedMultiplier fixed;
  if (IsInteger(input.type) && step.numerics() == Numerics::kTflite) {
    fixed = FoldCount(QuantizeMultiplier(static_cast<double>(ScaleOf(input)) / static_cast<double>(ScaleOf(output))),
                      count);
  } else if (IsInteger(input.type)) {
    scale = CheckedScale(ScaleOf(input) / (ScaleOf(output) * static_cast<float>(count)), step);
  }
  const schema::MeanParams params(StoredClamp("none", output), scale, fixed.multiplier, fixed.shift,
                                  static_cast<int16_t>(ZeroPointOf(input)), static_cast<int16_t>(ZeroPointOf(output)),
                                  flatbuffers::span<const uint8_t, 6>(axes), static_cast<uint8_t>(sorted.size()), 0);
  step.Set(Op::kMean, StepNumerics(step, node.inputs[0]), params, node.inputs, node.outputs);
}

void Import(frontend::TfliteNode& node) {
  if (!node.CheckArity(2, 2, 1)) return;
  auto axes = node.ConstantInts(1);
  if (!axes) return;
  const auto rank = static_cast<int64_t>(node.tensor(node.input(0)).dims.size());
  for (int64_t& axis : *axes) axis += axis < 0 ? rank : 0;
  std::sort(axes->begin(), axes->end());
  axes->erase(std::unique(axes->begin(), axes->end()), axes->end());
  const auto* options = node.options<tflite::ReducerOptions>();
  node.Add(Op::kMean, {node.input(0)},
           {{"axes", *axes}, {"keep_dims", int64_t{options != nullptr && options->keep_dims()}}});
}

void EmitOnnxMean(frontend::OnnxNode& node, const std::vector<int64_t>& given, bool keep) {
  const std::vector<int32_t> x = node.dims(node.input(0));
  const auto axes = node.Axes(given, x.size());
  if (!axes) return;
  if (axes->empty()) return node.SetOutput(0, node.input(0));
  const TensorId y = node.Emit(Op::kMean, {node.input(0)}, {{"axes", *axes}, {"keep_dims", int64_t{1}}});
  std::vector<int32_t> dims;
  for (size_t i = 0; i < x.size(); ++i) {
    if (!Has(*axes, i)) dims.push_back(x[i]);
    if (Has(*axes, i) && keep) dims.push_back(1);
  }
  node.SetOutput(0, node.Reshape(y, dims));
}

/// Axes are an attribute before opset 18, an input from then on; none means all.
void ImportOnnxReduceMean(frontend::OnnxNode& node) {
  if (!node.CheckInputs(1, node.opset() < 18 ? 1 : 2) || !node.CheckOutputs(1)) return;
  std::vector<int64_t> axes = node.Ints("axes", {});
  if (node.has_input(1)) {
    const auto values = node.ConstantInts(1);
    if (!values) return;
    axes = *values;
  }
  if (axes.empty() && node.Int("noop_with_empty_axes", 0) == 0) {
    axes.resize(node.dims(node.input(0)).size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  EmitOnnxMean(node, axes, node.Int("keepdims", 1) != 0);
}

void ImportOnnxGlobalAverage(frontend::OnnxNode& node) {
  if (!node.CheckInputs(1, 1) || !node.CheckOutputs(1)) return;
  std::vector<int64_t> axes;
  for (size_t i = 2; i < node.dims(node.input(0)).size(); ++i) axes.push_back(static_cast<int64_t>(i));
  EmitOnnxMean(node, axes, true);
}

bool CommuteMean(std::span<const int64_t> permutation, Node& node) {
  if (node.IntOr("keep_dims", 0) == 0) return false;
  std::vector<int64_t> axes;
  for (int64_t axis : node.Ints("axes")) axes.push_back(permutation[static_cast<size_t>(axis)]);
  std::sort(axes.begin(), axes.end());
  node.attributes["axes"] = axes;
  return true;
}

constexpr AttributeRule kAttributes[] = {{"axes", AttributeKind::kInts, true},
                                         {"keep_dims", AttributeKind::kInt, false}};
constexpr TfliteImport kTflite[] = {{40, "MEAN", Import}};
constexpr OnnxImport kOnnx[] = {{"ReduceMean", 1, ImportOnnxReduceMean},
                                {"GlobalAveragePool", 1, ImportOnnxGlobalAverage}};

}  // namespace

extern const OpDef kMeanDef;
const OpDef kMeanDef = {Op::kMean, kAttributes, Infer, Lower, kTflite, NpuClass::kPool, kOnnx, CommuteMean};

}  // namespace takt::ir
