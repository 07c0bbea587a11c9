// lstm: gate_function, candidate_function, cell_function, clip (of gates' sums), cell_clip, projection_clip, coupled,
// batch_major, reverse; hidden_scale and hidden_zero_point of what an integer projection reads.
// Inputs x, W, R, bias, h, c, peepholes, normalization, projection, its bias (the last four may be absent); outputs y,
// the last h, the last c. Integers: W and R have one scale for each gate; peepholes and normalization are real.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "converter/ir/constants.h"
#include "converter/ir/op_def.h"
#include "converter/ops/contraction.h"
#include "converter/ops/int16_functions.h"
#include "converter/ops/quantized_params.h"
#include "converter/ops/recurrent.h"

namespace takt::ir {
namespace {

constexpr size_t kPeepholes = 6, kNormalization = 7, kProjection = 8, kProjectionBias = 9;

bool Has(const Node& node, size_t input) {
  return input < node.inputs.size() && node.inputs[input] != kNoTensor;
}
bool IsCoupled(const Node& node) {
  return node.IntOr("coupled", 0) != 0;
}

std::string CheckTypes(const Graph& graph, const Node& node) {
  const auto type = [&](size_t i) { return graph.tensor(node.inputs[i]).type; };
  const DataType x = type(0);
  if (x == DataType::kFloat32) {
    for (size_t i = 0; i < node.inputs.size(); ++i)
      if (Has(node, i) && type(i) != x) return "its operands must be float32 as its input is";
    return "";
  }
  if (x != DataType::kInt8 && x != DataType::kInt16) return "input must be int8, int16 or float32";
  if (type(1) != DataType::kInt8 || type(2) != DataType::kInt8) return "weights must be int8 beside an integer input";
  if (type(4) != x || type(5) != DataType::kInt16) return "states must be of the input's type and int16";
  for (const size_t i : {kPeepholes, kNormalization})
    if (Has(node, i) && type(i) != DataType::kFloat32) return "peepholes and normalization must be float32";
  if (Has(node, kProjection) && type(kProjection) != DataType::kInt8) return "projection must be int8";
  return "";
}

std::string Infer(const Graph& graph, const Node& node, std::vector<TensorType>& outputs) {
  const Tensor &x = graph.tensor(node.inputs[0]), &h = graph.tensor(node.inputs[4]), &c = graph.tensor(node.inputs[5]);
  std::string error = CheckTypes(graph, node);
  if (!error.empty()) return error;
  if (c.dims.size() != 2) return "cell state " + DimsText(c.dims) + " is not [B, C]";
  const int32_t cells = c.dims[1], rows = cells * (IsCoupled(node) ? 3 : 4);
  error = CheckSequence(graph, node, rows);
  if (!error.empty()) return error;
  if (Has(node, kProjection) != Has(node, kProjectionBias)) return "a projection and its bias come together";
  const std::pair<size_t, std::vector<int32_t>> expected[] = {
      {5, {h.dims[0], Has(node, kProjection) ? cells : h.dims[1]}},
      {kPeepholes, {3, cells}},
      {kNormalization, {2, rows}},
      {kProjection, {h.dims[1], cells}},
      {kProjectionBias, {h.dims[1]}}};
  for (const auto& [i, dims] : expected) {
    if (!Has(node, i) || graph.tensor(node.inputs[i]).dims == dims) continue;
    return "operand " + std::to_string(i) + " is " + DimsText(graph.tensor(node.inputs[i]).dims) + ", not " +
           DimsText(dims);
  }
  outputs = {{x.type, {x.dims[0], x.dims[1], h.dims[1]}}, {h.type, h.dims}, {c.type, c.dims}};
  return "";
}

/// The stages of one integer lstm.
class Stages {
 public:
  explicit Stages(backend::StepBuilder& step) : step_(step), node_(step.node()) {}

  /// Of the products of operand `x` with each gate's rows of `weights`.
  std::array<schema::Rescale, 4> Gates(TensorId x, TensorId weights) {
    std::array<schema::Rescale, 4> stages;
    const size_t first = IsCoupled(node_) ? 1 : 0;
    const std::vector<float>& scales = step_.tensor(weights).quantization->scales;
    const size_t rows = static_cast<size_t>(step_.tensor(weights).dims[0]) / (4 - first);
    for (size_t g = first; g < 4; ++g) {
      const size_t row = scales.size() == 1 ? 0 : (g - first) * rows;
      for (size_t i = 1; scales.size() > 1 && i < rows; ++i) {
        if (scales[row + i] == scales[row]) continue;
        step_.Error("its weights have scales per channel; one for each gate is allowed", weights);
        return stages;
      }
      const float product = ScaleOf(step_.tensor(x)) * scales[row];
      stages[g] = Stage(static_cast<double>(product), IsTflite() ? 0x1p-12 : 1.0);
    }
    return stages;
  }

