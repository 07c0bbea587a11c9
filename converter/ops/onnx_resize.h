// ONNX's Resize and Upsample: per axis a gather, a bilinear step or a product with a constant matrix.
#ifndef TAKT_CONVERTER_OPS_ONNX_RESIZE_H_
#define TAKT_CONVERTER_OPS_ONNX_RESIZE_H_

#include "converter/frontend/onnx_node.h"

namespace takt::ir {

void ImportOnnxUpsample(frontend::OnnxNode& node);
void ImportOnnxResize10(frontend::OnnxNode& node);
void ImportOnnxResize11(frontend::OnnxNode& node);

}  // namespace takt::ir

#endif  // TAKT_CONVERTER_OPS_ONNX_RESIZE_H_
