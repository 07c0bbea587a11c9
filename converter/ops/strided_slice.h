// TFLite's STRIDED_SLICE as a slice of the graph.
#ifndef TAKT_CONVERTER_OPS_STRIDED_SLICE_H_
#define TAKT_CONVERTER_OPS_STRIDED_SLICE_H_

#include "converter/frontend/tflite_node.h"

namespace takt::ir {

/// All masks and negative indices are resolved; an axis walked backwards is a gather; ends given as offsets are errors.
void ImportStridedSlice(frontend::TfliteNode& node);

}  // namespace takt::ir

#endif  // TAKT_CONVERTER_OPS_STRIDED_SLICE_H_
