// ONNX's convolutions of one to three spatial dimensions.
#ifndef TAKT_CONVERTER_OPS_ONNX_CONV_H_
#define TAKT_CONVERTER_OPS_ONNX_CONV_H_

#include <optional>

#include "converter/frontend/onnx_node.h"
#include "converter/ops/window.h"

namespace takt::ir {

/// x and result [N, D.., C] (NHWC with H = 1 for one dimension), weights [O, I, K..], bias [O] or kNoTensor (zeros).
/// A convolution with one input channel in each group is depthwise.
TensorId EmitOnnxConv(frontend::OnnxNode& node, TensorId x, TensorId weights, TensorId bias, int64_t group,
                      const OnnxWindow& window);

/// The window of a convolution of input 0 with `weights`, in ONNX's order; reports shapes that do not fit the groups.
std::optional<OnnxWindow> ReadOnnxConvWindow(frontend::OnnxNode& node, TensorId weights, int64_t group);

void ImportOnnxConvTranspose(frontend::OnnxNode& node);

}  // namespace takt::ir

#endif  // TAKT_CONVERTER_OPS_ONNX_CONV_H_
