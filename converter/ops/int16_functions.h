// Functions of one int16 tensor: unary nodes become steps of several ops.
#ifndef TAKT_CONVERTER_OPS_INT16_FUNCTIONS_H_
#define TAKT_CONVERTER_OPS_INT16_FUNCTIONS_H_

#include <functional>
#include <vector>

#include "converter/backend/step_builder.h"
#include "schema/plan_generated.h"

namespace takt::ir {

/// Lowers a unary node on int16: leaky relu by two scales; TFLite's logistic and tanh by their table; all else, and
/// everything under fp32_rne, by 512 linear pieces.
void LowerUnaryInt16(backend::StepBuilder& step, schema::UnaryFunction function, double alpha);

/// int32[256] of 2^16 * logistic(i / 24); kNoTensor after an error. tflite, which interpolates linearly: each entry
/// more by half of what the line errs in the middle of its piece, the last one 65535.
TensorId LogisticTable(backend::StepBuilder& step);

/// 513 values of `value` (stored units) at i / 512, each less half of what the interpolation errs in the middle of its
/// piece; empty after an error.
std::vector<int16_t> InterpolationTable(backend::StepBuilder& step, const std::function<double(double)>& value);

}  // namespace takt::ir

#endif  // TAKT_CONVERTER_OPS_INT16_FUNCTIONS_H_
