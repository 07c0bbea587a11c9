// TFLite's STRIDED_SLICE as a slice of the graph.
#ifndef TAKT_CONVERTER_OPS_STRIDED_SLICE_H_
#define TAKT_CONVERTER_OPS_STRIDED_SLICE_H_

#include "converter/frontend/tflite_node.h"

namespace takt::ir {

/// Begin, end and shrink-axis masks, negative indices and strides above 1 are resolved; negative strides, ellipsis and
/// new-axis masks are errors.
void ImportStridedSlice(frontend::TfliteNode& node);

}  // namespace takt::ir

#endif  // TAKT_CONVERTER_OPS_STRIDED_SLICE_H_
