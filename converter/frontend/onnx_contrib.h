// Operators of ONNX Runtime's own (domain com.microsoft, and those it puts among the standard's before they were in
// it), as its optimizer and quantizer write them, in terms of the standard's.
#ifndef TAKT_CONVERTER_FRONTEND_ONNX_CONTRIB_H_
#define TAKT_CONVERTER_FRONTEND_ONNX_CONTRIB_H_

#include <onnx/onnx_pb.h>

#include <optional>
#include <vector>

#include "converter/frontend/onnx_functions.h"
#include "converter/ir/graph.h"

namespace takt::frontend {

/// Whether `node` is one of them.
bool IsContrib(const onnx::NodeProto& node);

/// The nodes that replace it, whose inputs have the given types (kNone: absent); nothing if it has a form that they
/// cannot express.
std::optional<FunctionBody> ExpandContrib(const onnx::NodeProto& node, const std::vector<ir::Tensor>& inputs);

}  // namespace takt::frontend

#endif  // TAKT_CONVERTER_FRONTEND_ONNX_CONTRIB_H_
