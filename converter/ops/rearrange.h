// TFLite operators that move blocks of space to depth or batch and back: a transpose between two reshapes.
#ifndef TAKT_CONVERTER_OPS_REARRANGE_H_
#define TAKT_CONVERTER_OPS_REARRANGE_H_

#include "converter/frontend/tflite_node.h"

namespace takt::ir {

void ImportSpaceToDepth(frontend::TfliteNode& node);
void ImportDepthToSpace(frontend::TfliteNode& node);
void ImportSpaceToBatch(frontend::TfliteNode& node);
void ImportBatchToSpace(frontend::TfliteNode& node);

}  // namespace takt::ir

#endif  // TAKT_CONVERTER_OPS_REARRANGE_H_
