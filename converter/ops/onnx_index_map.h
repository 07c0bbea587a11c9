// ONNX operators that read each axis of their operand at cells known at conversion: gathers of constant indices.
#ifndef TAKT_CONVERTER_OPS_ONNX_INDEX_MAP_H_
#define TAKT_CONVERTER_OPS_ONNX_INDEX_MAP_H_

#include <vector>

#include "converter/frontend/onnx_node.h"
#include "converter/ops/index_map.h"

namespace takt::ir {

/// `x` with each map applied, in order; an axis that would not change is passed over.
TensorId ApplyOnnxMaps(frontend::OnnxNode& node, TensorId x, const std::vector<AxisMap>& maps);

/// The standard's slice of one axis, each axis at most once: negative bounds count from the end, what is outside is cut
/// off, and steps may be negative.
struct OnnxRange {
  size_t axis;
  int64_t start, end, step;
};
TensorId SliceOnnx(frontend::OnnxNode& node, TensorId x, const std::vector<OnnxRange>& ranges);

/// Pads of mode "edge", "reflect" or "wrap".
TensorId PadOnnxByCells(frontend::OnnxNode& node, TensorId x, const std::vector<int64_t>& before,
                        const std::vector<int64_t>& after, const std::string& mode);

void ImportOnnxTile(frontend::OnnxNode& node);
void ImportOnnxExpand(frontend::OnnxNode& node);
void ImportOnnxCompress(frontend::OnnxNode& node);

}  // namespace takt::ir

#endif  // TAKT_CONVERTER_OPS_ONNX_INDEX_MAP_H_
