// leaky_relu, sigmoid_table: steps that unary nodes on int16 become (leaky_relu: abs too); no graph has such nodes.
#include "converter/ops/int16_functions.h"

#include <algorithm>
#include <cmath>

#include "converter/ir/op_def.h"
#include "converter/ops/quantized_params.h"
#include "converter/ops/shape_rules.h"
#include "ports/reference/unary.h"

namespace takt::ir {
namespace {

/// Alpha -1 makes it the absolute value.
void LowerLeakyRelu(backend::StepBuilder& step, double alpha) {
  const Node node = step.node();
  const float in = ScaleOf(step.tensor(node.inputs[0]));
  const Tensor& output = step.tensor(node.outputs[0]);
  if (!(alpha >= 0 || alpha == -1)) return step.Error("a leaky relu on int16 has alpha >= 0");
  const float positive = in / ScaleOf(output);
  const float sign = alpha < 0 ? -1.0f : 1.0f, negative = in * static_cast<float>(std::fabs(alpha)) / ScaleOf(output);
  if (step.numerics() == Numerics::kTflite) {
    const FixedMultiplier p = QuantizeMultiplier(static_cast<double>(positive));
    const FixedMultiplier n = QuantizeMultiplier(static_cast<double>(negative));
    const schema::LeakyReluParams params(StoredClamp("none", output), 0, 0, p.multiplier, p.shift,
                                         alpha < 0 ? -n.multiplier : n.multiplier, n.shift);
    return step.Set(Op::kLeakyRelu, Numerics::kTflite, params, node.inputs, node.outputs);
  }
  const schema::LeakyReluParams params(StoredClamp("none", output), CheckedScale(positive, step),
                                       sign * CheckedScale(negative, step), 0, 0, 0, 0);
  step.Set(Op::kLeakyRelu, Numerics::kFp32Rne, params, node.inputs, node.outputs);
}

/// x in units of 1 / 12288 = 1 / (3 * 2^12): a multiplier of 15 bits, or exactly 3 or 6 for TFLite's powers of two.
schema::SigmoidTableParams SigmoidParams(double scale, schema::UnaryFunction function) {
  double multiplier = scale * 12288.0;
  int shift = 0;
  const bool exact = multiplier == 3.0 || (multiplier == 6.0 && function == schema::UnaryFunction::tanh);
  for (; !exact && multiplier <= 32767.0 / 2.0 && shift < 31; ++shift) multiplier *= 2.0;
  const uint8_t reserved[3] = {};
  return {static_cast<int32_t>(std::min(multiplier, 65535.0)), shift, function,
          flatbuffers::span<const uint8_t, 3>(reserved)};
}

void LowerSigmoid(backend::StepBuilder& step, schema::UnaryFunction function) {
  const Node node = step.node();
  const Tensor& output = step.tensor(node.outputs[0]);
  const schema::SigmoidTableParams params =
      SigmoidParams(static_cast<double>(ScaleOf(step.tensor(node.inputs[0]))), function);
  if (ScaleOf(output) != 1.0f / 32768)
    return step.Error("TFLite's int16 logistic and tanh have output scale 1/32768", node.outputs[0]);
  if (params.multiplier() > 32767)
    return step.Error("its input scale is above 2.66; TFLite's int16 logistic and tanh take smaller ones",
                      node.inputs[0]);
  const TensorId id = LogisticTable(step);
  if (id == kNoTensor) return;
  step.Set(Op::kSigmoidTable, Numerics::kTflite, params, {node.inputs[0], id}, node.outputs);
}

}  // namespace

TensorId LogisticTable(backend::StepBuilder& step) {
  const auto value = [](double i) { return 65536.0 / (1.0 + std::exp(-i / 24.0)); };
  const bool linear = step.numerics() == Numerics::kTflite;
  std::vector<int32_t> table;
  for (int i = 0; i < 256; ++i) {
    double exact = value(i);
    if (linear && i < 255) exact += (value(i + 0.5) - (value(i) + value(i + 1)) / 2) / 2;
    const auto entry = linear && i == 255 ? 65535.0 : RoundComputed(exact);
    if (!entry) {
      step.Error("a table entry is too close to a rounding tie to be the same on every host");
      return kNoTensor;
    }
    table.push_back(static_cast<int32_t>(std::min(*entry, 65535.0)));
  }
  return step.Constant("table", DataType::kInt32, {256}, table);
}

std::vector<int16_t> InterpolationTable(backend::StepBuilder& step, const std::function<double(double)>& value) {
  bool near_tie = false;
  const auto rounded = [&near_tie](double v) {
    const auto entry = RoundComputed(std::isnan(v) ? 0.0 : std::clamp(v, -65536.0, 65536.0));
    near_tie = near_tie || !entry;
    return entry.value_or(0);
  };
  std::vector<int16_t> table;
  for (int i = 0; i <= 512; ++i) {
    double entry = rounded(value(i / 512.0));
    if (i < 512) {
      const double middle = rounded((value((i + 1) / 512.0) + entry) / 2) - rounded(value((i + 0.5) / 512.0));
      entry -= std::round(middle / 2);
    }
    table.push_back(static_cast<int16_t>(std::clamp(entry, -32768.0, 32767.0)));
  }
  if (!near_tie) return table;
  step.Error("a table entry is too close to a rounding tie to be the same on every host");
  return {};
}

void LowerUnaryInt16(backend::StepBuilder& step, schema::UnaryFunction function, double alpha) {
  const Node node = step.node();
  if (!CheckQuantized(step)) return;
  if (function == schema::UnaryFunction::leaky_relu) return LowerLeakyRelu(step, alpha);
  if (function == schema::UnaryFunction::abs) return LowerLeakyRelu(step, -1);
  const bool sigmoid = function == schema::UnaryFunction::logistic || function == schema::UnaryFunction::tanh;
  if (sigmoid && step.numerics() == Numerics::kTflite) return LowerSigmoid(step, function);
  const auto in = static_cast<double>(ScaleOf(step.tensor(node.inputs[0])));
  const auto out = static_cast<double>(ScaleOf(step.tensor(node.outputs[0])));
  const std::vector<int16_t> table = InterpolationTable(
      step, [&](double at) { return reference::EvaluateUnary(function, (at - 0.5) * 65536 * in, alpha) / out; });
  if (table.empty()) return;
  const TensorId id = step.Constant("table", DataType::kInt16, {513}, table);
  step.Set(Op::kUnary, Numerics::kAny, schema::UnaryParams(static_cast<float>(alpha), function), {node.inputs[0], id},
           node.outputs);
}

extern const OpDef kLeakyReluDef;
extern const OpDef kSigmoidTableDef;
const OpDef kLeakyReluDef = {Op::kLeakyRelu, {}, InferAsInput, nullptr, {}, NpuClass::kNone};
const OpDef kSigmoidTableDef = {Op::kSigmoidTable, {}, InferAsInput, nullptr, {}, NpuClass::kNone};

}  // namespace takt::ir
