// Complex tensors of TFLite files: pairs of float32 along a last dimension of the graph's own.
#ifndef TAKT_CONVERTER_FRONTEND_TFLITE_COMPLEX_H_
#define TAKT_CONVERTER_FRONTEND_TFLITE_COMPLEX_H_

#include <string>

#include "converter/frontend/operator_order.h"
#include "converter/frontend/tflite_node.h"

namespace takt::frontend {

bool IsComplex(const tflite::SubGraph& subgraph, ir::TensorId id);

/// Whether the operator is done with, since it has complex operands that its import function knows nothing of: one that
/// changes dimensions alone becomes a reshape, others are errors.
bool HandleComplex(const tflite::SubGraph& subgraph, const std::string& name, const OperandIds& ids, TfliteNode& node);

}  // namespace takt::frontend

#endif  // TAKT_CONVERTER_FRONTEND_TFLITE_COMPLEX_H_
