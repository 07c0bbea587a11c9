// Which function reads an ONNX operator.
#ifndef TAKT_CONVERTER_FRONTEND_ONNX_OPERATORS_H_
#define TAKT_CONVERTER_FRONTEND_ONNX_OPERATORS_H_

#include <string>
#include <vector>

#include "converter/frontend/onnx_fold.h"
#include "converter/ir/op_def.h"

namespace takt::frontend {

struct OnnxOperator {
  const ir::OnnxImport* import =
      nullptr;                     ///< Of the rows of converter/ops, the newest that is not newer than the opset.
  const OnnxFold* fold = nullptr;  ///< Tried first.
};
/// As the rows name it: operators of other domains than the standard's with the domain before them.
std::string OnnxOperatorName(const std::string& domain, const std::string& op_type);
OnnxOperator FindOnnxOperator(const std::string& op_type, int opset);

/// Empty if the operator is read in `opset`; otherwise the reason and the remedy.
std::string WhyUnsupported(const std::string& op_type, int opset);

/// Whether the operator takes quantized tensors, whose stored values may differ from the file's by 128.
bool TakesQuantized(const std::string& op_type);

/// Every operator that has an import function or is evaluated, sorted.
std::vector<std::string> OnnxOperators();

}  // namespace takt::frontend

#endif  // TAKT_CONVERTER_FRONTEND_ONNX_OPERATORS_H_
