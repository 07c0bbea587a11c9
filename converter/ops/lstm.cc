// lstm: gate_function, candidate_function, cell_function, clip (of gates' sums), cell_clip, projection_clip, coupled,
// batch_major, reverse; hidden_scale and hidden_zero_point of what an integer projection reads, gate_scales of the
// gates' sums that an integer normalization reads. Inputs x, W, R, bias, h, c, then peepholes, the normalization's
// factors and offsets, projection, its bias (each may be absent); outputs y, the last h, the last c. Integers: W and R
// have one scale for each gate; peepholes and factors are real or int16 (one scale for each gate), offsets real or
// int32.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "converter/base/saturate.h"
#include "converter/ir/constants.h"
#include "converter/ir/op_def.h"
#include "converter/ir/size_limits.h"
#include "converter/ops/contraction.h"
#include "converter/ops/int16_functions.h"
#include "converter/ops/quantized_params.h"
#include "converter/ops/recurrent.h"

namespace takt::ir {
namespace {

constexpr size_t kPeepholes = 6, kFactors = 7, kOffsets = 8, kProjection = 9, kProjectionBias = 10;

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
  for (const size_t i : {kPeepholes, kFactors, kOffsets}) {
    const DataType stored = i == kOffsets ? DataType::kInt32 : DataType::kInt16;
    if (!Has(node, i) || type(i) == DataType::kFloat32) continue;
    if (type(i) != stored) return "peepholes and factors must be float32 or int16, offsets float32 or int32";
    if (!graph.tensor(node.inputs[i]).quantization) return "integer peepholes and normalization have a quantization";
  }
  if (Has(node, kProjection) && type(kProjection) != DataType::kInt8) return "projection must be int8";
  return "";
}

std::string Infer(const Graph& graph, const Node& node, std::vector<TensorType>& outputs) {
  const Tensor &x = graph.tensor(node.inputs[0]), &h = graph.tensor(node.inputs[4]), &c = graph.tensor(node.inputs[5]);
  std::string error = CheckTypes(graph, node);
  if (!error.empty()) return error;
  if (c.dims.size() != 2) return "cell state " + DimsText(c.dims) + " is not [B, C]";
  const int32_t cells = c.dims[1], rows = Dim(int64_t{cells} * (IsCoupled(node) ? 3 : 4));
  error = CheckSequence(graph, node, rows);
  if (!error.empty()) return error;
  if (Has(node, kProjection) != Has(node, kProjectionBias)) return "a projection and its bias come together";
  if (Has(node, kFactors) != Has(node, kOffsets)) return "a normalization's factors and offsets come together";
  for (const size_t i : {kPeepholes, kFactors, kOffsets})
    if (Has(node, i) && !graph.tensor(node.inputs[i]).is_constant()) return "peepholes and normalization are constants";
  const std::pair<size_t, std::vector<int32_t>> expected[] = {
      {5, {h.dims[0], Has(node, kProjection) ? cells : h.dims[1]}},
      {kPeepholes, {3, cells}},
      {kFactors, {rows}},
      {kOffsets, {rows}},
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

/// More than TFLite Micro's cell.
bool IsExtended(const Node& node) {
  return IsCoupled(node) || Has(node, kPeepholes) || Has(node, kFactors) || Has(node, kProjection);
}

/// The stages of one integer lstm.
class Stages {
 public:
  explicit Stages(backend::StepBuilder& step)
      : step_(step), node_(step.node()), full_(IsTflite() && IsExtended(node_)) {}

  void Fill();
  /// The scale of what is projected, or of y.
  float HiddenScale() const {
    return Has(node_, kProjection) ? static_cast<float>(node_.FloatOr("hidden_scale", 0)) : ScaleOf(Y());
  }

  std::array<schema::Rescale, 4> input, recurrent, normalization;
  std::array<schema::Rescale, 3> peephole;
  std::array<int32_t, 4> guards = {};
  schema::Rescale forget, update, function, hidden, projection;

 private:
  bool IsTflite() const { return step_.numerics() == Numerics::kTflite; }
  const Tensor& Y() const { return step_.tensor(node_.outputs[0]); }
  size_t first() const { return IsCoupled(node_) ? 1 : 0; }
  /// Units of a gate's sum under tflite.
  float Unit(size_t gate) const {
    return Has(node_, kFactors)
               ? static_cast<float>(std::get<std::vector<double>>(node_.attributes.at("gate_scales"))[gate - first()])
               : 0x1p-12f;
  }
  std::array<schema::Rescale, 4> Gates(TensorId x, TensorId weights);
  schema::Rescale Stage(double from, double to) const;
  schema::Rescale Function(float scale);
  void FillFull();

  backend::StepBuilder& step_;
  const Node node_;
  const bool full_;  ///< TFLite's kernel with all parts, whose scales are float.
};

/// Of the products of operand `x` with each gate's rows of `weights`.
std::array<schema::Rescale, 4> Stages::Gates(TensorId x, TensorId weights) {
  std::array<schema::Rescale, 4> stages;
  const std::vector<float>& scales = step_.tensor(weights).quantization->scales;
  const size_t rows = static_cast<size_t>(step_.tensor(weights).dims[0]) / (4 - first());
  for (size_t g = first(); g < 4; ++g) {
    const size_t row = scales.size() == 1 ? 0 : (g - first()) * rows;
    for (size_t i = 1; scales.size() > 1 && i < rows; ++i) {
      if (scales[row + i] == scales[row]) continue;
      step_.Error("its weights have scales per channel; one for each gate is allowed", weights);
      return stages;
    }
    const float product = ScaleOf(step_.tensor(x)) * scales[row];
    stages[g] = Stage(static_cast<double>(IsTflite() ? product / Unit(g) : product), 1.0);
  }
  return stages;
}

/// From products of scale `from` to values of scale `to`.
schema::Rescale Stages::Stage(double from, double to) const {
  if (!IsTflite()) return {static_cast<float>(from / to), 0, 0};
  const FixedMultiplier fixed =
      QuantizeMultiplier(full_ ? static_cast<double>(static_cast<float>(from / to)) : from / to);
  return {0, fixed.multiplier, fixed.shift};
}

/// From c to the units of the table of logistic: TFLite knows powers of two only.
schema::Rescale Stages::Function(float scale) {
  if (!IsTflite()) return {scale * 12288.0f, 0, 0};
  const int power = std::ilogb(scale) + 12;
  if (scale != std::ldexp(1.0f, power - 12) || power > 13 || power < -30)
    step_.Error("TFLite's integer kernel has a cell state whose scale is a power of two", node_.inputs[5]);
  return {0, power > 0 ? 3 << std::min(power, 13) : 3, std::clamp(-power, 0, 30)};
}

/// What TFLite's kernel with all parts has of its own: shifts around c, peepholes and normalization.
void Stages::FillFull() {
  const float scale = ScaleOf(step_.tensor(node_.inputs[5]));
  const int power = std::ilogb(scale);
  if (scale != std::ldexp(1.0f, power) || power < -15 || power > -9)
    return step_.Error("TFLite's integer kernel has a cell state whose scale is a power of two, 2^-15 to 2^-9",
                       node_.inputs[5]);
  forget = {0, 0, 15}, update = {0, 0, 30 + power}, function = {0, 0, 15 + power};
  for (size_t g = first(); g < 4; ++g) {
    if (Has(node_, kFactors)) {
      const Quantization& of = *step_.tensor(node_.inputs[kFactors]).quantization;
      const float factor = of.scales[of.scales.size() / (4 - first()) * (g - first())];
      normalization[g] = Stage(static_cast<double>(factor), 1.0);
      normalization[g].mutate_shift(normalization[g].shift() + 12);
      guards[g] = std::max(1, Saturated<int32_t>(static_cast<double>(10000.0f * factor)));
    }
    if (!Has(node_, kPeepholes) || g == 2) continue;
    const size_t which = g == 3 ? 2 : g;
    const float factor = step_.tensor(node_.inputs[kPeepholes]).quantization->scales[which];
    peephole[which] = Stage(static_cast<double>(scale) * static_cast<double>(factor), static_cast<double>(Unit(g)));
  }
}

void Stages::Fill() {
  const float c = ScaleOf(step_.tensor(node_.inputs[5])), y = ScaleOf(Y()), h = HiddenScale();
  input = Gates(node_.inputs[0], node_.inputs[1]);
  recurrent = Gates(node_.inputs[4], node_.inputs[2]);
  if (full_) {
    FillFull();
  } else {
    forget = Stage(0x1p-15, 1);
    update = Stage(0x1p-30, static_cast<double>(c));
    function = Function(c);
  }
  hidden = Stage(0x1p-30, static_cast<double>(h));
  if (!Has(node_, kProjection)) return;
  const float weights = ScaleOf(step_.tensor(node_.inputs[kProjection]));
  projection = full_ ? Stage(static_cast<double>(weights * h / y), 1)
                     : Stage(static_cast<double>(h) * static_cast<double>(weights), static_cast<double>(y));
}

/// What TFLite's kernel with all parts asks.
std::string CheckFull(backend::StepBuilder& step, const Node& node) {
  if (step.tensor(node.inputs[0]).type != DataType::kInt8)
    return "int16 activations with coupled gates, peepholes, normalization or a projection are not among TFLite's "
           "kernels; convert with the default numerics";
  if (Has(node, kPeepholes) && step.tensor(node.inputs[4]).dims != step.tensor(node.inputs[5]).dims)
    return "TFLite's kernel takes peepholes for as many cells as there are outputs; convert with the default numerics";
  for (const size_t i : {kPeepholes, kFactors, kOffsets}) {
    if (!Has(node, i)) continue;
    const Tensor& t = step.tensor(node.inputs[i]);
    if (t.type == DataType::kFloat32)
      return "TFLite's integer kernel has quantized peepholes and normalization; convert with the default numerics";
  }
  if (Has(node, kFactors) && node.attributes.count("gate_scales") == 0)
    return "lacks the scales of its gates' sums (intermediates); quantize the model again";
  return "";
}

/// What an integer lstm asks beyond the shape rule.
bool CheckInteger(backend::StepBuilder& step, const Node& node) {
  if (!CheckQuantized(step)) return false;
  const auto bad = [&](const std::string& message, size_t input) {
    step.Error(message, node.inputs[input]);
    return false;
  };
  if (!SameQuantization(step.tensor(node.inputs[4]), step.tensor(node.outputs[0])))
    return bad("its hidden state and its output must have one quantization", 4);
  for (const size_t i : {size_t{1}, size_t{2}, size_t{5}, kProjection})
    if (Has(node, i) && ZeroPointOf(step.tensor(node.inputs[i])) != 0)
      return bad("its weights and cell state have zero point 0; quantize the model so", i);
  if (step.numerics() == Numerics::kTflite && IsExtended(node)) {
    const std::string reason = CheckFull(step, node);
    if (!reason.empty()) return bad(reason, 0);
  }
  for (const char* key : {"candidate_function", "cell_function"})
    if (node.StringOr(key, "tanh") != "tanh") return bad("an integer lstm has the activation tanh", 0);
  if (!Has(node, kProjection)) return true;
  if (!(node.FloatOr("hidden_scale", 0) > 0))
    return bad("lacks the scale of what its projection reads; quantize the model again", kProjection);
  if (step.tensor(node.inputs[0]).type == DataType::kInt16 && node.IntOr("hidden_zero_point", 0) != 0)
    return bad("int16 values have zero point 0; what its projection reads has another", kProjection);
  return true;
}

/// Constants of `ids`, one behind another, as the step has them: stored ones under tflite, else real ones times
/// `scale`.
TensorId Refinement(backend::StepBuilder& step, const char* name, std::vector<int32_t> dims,
                    const std::vector<TensorId>& ids, float scale) {
  std::vector<float> real;
  std::vector<int32_t> stored;
  for (const TensorId id : ids) {
    const Tensor& t = step.tensor(id);
    if (step.numerics() == Numerics::kTflite && t.type != DataType::kFloat32) {
      const auto values = IntegerValues(t);
      for (const int64_t v : *values) stored.push_back(static_cast<int32_t>(v));
    } else {
      const auto values = RealValues(t);
      for (const float v : *values) real.push_back(v * scale);
    }
  }
  return stored.empty() ? step.Constant(name, DataType::kFloat32, std::move(dims), real)
                        : step.Constant(name, DataType::kInt32, std::move(dims), stored);
}

/// The plan's operands: biases widened, the table behind c, peepholes for c as it is stored; empty after an error.
std::vector<TensorId> PlanInputs(backend::StepBuilder& step, const Node& node) {
  std::vector<TensorId> inputs(node.inputs.begin(), node.inputs.begin() + 6);
  const DataType type = step.tensor(inputs[0]).type;
  const bool is_integer = IsInteger(type), wide = type == DataType::kInt16;
  if (is_integer) {
    if (wide) inputs[3] = WideBias(step, inputs[3]);
    inputs.push_back(LogisticTable(step));
    if (inputs[3] == kNoTensor || inputs[6] == kNoTensor) return {};
  }
  const Tensor c = step.tensor(node.inputs[5]);
  const int32_t rows = c.dims[1] * (IsCoupled(node) ? 3 : 4);
  if (Has(node, kPeepholes))
    inputs.push_back(
        Refinement(step, "peepholes", {3, c.dims[1]}, {node.inputs[kPeepholes]}, is_integer ? ScaleOf(c) : 1.0f));
  if (Has(node, kFactors))
    inputs.push_back(
        Refinement(step, "normalization", {2, rows}, {node.inputs[kFactors], node.inputs[kOffsets]}, 1.0f));
  if (Has(node, kProjection)) {
    inputs.push_back(node.inputs[kProjection]);
    inputs.push_back(wide ? WideBias(step, node.inputs[kProjectionBias]) : node.inputs[kProjectionBias]);
  }
  return inputs;
}

/// Bounds of c or y: TFLite cuts the stored bound.
schema::Clamp StoredClip(const backend::StepBuilder& step, const Node& node, const char* key, const Tensor& tensor) {
  const schema::Clamp real = ClipOf(node, key);
  if (!IsInteger(tensor.type) || node.FloatOr(key, 0) <= 0 || step.numerics() != Numerics::kTflite)
    return StoredClamp(static_cast<double>(real.min()), static_cast<double>(real.max()), tensor);
  const double most = tensor.type == DataType::kInt8 ? 127.0 : 32767.0;
  const double bound =
      std::trunc(std::min(static_cast<double>(real.max()) / static_cast<double>(ScaleOf(tensor)), most));
  return {static_cast<float>(-bound), static_cast<float>(bound)};
}

void Lower(const Node&, backend::StepBuilder& step) {
  const Node node = step.node();
  const Tensor x = step.tensor(node.inputs[0]), c = step.tensor(node.inputs[5]), y = step.tensor(node.outputs[0]);
  if (IsInteger(x.type) && !CheckInteger(step, node)) return;
  Stages stages(step);
  if (IsInteger(x.type)) stages.Fill();
  auto hidden_zero_point = static_cast<int32_t>(node.IntOr("hidden_zero_point", ZeroPointOf(y)));
  // TFLite's kernel subtracts this zero point where it quantizes, and adds it where the projection takes it off.
  if (step.numerics() == Numerics::kTflite) hidden_zero_point = -hidden_zero_point;
  if (!Has(node, kProjection)) hidden_zero_point = ZeroPointOf(y);
  const std::vector<TensorId> inputs = PlanInputs(step, node);
  if (inputs.empty()) return;
  const schema::LstmParams params(
      stages.input, stages.recurrent, stages.peephole, stages.normalization, stages.guards, stages.forget,
      stages.update, stages.function, stages.hidden, stages.projection, ClipOf(node, "clip"),
      StoredClip(step, node, "cell_clip", c), StoredClip(step, node, "projection_clip", y),
      static_cast<int16_t>(ZeroPointOf(x)), static_cast<int16_t>(hidden_zero_point),
      static_cast<int16_t>(ZeroPointOf(y)), GateFunctionOf(node, "gate_function", "logistic"),
      GateFunctionOf(node, "candidate_function", "tanh"), GateFunctionOf(node, "cell_function", "tanh"),
      IsCoupled(node), Has(node, kPeepholes), Has(node, kFactors), Has(node, kProjection),
      node.IntOr("batch_major", 0) != 0, node.IntOr("reverse", 0) != 0, 0);
  step.Set(Op::kLstm, StepNumerics(step, node.inputs[0]), params, inputs, node.outputs);
}

constexpr AttributeRule kAttributes[] = {
    {"gate_function", AttributeKind::kString, false},  {"candidate_function", AttributeKind::kString, false},
    {"cell_function", AttributeKind::kString, false},  {"clip", AttributeKind::kFloat, false},
    {"cell_clip", AttributeKind::kFloat, false},       {"projection_clip", AttributeKind::kFloat, false},
    {"coupled", AttributeKind::kInt, false},           {"batch_major", AttributeKind::kInt, false},
    {"reverse", AttributeKind::kInt, false},           {"hidden_scale", AttributeKind::kFloat, false},
    {"hidden_zero_point", AttributeKind::kInt, false}, {"gate_scales", AttributeKind::kFloats, false}};
constexpr TfliteImport kTflite[] = {{16, "LSTM", ImportLstm},
                                    {44, "UNIDIRECTIONAL_SEQUENCE_LSTM", ImportSequenceLstm},
                                    {52, "BIDIRECTIONAL_SEQUENCE_LSTM", ImportBidirectionalLstm}};
constexpr OnnxImport kOnnx[] = {{"LSTM", 1, ImportOnnxLstm}};

}  // namespace

extern const OpDef kLstmDef;
const OpDef kLstmDef = {Op::kLstm, kAttributes, Infer, Lower, kTflite, NpuClass::kNone, kOnnx};

}  // namespace takt::ir