  /// From products of scale `from` to values of scale `to`.
  schema::Rescale Stage(double from, double to) const {
    if (!IsTflite()) return {static_cast<float>(from / to), 0, 0};
    const FixedMultiplier fixed = QuantizeMultiplier(from / to);
    return {0, fixed.multiplier, fixed.shift};
  }

  /// From c to the units of the table of logistic: TFLite knows powers of two only.
  schema::Rescale Function(float scale) {
    if (!IsTflite()) return {scale * 12288.0f, 0, 0};
    const int power = std::ilogb(scale) + 12;
    if (scale != std::ldexp(1.0f, power - 12) || power > 13 || power < -30)
      step_.Error("TFLite's integer kernel has a cell state whose scale is a power of two", node_.inputs[5]);
    return {0, power > 0 ? 3 << std::min(power, 13) : 3, std::clamp(-power, 0, 30)};
  }

  bool IsTflite() const { return step_.numerics() == Numerics::kTflite; }

 private:
  backend::StepBuilder& step_;
  const Node node_;
};

/// What an integer lstm asks beyond the shape rule.
bool CheckInteger(backend::StepBuilder& step, const Node& node) {
  if (!CheckQuantized(step)) return false;
  const auto bad = [&](const char* message, size_t input) {
    step.Error(message, node.inputs[input]);
    return false;
  };
  if (!SameQuantization(step.tensor(node.inputs[4]), step.tensor(node.outputs[0])))
    return bad("its hidden state and its output must have one quantization", 4);
  for (const size_t i : {size_t{1}, size_t{2}, size_t{5}, kProjection})
    if (Has(node, i) && ZeroPointOf(step.tensor(node.inputs[i])) != 0)
      return bad("its weights and cell state have zero point 0; quantize the model so", i);
  if (step.numerics() == Numerics::kTflite &&
      (IsCoupled(node) || Has(node, kPeepholes) || Has(node, kNormalization) || Has(node, kProjection)))
    return bad(
        "integers with coupled gates, peepholes, normalization or a projection are not among the reference kernels; "
        "convert with the default numerics",
        0);
  for (const char* key : {"candidate_function", "cell_function"})
    if (node.StringOr(key, "tanh") != "tanh") return bad("an integer lstm has the activation tanh", 0);
  return true;
}

/// The plan's operands: biases widened, the table behind c, peepholes for c as it is stored; empty after an error.
std::vector<TensorId> PlanInputs(backend::StepBuilder& step, const Node& node) {
  std::vector<TensorId> inputs(node.inputs.begin(), node.inputs.begin() + 6);
  const bool is_integer = IsInteger(step.tensor(inputs[0]).type);
  if (is_integer) {
    if (step.tensor(inputs[0]).type == DataType::kInt16) inputs[3] = WideBias(step, inputs[3]);
    inputs.push_back(LogisticTable(step));
    if (inputs[3] == kNoTensor || inputs[6] == kNoTensor) return {};
  }
  for (size_t i = kPeepholes; i < node.inputs.size(); ++i) {
    if (!Has(node, i)) continue;
    TensorId id = node.inputs[i];
    if (is_integer && i == kPeepholes) {
      std::vector<float> factors = Elements<float>(step.tensor(id));
      for (float& f : factors) f *= ScaleOf(step.tensor(node.inputs[5]));
      id = step.Constant("peepholes", DataType::kFloat32, step.tensor(id).dims, factors);
    }
    if (i == kProjectionBias && step.tensor(inputs[0]).type == DataType::kInt16) id = WideBias(step, id);
    inputs.push_back(id);
  }
  return inputs;
}

/// Bounds of c or y: TFLite cuts the stored bound.
schema::Clamp StoredClip(const backend::StepBuilder& step, const Node& node, const char* key, const Tensor& tensor) {
  const schema::Clamp real = ClipOf(node, key);
  if (!IsInteger(tensor.type) || node.FloatOr(key, 0) <= 0 || step.numerics() != Numerics::kTflite)
    return StoredClamp(static_cast<double>(real.min()), static_cast<double>(real.max()), tensor);
  const double bound =
      std::trunc(std::min(static_cast<double>(real.max()) / static_cast<double>(ScaleOf(tensor)), 32767.0));
  return {static_cast<float>(-bound), static_cast<float>(bound)};
}

void Lower(const Node&, backend::StepBuilder& step) {
  const Node node = step.node();
  const Tensor x = step.tensor(node.inputs[0]), c = step.tensor(node.inputs[5]), y = step.tensor(node.outputs[0]);
  const bool is_integer = IsInteger(x.type), projected = Has(node, kProjection);
  if (is_integer && !CheckInteger(step, node)) return;
  std::array<schema::Rescale, 4> input, recurrent, normalization;
  std::array<schema::Rescale, 3> peephole;
  const std::array<int32_t, 4> guards = {};
  schema::Rescale forget, update, function, hidden, projection;
  int32_t hidden_zero_point = ZeroPointOf(y);
  if (is_integer) {
    Stages stages(step);
    const auto c_scale = static_cast<double>(ScaleOf(c)), y_scale = static_cast<double>(ScaleOf(y));
    const double hidden_scale = projected ? node.FloatOr("hidden_scale", 0) : y_scale;
    input = stages.Gates(node.inputs[0], node.inputs[1]);
    recurrent = stages.Gates(node.inputs[4], node.inputs[2]);
    forget = stages.Stage(0x1p-15, 1);
    update = stages.Stage(0x1p-30, c_scale);
    function = stages.Function(ScaleOf(c));
    hidden = stages.Stage(0x1p-30, hidden_scale);
    if (projected) {
      if (!(hidden_scale > 0))
        return step.Error("lacks the scale of what its projection reads; quantize the model again");
      hidden_zero_point = static_cast<int32_t>(node.IntOr("hidden_zero_point", 0));
      if (x.type == DataType::kInt16 && hidden_zero_point != 0)
        return step.Error("int16 values have zero point 0; what its projection reads has another");
      projection =
          stages.Stage(hidden_scale * static_cast<double>(ScaleOf(step.tensor(node.inputs[kProjection]))), y_scale);
    }
  }
  const std::vector<TensorId> inputs = PlanInputs(step, node);
  if (inputs.empty()) return;
  const schema::LstmParams params(
      input, recurrent, peephole, normalization, guards, forget, update, function, hidden, projection,
      ClipOf(node, "clip"), StoredClip(step, node, "cell_clip", c), StoredClip(step, node, "projection_clip", y),
      static_cast<int16_t>(ZeroPointOf(x)), static_cast<int16_t>(hidden_zero_point),
      static_cast<int16_t>(ZeroPointOf(y)), GateFunctionOf(node, "gate_function", "logistic"),
      GateFunctionOf(node, "candidate_function", "tanh"), GateFunctionOf(node, "cell_function", "tanh"),
      IsCoupled(node), Has(node, kPeepholes), Has(node, kNormalization), projected, node.IntOr("batch_major", 0) != 0,
      node.IntOr("reverse", 0) != 0, 0);
  step.Set(Op::kLstm, StepNumerics(step, node.inputs[0]), params, inputs, node.outputs);
}

constexpr AttributeRule kAttributes[] = {
    {"gate_function", AttributeKind::kString, false}, {"candidate_function", AttributeKind::kString, false},
    {"cell_function", AttributeKind::kString, false}, {"clip", AttributeKind::kFloat, false},
    {"cell_clip", AttributeKind::kFloat, false},      {"projection_clip", AttributeKind::kFloat, false},
    {"coupled", AttributeKind::kInt, false},          {"batch_major", AttributeKind::kInt, false},
    {"reverse", AttributeKind::kInt, false},          {"hidden_scale", AttributeKind::kFloat, false},
    {"hidden_zero_point", AttributeKind::kInt, false}};
constexpr TfliteImport kTflite[] = {{16, "LSTM", ImportLstm},
                                    {44, "UNIDIRECTIONAL_SEQUENCE_LSTM", ImportSequenceLstm},
                                    {52, "BIDIRECTIONAL_SEQUENCE_LSTM", ImportBidirectionalLstm}};
constexpr OnnxImport kOnnx[] = {{"LSTM", 1, ImportOnnxLstm}};

}  // namespace

extern const OpDef kLstmDef;
const OpDef kLstmDef = {Op::kLstm, kAttributes, Infer, Lower, kTflite, NpuClass::kNone, kOnnx};

}  // namespace takt::ir
