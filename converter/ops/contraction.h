// What convolutions and fully connected layers share: bias, operand checks, lowering of their operands.
#ifndef TAKT_CONVERTER_OPS_CONTRACTION_H_
#define TAKT_CONVERTER_OPS_CONTRACTION_H_

#include <string>
#include <vector>

#include "converter/backend/step_builder.h"
#include "converter/frontend/tflite_node.h"
#include "converter/ir/graph.h"

namespace takt::ir {

/// Input `index` of an operator, or a constant of zeros with one value for each output channel.
TensorId BiasOrZeros(frontend::TfliteNode& node, int index, int32_t channels);
/// Why the inputs x, weights, bias do not fit `channels` outputs; empty if they do.
std::string CheckContraction(const Graph& graph, const Node& node, int32_t channels);
/// The bias of an int16 contraction as int64 (int32 stays under tflite, whose arithmetic depends on it); kNoTensor
/// after an error.
TensorId WideBias(backend::StepBuilder& step, TensorId id);
/// x, weights, bias and, for integer steps, the requantization; empty after an error.
std::vector<TensorId> ContractionInputs(backend::StepBuilder& step, float output_scale, bool float_product);

}  // namespace takt::ir

#endif  // TAKT_CONVERTER_OPS_CONTRACTION_H_
