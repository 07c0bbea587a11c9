// ONNX's quantized operators.
#ifndef TAKT_CONVERTER_OPS_ONNX_QUANTIZED_H_
#define TAKT_CONVERTER_OPS_ONNX_QUANTIZED_H_

#include "converter/frontend/onnx_node.h"

namespace takt::ir {

void ImportOnnxQuantize(frontend::OnnxNode& node);
void ImportOnnxDequantize(frontend::OnnxNode& node);
void ImportOnnxQLinearConv(frontend::OnnxNode& node);
void ImportOnnxQLinearMatMul(frontend::OnnxNode& node);
void ImportOnnxConvInteger(frontend::OnnxNode& node);
void ImportOnnxMatMulInteger(frontend::OnnxNode& node);

}  // namespace takt::ir

#endif  // TAKT_CONVERTER_OPS_ONNX_QUANTIZED_H_
