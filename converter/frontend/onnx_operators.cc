#include "converter/frontend/onnx_operators.h"

#include <algorithm>
#include <set>

#include "converter/frontend/onnx_functions.h"

namespace takt::frontend {

std::string OnnxOperatorName(const std::string& domain, const std::string& op_type) {
  return IsStandardDomain(domain) ? op_type : domain + "." + op_type;
}

OnnxOperator FindOnnxOperator(const std::string& op_type, int opset) {
  OnnxOperator found;
  for (const ir::OpDef* def : ir::AllOpDefs()) {
    for (const ir::OnnxImport& row : def->onnx) {
      if (op_type != row.op_type || row.since > opset) continue;
      if (found.import == nullptr || row.since > found.import->since) found.import = &row;
    }
  }
  for (const OnnxFold& fold : OnnxFolds()) {
    if (op_type == fold.op_type) found.fold = &fold;
  }
  return found;
}

std::string WhyUnsupported(const std::string& op_type, int opset) {
  const OnnxOperator found = FindOnnxOperator(op_type, opset);
  if (found.import != nullptr || found.fold != nullptr) return "";
  const size_t dot = op_type.rfind('.');
  if (dot != std::string::npos)
    return "is an operator of domain '" + op_type.substr(0, dot) + "' that is not supported; export with standard ones";
  static const std::vector<std::string> all = OnnxOperators();  // Asked for each node of a file.
  const bool known = std::find(all.begin(), all.end(), op_type) != all.end();
  return "is not supported in opset " + std::to_string(opset) +
         (known ? "; export with a newer one" : "; replace it by operators that are");
}

bool TakesQuantized(const std::string& op_type) {
  static constexpr const char* kThatDo[] = {"DequantizeLinear",
                                            "QLinearConv",
                                            "QLinearMatMul",
                                            "MaxPool",
                                            "Reshape",
                                            "Flatten",
                                            "Squeeze",
                                            "Unsqueeze",
                                            "Transpose",
                                            "Concat",
                                            "Slice",
                                            "Split",
                                            "Gather",
                                            "Identity",
                                            "Dropout",
                                            "Expand",
                                            "Tile",
                                            "Resize",
                                            "Shape",
                                            "DepthToSpace",
                                            "SpaceToDepth",
                                            "Size",
                                            "Upsample",
                                            "Compress",
                                            "GatherElements"};
  return std::find(std::begin(kThatDo), std::end(kThatDo), op_type) != std::end(kThatDo);
}

std::vector<std::string> OnnxOperators() {
  std::set<std::string> names;
  for (const ir::OpDef* def : ir::AllOpDefs()) {
    for (const ir::OnnxImport& row : def->onnx) names.insert(row.op_type);
  }
  for (const OnnxFold& fold : OnnxFolds()) names.insert(fold.op_type);
  return {names.begin(), names.end()};
}

}  // namespace takt::frontend
