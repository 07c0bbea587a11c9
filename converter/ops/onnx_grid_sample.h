// ONNX's GridSample: pixels at places that data names.
#ifndef TAKT_CONVERTER_OPS_ONNX_GRID_SAMPLE_H_
#define TAKT_CONVERTER_OPS_ONNX_GRID_SAMPLE_H_

#include "converter/frontend/onnx_node.h"

namespace takt::ir {

void ImportOnnxGridSample(frontend::OnnxNode& node);

}  // namespace takt::ir

#endif  // TAKT_CONVERTER_OPS_ONNX_GRID_SAMPLE_H_
