// Operators that are defined by other operators: by the ONNX standard, by functions in the model, or here.
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

/// Whether the standard's `opset`, the model or onnx_contrib.h has a body for `node`.
bool HasFunctionBody(const onnx::ModelProto& model, const onnx::NodeProto& node, int opset);

struct FunctionBody {
  google::protobuf::RepeatedPtrField<onnx::NodeProto> nodes;  ///< They see no values but the inputs.
  std::vector<std::string> inputs, outputs;                   ///< Names of the node's inputs and outputs in them.
  int opset = 0;                                              ///< Of these nodes.
};
/// The nodes that replace `node`, whose inputs have the given types (kNone: absent). Nothing if there is no body for
/// them.
std::optional<FunctionBody> ExpandFunction(const onnx::ModelProto& model, const onnx::NodeProto& node, int opset,
                                           const std::vector<ir::Tensor>& inputs);

}  // namespace takt::frontend

#endif  // TAKT_CONVERTER_FRONTEND_ONNX_FUNCTIONS_H_
