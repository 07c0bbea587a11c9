// TFLite operators that read each axis of their operand at cells known at conversion: gathers of constant indices.
#ifndef TAKT_CONVERTER_OPS_INDEX_MAP_H_
#define TAKT_CONVERTER_OPS_INDEX_MAP_H_

#include <cstdint>
#include <vector>

#include "converter/frontend/tflite_node.h"

namespace takt::ir {

/// Cell i of the output's axis is cell cells[i] of the input's.
struct AxisMap {
  size_t axis;
  std::vector<int32_t> cells;
};

/// `x` with each map applied, in order, as tensor `to` (kNoTensor: a new one); a note names the steps and the bytes
/// between them. Without maps `x` itself.
TensorId ApplyMaps(frontend::TfliteNode& node, TensorId x, const std::vector<AxisMap>& maps, TensorId to = kNoTensor);
/// Whether `times` times `cells` cells of an axis can be mapped: at least 1, and a constant that may be made.
bool MapFits(frontend::TfliteNode& node, size_t axis, int64_t cells, int64_t times = 1);

void ImportTile(frontend::TfliteNode& node);
void ImportMirrorPad(frontend::TfliteNode& node);
void ImportReverse(frontend::TfliteNode& node);
void ImportBroadcastTo(frontend::TfliteNode& node);

}  // namespace takt::ir

#endif  // TAKT_CONVERTER_OPS_INDEX_MAP_H_
