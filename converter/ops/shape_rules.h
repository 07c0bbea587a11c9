// Shape rules that several ops share (OpDef::infer).
#ifndef TAKT_CONVERTER_OPS_SHAPE_RULES_H_
#define TAKT_CONVERTER_OPS_SHAPE_RULES_H_

#include <string>
#include <vector>

#include "converter/ir/op_def.h"

namespace takt::ir {

/// The output is of input 0's type and shape.
std::string InferAsInput(const Graph& graph, const Node& node, std::vector<TensorType>& outputs);
/// The output is of `type`, and of the shape to which the inputs from `first` on broadcast; they are of one type.
std::string InferBroadcast(const Graph& graph, const Node& node, size_t first, DataType type,
                           std::vector<TensorType>& outputs);
/// The output is of input 0's type, and of the shape to which all inputs broadcast.
std::string InferBroadcastOfInputs(const Graph& graph, const Node& node, std::vector<TensorType>& outputs);

}  // namespace takt::ir

#endif  // TAKT_CONVERTER_OPS_SHAPE_RULES_H_
