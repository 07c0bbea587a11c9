// mean: axes, keep_dims. reduce: function, axes, keep_dims.
#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "converter/frontend/onnx_node.h"
#include "converter/frontend/tflite_node.h"
#include "converter/ir/constants.h"
#include "converter/ops/binary.h"
#include "converter/ops/onnx_expression.h"
#include "converter/ops/quantized_params.h"

namespace takt::ir {
namespace {

constexpr char kSum[] = "sum";
constexpr char kProduct[] = "product";
constexpr char kMaximum[] = "maximum";
constexpr char kMinimum[] = "minimum";
constexpr char kAny[] = "any";
constexpr char kAll[] = "all";

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

/// The steps' axes, ascending.
struct Axes {
  uint8_t values[6] = {};
  uint8_t count = 0;
  int64_t elements = 1;  ///< Of the input for each of the output.

  Axes(const Node& node, const Tensor& input) {
    std::vector<int64_t> sorted = node.Ints("axes");
    std::sort(sorted.begin(), sorted.end());
    for (int64_t axis : sorted) {
      values[count++] = static_cast<uint8_t>(axis);
      elements *= input.dims[static_cast<size_t>(axis)];
    }
  }
  flatbuffers::span<const uint8_t, 6> span() const { return flatbuffers::span<const uint8_t, 6>(values); }
};

/// The mean, or without its division the sum of quantized values.
void LowerAverage(backend::StepBuilder& step, bool divide) {
  const Node node = step.node();
  const Tensor& input = step.tensor(node.inputs[0]);
  const Tensor& output = step.tensor(node.outputs[0]);
  const Axes axes(node, input);
  const int64_t count = divide ? axes.elements : 1;
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
                                  axes.span(), axes.count, 0);
  step.Set(Op::kMean, StepNumerics(step, node.inputs[0]), params, node.inputs, node.outputs);
}

void LowerMean(const Node&, backend::StepBuilder& step) {
  if (CheckQuantized(step)) LowerAverage(step, true);
}

void LowerReduce(const Node&, backend::StepBuilder& step) {
  const Node node = step.node();
  const auto* function =
      EnumValue(schema::EnumValuesReduceFunction(), schema::EnumNameReduceFunction, node.StringOr("function", ""));
  if (function == nullptr) return step.Error("unknown reduction");
  if (!CheckQuantized(step)) return;
  const Tensor& input = step.tensor(node.inputs[0]);
  if (IsInteger(input.type)) {
    if (*function == schema::ReduceFunction::sum) return LowerAverage(step, false);
    if (!SameQuantization(input, step.tensor(node.outputs[0])))
      return step.Error("compares stored values; requantize the input to the output's scale", node.inputs[0]);
    if (*function == schema::ReduceFunction::product)
      return step.Error("has no quantized rule for the product; dequantize its input");
  }
  const Axes axes(node, input);
  step.Set(Op::kReduce, Numerics::kAny, schema::ReduceParams(axes.span(), axes.count, *function), node.inputs,
           node.outputs);
}

using Attributes = std::map<std::string, Attribute>;

/// Axes (ascending, each once) and keep_dims of a TFLite reduction.
std::optional<Attributes> ReadReduction(frontend::TfliteNode& node) {
  if (!node.CheckArity(2, 2, 1)) return std::nullopt;
  auto axes = node.ConstantInts(1);
  if (!axes) return std::nullopt;
  for (int64_t& axis : *axes) {
    const auto found = node.Axis(axis, node.tensor(node.input(0)).dims.size());
    if (!found) return std::nullopt;
    axis = static_cast<int64_t>(*found);
  }
  std::sort(axes->begin(), axes->end());
  axes->erase(std::unique(axes->begin(), axes->end()), axes->end());
  const auto* options = node.options<tflite::ReducerOptions>();
  return Attributes{{"axes", *axes}, {"keep_dims", int64_t{options != nullptr && options->keep_dims()}}};
}

/// Integers without quantization: the sum, divided toward zero.
void ImportIntegerMean(frontend::TfliteNode& node, Attributes attributes) {
  const Tensor input = node.tensor(node.input(0));
  int64_t count = 1;
  for (int64_t axis : std::get<std::vector<int64_t>>(attributes["axes"]))
    if (axis >= 0 && axis < static_cast<int64_t>(input.dims.size())) count *= input.dims[static_cast<size_t>(axis)];
  attributes["function"] = std::string("sum");
  const TensorId sum = node.Emit(Op::kReduce, {node.input(0)}, std::move(attributes));
  Bytes divisor =
      input.type == DataType::kInt64 ? ToBytes<int64_t>({count}) : ToBytes<int32_t>({static_cast<int32_t>(count)});
  const TensorId n =
      node.graph().AddConstant(node.tensor(node.output(0)).name + "/count", input.type, {}, std::move(divisor));
  node.Add(Op::kBinary, {sum, n}, {{"function", std::string("divide")}});
}

void ImportMean(frontend::TfliteNode& node) {
  auto attributes = ReadReduction(node);
  if (!attributes) return;
  if (IsPlainInteger(node.tensor(node.input(0)).type)) return ImportIntegerMean(node, std::move(*attributes));
  node.Add(Op::kMean, {node.input(0)}, std::move(*attributes));
}

template <const char* kFunction>
void Import(frontend::TfliteNode& node) {
  auto attributes = ReadReduction(node);
  if (!attributes) return;
  (*attributes)["function"] = std::string(kFunction);
  const bool extreme = kFunction == kMaximum || kFunction == kMinimum;
  if (kFunction == kProduct && node.tensor(node.input(0)).quantization)
    return node.AddFloat(Op::kReduce, {node.ToFloat(node.input(0))}, std::move(*attributes));
  node.Add(Op::kReduce, {extreme ? node.ToOutputScale(node.input(0)) : node.input(0)}, std::move(*attributes));
}

/// Axes are an attribute, or input 1 from opset `input_since` on; none means all.
std::optional<std::vector<int64_t>> OnnxAxes(frontend::OnnxNode& node, int input_since) {
  if (!node.CheckInputs(1, node.opset() < input_since ? 1 : 2) || !node.CheckOutputs(1)) return std::nullopt;
  const size_t rank = node.dims(node.input(0)).size();
  const auto axes = node.has_input(1) ? node.ConstantInts(1) : node.Ints("axes", {});
  if (!axes) return std::nullopt;
  if (!axes->empty() || node.Int("noop_with_empty_axes", 0) != 0) return node.Axes(*axes, rank);
  std::vector<int64_t> all(rank);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

/// Reduces `x` over the axes and sheds them unless they are kept.
TensorId EmitOnnxReduction(frontend::OnnxNode& node, Op op, Attributes attributes, TensorId x,
                           const std::vector<int64_t>& axes, bool keep) {
  if (axes.empty() || node.failed()) return x;
  attributes["axes"] = axes;
  attributes["keep_dims"] = int64_t{1};
  const std::vector<int32_t> from = node.dims(x);
  const TensorId y = node.Emit(op, {x}, std::move(attributes));
  std::vector<int32_t> dims;
  for (size_t i = 0; i < from.size(); ++i) {
    if (!Has(axes, i)) dims.push_back(from[i]);
    if (Has(axes, i) && keep) dims.push_back(1);
  }
  return node.Reshape(y, dims);
}

void ImportOnnxReduceMean(frontend::OnnxNode& node) {
  const auto axes = OnnxAxes(node, 18);
  if (axes)
    node.SetOutput(0, EmitOnnxReduction(node, Op::kMean, {}, node.input(0), *axes, node.Int("keepdims", 1) != 0));
}

void ImportOnnxGlobalAverage(frontend::OnnxNode& node) {
  if (!node.CheckInputs(1, 1) || !node.CheckOutputs(1)) return;
  std::vector<int64_t> axes;
  for (size_t i = 2; i < node.dims(node.input(0)).size(); ++i) axes.push_back(static_cast<int64_t>(i));
  node.SetOutput(0, EmitOnnxReduction(node, Op::kMean, {}, node.input(0), axes, true));
}

/// after(reduce(before(x))), where either function may be absent.
void EmitOnnxReduce(frontend::OnnxNode& node, const char* before, const char* reduce, const char* after,
                    int input_since = 18) {
  const auto axes = OnnxAxes(node, input_since);
  if (!axes) return;
  const OnnxExpression e(node);
  node.SetOutput(0, e.Widened(node.input(0), [&](TensorId x) {
    if (before) x = e.Unary(before, x);
    x = EmitOnnxReduction(node, Op::kReduce, {{"function", std::string(reduce)}}, x, *axes,
                          node.Int("keepdims", 1) != 0);
    return after ? e.Unary(after, x) : x;
  }));
}
void ImportOnnxReduceSum(frontend::OnnxNode& node) {
  EmitOnnxReduce(node, nullptr, kSum, nullptr, 13);
}
void ImportOnnxReduceMax(frontend::OnnxNode& node) {
  EmitOnnxReduce(node, nullptr, kMaximum, nullptr);
}
void ImportOnnxReduceMin(frontend::OnnxNode& node) {
  EmitOnnxReduce(node, nullptr, kMinimum, nullptr);
}
void ImportOnnxReduceProd(frontend::OnnxNode& node) {
  EmitOnnxReduce(node, nullptr, kProduct, nullptr);
}
void ImportOnnxReduceL1(frontend::OnnxNode& node) {
  EmitOnnxReduce(node, "abs", kSum, nullptr);
}
void ImportOnnxReduceL2(frontend::OnnxNode& node) {
  EmitOnnxReduce(node, "square", kSum, "sqrt");
}
void ImportOnnxReduceLogSum(frontend::OnnxNode& node) {
  EmitOnnxReduce(node, nullptr, kSum, "log");
}
void ImportOnnxReduceLogSumExp(frontend::OnnxNode& node) {
  EmitOnnxReduce(node, "exp", kSum, "log");
}
void ImportOnnxReduceSumSquare(frontend::OnnxNode& node) {
  EmitOnnxReduce(node, "square", kSum, nullptr);
}

bool Commute(std::span<const int64_t> permutation, Node& node) {
  if (node.IntOr("keep_dims", 0) == 0) return false;
  std::vector<int64_t> axes;
  for (int64_t axis : node.Ints("axes")) axes.push_back(permutation[static_cast<size_t>(axis)]);
  std::sort(axes.begin(), axes.end());
  node.attributes["axes"] = axes;
  return true;
}

constexpr AttributeRule kMeanAttributes[] = {{"axes", AttributeKind::kInts, true},
                                             {"keep_dims", AttributeKind::kInt, false}};
constexpr AttributeRule kReduceAttributes[] = {{"function", AttributeKind::kString, true},
                                               {"axes", AttributeKind::kInts, true},
                                               {"keep_dims", AttributeKind::kInt, false}};
constexpr TfliteImport kMeanTflite[] = {{40, "MEAN", ImportMean}};
constexpr TfliteImport kReduceTflite[] = {{74, "SUM", Import<kSum>},
                                          {81, "REDUCE_PROD", Import<kProduct>},
                                          {82, "REDUCE_MAX", Import<kMaximum>},
                                          {89, "REDUCE_MIN", Import<kMinimum>},
                                          {91, "REDUCE_ANY", Import<kAny>},
                                          {140, "REDUCE_ALL", Import<kAll>}};
constexpr OnnxImport kMeanOnnx[] = {{"ReduceMean", 1, ImportOnnxReduceMean},
                                    {"GlobalAveragePool", 1, ImportOnnxGlobalAverage}};
constexpr OnnxImport kReduceOnnx[] = {{"ReduceSum", 1, ImportOnnxReduceSum},
                                      {"ReduceMax", 1, ImportOnnxReduceMax},
                                      {"ReduceMin", 1, ImportOnnxReduceMin},
                                      {"ReduceProd", 1, ImportOnnxReduceProd},
                                      {"ReduceL1", 1, ImportOnnxReduceL1},
                                      {"ReduceL2", 1, ImportOnnxReduceL2},
                                      {"ReduceLogSum", 1, ImportOnnxReduceLogSum},
                                      {"ReduceLogSumExp", 1, ImportOnnxReduceLogSumExp},
                                      {"ReduceSumSquare", 1, ImportOnnxReduceSumSquare}};

}  // namespace

extern const OpDef kMeanDef;
extern const OpDef kReduceDef;
const OpDef kMeanDef = {Op::kMean,       kMeanAttributes, Infer,   LowerMean,       kMeanTflite,
                        NpuClass::kPool, kMeanOnnx,       Commute, QuantRule::kFree};
const OpDef kReduceDef = {Op::kReduce,   kReduceAttributes, Infer,       LowerReduce,
                          kReduceTflite, NpuClass::kNone,   kReduceOnnx, Commute};

}  // namespace takt::ir
