// Tables of int8 functions of one operand.
#ifndef TAKT_CONVERTER_OPS_UNARY_TABLE_H_
#define TAKT_CONVERTER_OPS_UNARY_TABLE_H_

#include <cstdint>
#include <vector>

#include "converter/backend/step_builder.h"
#include "schema/plan_generated.h"

namespace takt::ir {

/// The stored result for each stored operand q, at q + 128, from the quantization of the step's input and output.
/// fp32_rne: correctly rounded. tflite: the fixed-point rules of its reference kernels for logistic, tanh, hard_swish
/// and leaky_relu; its float tables (elu, gelu, exp, log) correctly rounded; others are refused. Empty after an error.
std::vector<int8_t> UnaryTable(backend::StepBuilder& step, schema::UnaryFunction function, double alpha);

}  // namespace takt::ir

#endif  // TAKT_CONVERTER_OPS_UNARY_TABLE_H_
