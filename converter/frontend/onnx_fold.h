// Arithmetic on shapes: integer operators whose operands are known when the model is read.
#ifndef TAKT_CONVERTER_FRONTEND_ONNX_FOLD_H_
#define TAKT_CONVERTER_FRONTEND_ONNX_FOLD_H_

#include <span>

#include "converter/frontend/onnx_node.h"

namespace onnx {
class NodeProto;
}

namespace takt::frontend {

/// An operator that can be evaluated, and whether it has done so: if it has, output 0 is a constant.
struct OnnxFold {
  const char* op_type;
  bool (*fold)(OnnxNode& node);
};
std::span<const OnnxFold> OnnxFolds();

}  // namespace takt::frontend

#endif  // TAKT_CONVERTER_FRONTEND_ONNX_FOLD_H_
