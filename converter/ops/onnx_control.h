// Import of ONNX's control flow.
#ifndef TAKT_CONVERTER_OPS_ONNX_CONTROL_H_
#define TAKT_CONVERTER_OPS_ONNX_CONTROL_H_

#include "converter/frontend/onnx_node.h"

namespace takt::ir {

/// A known condition leaves the nodes of its branch; another makes an `if`.
void ImportOnnxIf(frontend::OnnxNode& node);
/// The nodes of each trip, where the number of trips follows from constants and is small; otherwise a `while`.
void ImportOnnxLoop(frontend::OnnxNode& node);
/// A loop over the slices of its inputs (opset 9 on: without a batch).
void ImportOnnxScan(frontend::OnnxNode& node);

}  // namespace takt::ir

#endif  // TAKT_CONVERTER_OPS_ONNX_CONTROL_H_
