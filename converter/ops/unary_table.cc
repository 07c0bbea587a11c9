#include "converter/ops/unary_table.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>

#include "converter/ops/quantized_params.h"
#include "engine/base/fixed_point.h"
#include "ports/reference/unary.h"

namespace takt::ir {
namespace {

using schema::UnaryFunction;

/// Stored result of a stored operand less its zero point.
using Entry = std::function<int32_t(int32_t)>;

/// logistic and tanh: the operand goes to Q4, the function to Q0, which is rounded to `bits` of fraction. Operands of
/// 15 and more saturate.
Entry SigmoidTflite(int32_t (*function)(int32_t, int), float in_scale, int bits, int32_t zero_point) {
  const FixedMultiplier m = QuantizeMultiplier(static_cast<double>(in_scale * static_cast<float>(1 << 27)));
  const auto radius = static_cast<int32_t>(std::min(std::floor(std::ldexp(15.0, 27 - m.shift)), 256.0));
  return [=](int32_t x) {
    if (x <= -radius) return -128;
    if (x >= radius) return 127;
    const int32_t q0 = function(MultiplyTflite(static_cast<uint32_t>(x), m.multiplier, m.shift), 4);
    return RoundingDivideByPowerOfTwo(q0, 31 - bits) + zero_point;
  };
}

Entry LeakyReluTflite(float in_scale, float alpha, const Tensor& output) {
  const FixedMultiplier identity = QuantizeMultiplier(static_cast<double>(in_scale / ScaleOf(output)));
  const FixedMultiplier slope = QuantizeMultiplier(static_cast<double>(in_scale * alpha / ScaleOf(output)));
  return [=, zero_point = ZeroPointOf(output)](int32_t x) {
    const FixedMultiplier& m = x >= 0 ? identity : slope;
    return MultiplyTflite(static_cast<uint32_t>(x), m.multiplier, m.shift) + zero_point;
  };
}

// 16-bit arithmetic of hard_swish.
int32_t Saturate16(int32_t v) {
  return std::clamp(v, -32768, 32767);
}
int32_t HighMul16(int32_t a, int32_t b) {
  const int32_t product = a * b;
  return Saturate16((product + (product >= 0 ? 1 << 14 : 1 - (1 << 14))) / (1 << 15));
}
int32_t Upper16(int32_t multiplier) {
  return std::min((multiplier >> 16) + ((multiplier >> 15) & 1), 32767);
}

/// x * relu6(x + 3) / 6: the operand times 2^7 at the output's scale, times a gate in Q15 that goes from 0 at -3 to 1
/// at 3.
Entry HardSwishTflite(float in_scale, const Tensor& output) {
  const float fine_scale = 1.0f / 128.0f * in_scale;
  const FixedMultiplier out = QuantizeMultiplier(static_cast<double>(fine_scale / ScaleOf(output)));
  const FixedMultiplier gate = QuantizeMultiplier(static_cast<double>(fine_scale / (3.0f / 32768.0f)));
  if (out.shift > 0) return nullptr;
  return [=, zero_point = ZeroPointOf(output)](int32_t x) {
    const int32_t fine = x * 128;
    int32_t g = gate.shift > 0 ? Saturate16(fixed_point::ShiftLeft(fine, gate.shift - 1)) : fine;
    g = HighMul16(g, Upper16(gate.multiplier));
    if (gate.shift > 0) g = Saturate16(g * 2);
    if (gate.shift < 0) g = RoundingDivideByPowerOfTwo(g, -gate.shift);
    g = (g + (1 << 15)) >> 1;
    const int32_t product = g * HighMul16(fine, Upper16(out.multiplier)) / (1 << 15);
    return RoundingDivideByPowerOfTwo(product, -out.shift) + zero_point;
  };
}

Entry AbsTflite(float in_scale, const Tensor& output) {
  const bool same = in_scale == ScaleOf(output);
  const FixedMultiplier m = QuantizeMultiplier(static_cast<double>(in_scale / ScaleOf(output)));
  return [=, zero_point = ZeroPointOf(output)](int32_t x) {
    const int32_t magnitude = std::abs(x);
    return zero_point + (same ? magnitude : MultiplyTflite(static_cast<uint32_t>(magnitude), m.multiplier, m.shift));
  };
}

/// 0, and what is below, give the largest value.
Entry RsqrtTflite(float in_scale, const Tensor& output) {
  constexpr int kFraction = 20;
  const FixedMultiplier out = QuantizeMultiplier(1.0 / static_cast<double>(std::sqrt(in_scale) * ScaleOf(output)));
  return [=, zero_point = ZeroPointOf(output)](int32_t x) {
    if (x <= 0) return 127;
    const fixed_point::Scaled root = fixed_point::InverseSquareRoot(x);
    const int32_t fixed = MultiplyTflite(uint32_t{1}, root.multiplier, root.shift + kFraction);
    return MultiplyTflite(static_cast<uint32_t>(fixed), out.multiplier, out.shift - kFraction) + zero_point;
  };
}

/// Those of which TFLite rounds the float function, and those of which it has no int8 form.
bool HasFloatTableInTflite(UnaryFunction f) {
  using enum UnaryFunction;
  return f != logistic && f != tanh && f != leaky_relu && f != hard_swish && f != abs && f != rsqrt;
}

/// Nothing after an error.
Entry TfliteEntry(backend::StepBuilder& step, UnaryFunction function, double alpha) {
  const Tensor& output = step.tensor(step.node().outputs[0]);
  const float in_scale = ScaleOf(step.tensor(step.node().inputs[0]));
  Entry entry;
  if (function == UnaryFunction::logistic || function == UnaryFunction::tanh) {
    const bool logistic = function == UnaryFunction::logistic;
    const int bits = logistic ? 8 : 7;
    if (ScaleOf(output) != std::ldexp(1.0f, -bits) || ZeroPointOf(output) != (logistic ? -128 : 0)) {
      step.Error(logistic ? "an int8 logistic has output scale 1/256 and zero point -128 under tflite"
                          : "an int8 tanh has output scale 1/128 and zero point 0 under tflite");
      return nullptr;
    }
    return SigmoidTflite(logistic ? fixed_point::Logistic<int32_t> : fixed_point::Tanh<int32_t>, in_scale, bits,
                         ZeroPointOf(output));
  }
  if (function == UnaryFunction::leaky_relu) return LeakyReluTflite(in_scale, static_cast<float>(alpha), output);
  if (function == UnaryFunction::abs) return AbsTflite(in_scale, output);
  if (function == UnaryFunction::rsqrt) return RsqrtTflite(in_scale, output);
  if (function == UnaryFunction::hard_swish) entry = HardSwishTflite(in_scale, output);
  if (!entry)
    step.Error("has no rule under tflite for this function or these scales; convert with the default numerics");
  return entry;
}

}  // namespace

std::vector<int8_t> UnaryTable(backend::StepBuilder& step, UnaryFunction function, double alpha) {
  const Tensor& input = step.tensor(step.node().inputs[0]);
  const Tensor& output = step.tensor(step.node().outputs[0]);
  Entry entry;
  if (step.numerics() == Numerics::kTflite && !HasFloatTableInTflite(function)) {
    entry = TfliteEntry(step, function, alpha);
    if (!entry) return {};
  }
  std::vector<int8_t> table;
  for (int32_t q = -128; q < 128; ++q) {
    const int32_t x = q - ZeroPointOf(input);
    double stored = 0;
    if (entry) {
      stored = entry(x);
    } else {
      const double y = reference::EvaluateUnary(function, static_cast<double>(ScaleOf(input)) * x, alpha);
      const double real = std::isnan(y) ? 0.0 : y / static_cast<double>(ScaleOf(output));
      const auto rounded = RoundComputed(std::clamp(real + ZeroPointOf(output), -129.0, 128.0));
      if (!rounded) {
        step.Error("entry " + std::to_string(q) +
                   " of its table is too close to a rounding tie to be the same on every "
                   "host; change the output's scale by its last bit");
        return {};
      }
      stored = *rounded;
    }
    table.push_back(static_cast<int8_t>(std::clamp(stored, -128.0, 127.0)));
  }
  return table;
}

}  // namespace takt::ir
