// Operators that are defined by other operators: by the ONNX standard, or by functions in the model.
#ifndef TAKT_CONVERTER_FRONTEND_ONNX_FUNCTIONS_H_
#define TAKT_CONVERTER_FRONTEND_ONNX_FUNCTIONS_H_

#include <onnx/onnx_pb.h>

#include <optional>
#include <string>
#include <vector>

#include "converter/ir/graph.h"

namespace takt::frontend {

/// Whether `domain` names the standard's operators.
inline bool IsStandardDomain(const std::string& domain) {
  return domain.empty() || domain == "ai.onnx";
}

/// Whether the standard's `opset` or the model has a body for `node`.
bool HasFunctionBody(const onnx::ModelProto& model, const onnx::NodeProto& node, int opset);

struct FunctionBody {
  std::vector<onnx::NodeProto> nodes;  ///< They read and write the node's values; those between begin with `prefix`.
  int opset = 0;                       ///< Of these nodes.
};
/// The nodes that replace `node`, whose inputs have the given types (kNone: absent). Nothing if there is no body for
/// them.
std::optional<FunctionBody> ExpandFunction(const onnx::ModelProto& model, const onnx::NodeProto& node, int opset,
                                           const std::vector<ir::Tensor>& inputs, const std::string& prefix);

}  // namespace takt::frontend

#endif  // TAKT_CONVERTER_FRONTEND_ONNX_FUNCTIONS_H_
