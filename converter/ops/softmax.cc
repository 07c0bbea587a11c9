// softmax: beta. Over the last axis.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "converter/base/saturate.h"
#include "converter/frontend/onnx_node.h"
#include "converter/frontend/tflite_node.h"
#include "converter/ir/op_def.h"
#include "converter/ops/int16_functions.h"
#include "converter/ops/quantized_params.h"

namespace takt::ir {
namespace {

std::string Infer(const Graph& graph, const Node& node, std::vector<TensorType>& outputs) {
  const Tensor& input = graph.tensor(node.inputs[0]);
  if (input.dims.empty()) return "input has no axis";
  const DataType out = graph.tensor(node.outputs[0]).type;
  const bool wider = input.type == DataType::kInt8 && out == DataType::kInt16;
  outputs = {{wider ? out : input.type, input.dims}};
  return "";
}

/// Tables for the high and the low byte of d, whose product is exp(-beta * scale * d).
void LowerInt16Fp32Rne(backend::StepBuilder& step, float beta, double scale) {
  std::vector<uint32_t> table;
  for (int i = 0; i < 512; ++i) {
    const double d = i < 256 ? 256.0 * i : i - 256.0;
    const auto entry = RoundComputed(std::exp(-static_cast<double>(beta) * scale * d) * 0x1p24);
    if (!entry) return step.Error("a table entry is too close to a rounding tie to be the same on every host");
    table.push_back(static_cast<uint32_t>(*entry));
  }
  const TensorId id = step.Constant("table", DataType::kUint32, {512}, table);
  step.Set(Op::kSoftmax, Numerics::kFp32Rne, schema::SoftmaxParams(beta, 0, 0, 0), {step.node().inputs[0], id},
           step.node().outputs);
}

/// The differences to a row's largest value, scaled so that -10 is -65535, index a table of exp.
void LowerInt16Tflite(backend::StepBuilder& step, float beta, double scale) {
  const FixedMultiplier fixed = QuantizeMultiplier(scale * static_cast<double>(beta) / (10.0 / 65535.0));
  const auto exp_table = InterpolationTable(step, [](double at) { return std::exp(10 * (at - 1)) * 32768; });
  const auto reciprocal_table = InterpolationTable(step, [](double at) { return 32768 / (1 + at); });
  if (exp_table.empty() || reciprocal_table.empty()) return;
  const TensorId exp_id = step.Constant("exp", DataType::kInt16, {513}, exp_table);
  const TensorId reciprocal_id = step.Constant("reciprocal", DataType::kInt16, {513}, reciprocal_table);
  step.Set(Op::kSoftmax, Numerics::kTflite, schema::SoftmaxParams(beta, fixed.multiplier, fixed.shift, 0),
           {step.node().inputs[0], exp_id, reciprocal_id}, step.node().outputs);
}

/// TFLite takes scales that differ by a thousandth for the int16 one.
bool OutputOk(const Tensor& output) {
  if (output.type == DataType::kInt8) return ScaleOf(output) == 1.0f / 256 && ZeroPointOf(output) == -128;
  return output.type == DataType::kInt16 && std::fabs(ScaleOf(output) * 65536 - 1) <= 0.001f &&
         ZeroPointOf(output) == -32768;
}

void Lower(const Node&, backend::StepBuilder& step) {
  const Node node = step.node();
  if (!CheckQuantized(step)) return;
  const auto beta = static_cast<float>(node.FloatOr("beta", 1.0));
  const Tensor& input = step.tensor(node.inputs[0]);
  const Tensor& output = step.tensor(node.outputs[0]);
  if (!IsInteger(input.type)) {
    return step.Set(Op::kSoftmax, Numerics::kAny, schema::SoftmaxParams(beta, 0, 0, 0), node.inputs, node.outputs);
  }
  if (!(beta >= 0) || std::isinf(beta))
    return step.Error("an integer softmax has a beta of 0 or more", node.outputs[0]);
  if (input.type == DataType::kInt16) {
    if (ScaleOf(output) != 1.0f / 32768)
      return step.Error("an int16 softmax has output scale 1/32768", node.outputs[0]);
    const auto lower = step.numerics() == Numerics::kTflite ? LowerInt16Tflite : LowerInt16Fp32Rne;
    return lower(step, beta, static_cast<double>(ScaleOf(input)));
  }
  if (!OutputOk(output)) {
    return step.Error("an int8 softmax has output scale 1/256 and zero point -128, or 1/65536 and -32768 if int16",
                      node.outputs[0]);
  }
  const double scale = static_cast<double>(ScaleOf(input));
  if (step.numerics() == Numerics::kTflite) {
    const double real = std::min(static_cast<double>(beta) * scale * (1 << 26), 2147483647.0);
    const FixedMultiplier fixed = QuantizeMultiplier(real);
    const auto radius = Saturated<int32_t>(std::floor(31.0 * (1 << 26) / std::ldexp(1.0, fixed.shift)));
    const schema::SoftmaxParams params(beta, fixed.multiplier, fixed.shift, -radius);
    return step.Set(Op::kSoftmax, Numerics::kTflite, params, node.inputs, node.outputs);
  }
  std::vector<uint32_t> table(256);
  for (int d = 0; d < 256; ++d) {
    const auto entry = RoundComputed(std::exp(-static_cast<double>(beta) * scale * d) * 4194304.0);
    if (!entry) {
      return step.Error("entry " + std::to_string(d) +
                        " of its table is too close to a rounding tie to be the same on every "
                        "host; change the input's scale by its last bit");
    }
    table[static_cast<size_t>(d)] = static_cast<uint32_t>(*entry);
  }
  const TensorId table_id = step.Constant("table", DataType::kUint32, {256}, table);
  step.Set(Op::kSoftmax, Numerics::kFp32Rne, schema::SoftmaxParams(beta, 0, 0, 0), {node.inputs[0], table_id},
           node.outputs);
}

void Import(frontend::TfliteNode& node) {
  if (!node.CheckArity(1, 1, 1)) return;
  const auto* options = node.options<tflite::SoftmaxOptions>();
  node.Add(Op::kSoftmax, {node.input(0)}, {{"beta", options ? static_cast<double>(options->beta()) : 1.0}});
}

/// Over one axis, which becomes the last.
void ImportOnnx13(frontend::OnnxNode& node) {
  if (!node.CheckInputs(1, 1) || !node.CheckOutputs(1)) return;
  const size_t rank = node.dims(node.input(0)).size();
  const auto axis = node.Axis(node.Int("axis", -1), rank);
  if (!axis) return;
  std::vector<int64_t> permutation(rank);
  std::iota(permutation.begin(), permutation.end(), 0);
  std::swap(permutation[*axis], permutation[rank - 1]);
  const TensorId y = node.Emit(Op::kSoftmax, {node.Transpose(node.input(0), permutation)});
  node.SetOutput(0, node.Transpose(y, permutation));
}

/// Before opset 13: over all dimensions from `axis` on.
void ImportOnnx1(frontend::OnnxNode& node) {
  if (!node.CheckInputs(1, 1) || !node.CheckOutputs(1)) return;
  const std::vector<int32_t> dims = node.dims(node.input(0));
  const auto axis = node.Axis(node.Int("axis", 1), dims.size());
  if (!axis) return;
  std::vector<int32_t> rows = {1, 1};
  for (size_t i = 0; i < dims.size(); ++i) rows[i < *axis ? 0 : 1] *= dims[i];
  if (rows[1] == dims.back()) return node.SetOutput(0, node.Emit(Op::kSoftmax, {node.input(0)}));
  node.SetOutput(0, node.Reshape(node.Emit(Op::kSoftmax, {node.Reshape(node.input(0), rows)}), dims));
}

bool Commute(std::span<const int64_t> permutation, Node&) {
  return permutation.back() == static_cast<int64_t>(permutation.size()) - 1;
}

constexpr AttributeRule kAttributes[] = {{"beta", AttributeKind::kFloat, false}};
constexpr TfliteImport kTflite[] = {{25, "SOFTMAX", Import}};
constexpr OnnxImport kOnnx[] = {{"Softmax", 1, ImportOnnx1}, {"Softmax", 13, ImportOnnx13}};

}  // namespace

extern const OpDef kSoftmaxDef;
const OpDef kSoftmaxDef = {Op::kSoftmax, kAttributes,        Infer, Lower, kTflite, NpuClass::kElementwise, kOnnx,
                           Commute,      QuantRule::kSoftmax};

}  // namespace takt::ir
