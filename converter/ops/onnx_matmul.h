// Products of matrices in ONNX.
#ifndef TAKT_CONVERTER_OPS_ONNX_MATMUL_H_
#define TAKT_CONVERTER_OPS_ONNX_MATMUL_H_

#include "converter/frontend/onnx_node.h"

namespace takt::ir {

/// As numpy's matmul: fully connected where b is a matrix or vector, else a batched product.
TensorId EmitOnnxMatMul(frontend::OnnxNode& node, TensorId a, TensorId b);

void ImportOnnxMatMul(frontend::OnnxNode& node);
void ImportOnnxEinsum(frontend::OnnxNode& node);

}  // namespace takt::ir

#endif  // TAKT_CONVERTER_OPS_ONNX_MATMUL_H_
