// Parts of a graph that depend on no input.
#ifndef TAKT_CONVERTER_FRONTEND_ONNX_EVALUATION_H_
#define TAKT_CONVERTER_FRONTEND_ONNX_EVALUATION_H_

#include <functional>
#include <optional>
#include <vector>

#include "converter/ir/graph.h"

namespace takt::frontend {

/// The outputs of a graph without inputs, or nothing if it can't be run.
using Evaluator = std::function<std::optional<std::vector<ir::Bytes>>(ir::Graph)>;

/// If the nodes from `first` on read only constants, they go, and those of `outputs` that they write become constants:
/// shapes and scales can be computed by any operator. Quantized tensors stay as they are.
void EvaluateNodes(ir::Graph& graph, size_t first, const std::vector<ir::TensorId>& outputs, const Evaluator& evaluate);

}  // namespace takt::frontend

#endif  // TAKT_CONVERTER_FRONTEND_ONNX_EVALUATION_H_
