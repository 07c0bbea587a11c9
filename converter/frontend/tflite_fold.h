// What the importer need not leave to steps: arithmetic on shapes, tensors without elements.
#ifndef TAKT_CONVERTER_FRONTEND_TFLITE_FOLD_H_
#define TAKT_CONVERTER_FRONTEND_TFLITE_FOLD_H_

#include <cstddef>
#include <vector>

#include "converter/base/diagnostics.h"
#include "converter/ir/graph.h"

namespace takt::frontend {

/// Evaluates the nodes from `first_node` on that read constants alone and have small results without a scale, which
/// the operators behind may need when they are read (SHAPE, STRIDED_SLICE, PACK, RESHAPE).
void FoldPlainConstants(ir::Graph& graph, size_t first_node);

/// A DEQUANTIZE of a float16 constant, which is float32 already: `output` becomes that constant.
bool ForwardConstant(ir::Graph& graph, const std::vector<ir::TensorId>& inputs, ir::TensorId output);

/// Reports the nodes from `first_node` on that read a tensor without elements.
void ReportEmptyOperands(const ir::Graph& graph, size_t first_node, Diagnostics& diagnostics);

}  // namespace takt::frontend

#endif  // TAKT_CONVERTER_FRONTEND_TFLITE_FOLD_H_
