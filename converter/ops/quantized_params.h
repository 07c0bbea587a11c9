// Integer parameters of quantized steps: multipliers, scales and activation ranges, for both numerics.
#ifndef TAKT_CONVERTER_OPS_QUANTIZED_PARAMS_H_
#define TAKT_CONVERTER_OPS_QUANTIZED_PARAMS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "converter/backend/step_builder.h"
#include "converter/ir/graph.h"
#include "schema/plan_generated.h"

namespace takt::ir {

/// value * 2^(shift - 31); positive shifts go left.
struct FixedMultiplier {
  int32_t multiplier = 0;
  int32_t shift = 0;
};

/// TFLite's decomposition: 31 bits rounded half away from zero; 0 if below 2^-32.
FixedMultiplier QuantizeMultiplier(double real);

/// First scale and zero point; 0 and 0 if the tensor has none.
float ScaleOf(const Tensor& tensor);
int32_t ZeroPointOf(const Tensor& tensor);
bool SameQuantization(const Tensor& a, const Tensor& b);
bool IsInteger(DataType type);

/// Stored value of a real one: round(value / scale) half away from zero, plus zero point; not clamped.
int32_t StoredValue(double value, const Tensor& tensor);
/// As StoredValue, clamped to the type's range.
int32_t SaturatedValue(double value, const Tensor& tensor);
/// Nearest integer, ties to even, of a value computed with libm; nothing if the value is so close to a tie that the
/// last bits of another libm could round it elsewhere (an exact tie comes from exact arithmetic, not from libm).
std::optional<double> RoundComputed(double value);
/// Range of real values that an activation leaves.
void ActivationRange(const std::string& activation, double& min, double& max);
/// The stored range of an activation on `output` (the type's own for "none").
schema::Clamp StoredClamp(const std::string& activation, const Tensor& output);
/// The stored range of real bounds.
schema::Clamp StoredClamp(double min, double max, const Tensor& output);

/// The step's fp32_rne scale in range [2^-32, 256); reports the remedy if it is larger.
float CheckedScale(float scale, backend::StepBuilder& step);
/// Reports an error and gives false unless every integer tensor among the node's operands has a quantization.
bool CheckQuantized(backend::StepBuilder& step);
/// The requantization operand of a contraction: [O] float for fp32_rne, [O, 2] multiplier and shift for tflite.
/// `float_product`: input and weight scale are multiplied in float first (TFLite's per-tensor fully connected).
TensorId ContractionRequantization(backend::StepBuilder& step, const Tensor& output, bool float_product);
/// As above with the output's scale given.
TensorId ContractionRequantization(backend::StepBuilder& step, float output_scale, bool float_product);

/// Params of add and subtract over a (scale, zero point) and b.
struct ScaleZero {
  float scale;
  int32_t zero_point;
};
schema::AddParams MakeAddParams(backend::StepBuilder& step, ScaleZero a, ScaleZero b, const Tensor& output,
                                const std::string& activation, bool subtract);

/// The numerics tag of a step: the conversion's if the tensor is integer, else kAny.
Numerics StepNumerics(const backend::StepBuilder& step, TensorId tensor);

}  // namespace takt::ir

#endif  // TAKT_CONVERTER_OPS_QUANTIZED_PARAMS_H_
