// Import of ONNX's signal operators: products with constant matrices.
#ifndef TAKT_CONVERTER_OPS_ONNX_SIGNAL_H_
#define TAKT_CONVERTER_OPS_ONNX_SIGNAL_H_

#include "converter/frontend/onnx_node.h"

namespace takt::ir {

/// One product of each row with the matrix of the transform.
void ImportOnnxDft(frontend::OnnxNode& node);
/// A convolution whose kernels are the windowed rows of the transform, one pair for each frequency.
void ImportOnnxStft(frontend::OnnxNode& node);
/// A constant: its inputs are.
void ImportOnnxMelWeightMatrix(frontend::OnnxNode& node);

}  // namespace takt::ir

#endif  // TAKT_CONVERTER_OPS_ONNX_SIGNAL_H_
