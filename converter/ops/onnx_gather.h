// ONNX operators that read or write places which data names.
#ifndef TAKT_CONVERTER_OPS_ONNX_GATHER_H_
#define TAKT_CONVERTER_OPS_ONNX_GATHER_H_

#include "converter/frontend/onnx_node.h"

namespace takt::ir {

void ImportOnnxGather(frontend::OnnxNode& node);
void ImportOnnxGatherElements(frontend::OnnxNode& node);
void ImportOnnxOneHot(frontend::OnnxNode& node);
void ImportOnnxHardmax(frontend::OnnxNode& node);
void ImportOnnxGatherNd(frontend::OnnxNode& node);
void ImportOnnxScatterElements(frontend::OnnxNode& node);
void ImportOnnxScatterNd(frontend::OnnxNode& node);
void ImportOnnxMaxUnpool(frontend::OnnxNode& node);
void ImportOnnxTopK(frontend::OnnxNode& node);
void ImportOnnxReverseSequence(frontend::OnnxNode& node);

}  // namespace takt::ir

#endif  // TAKT_CONVERTER_OPS_ONNX_GATHER_H_
