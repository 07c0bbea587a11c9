// TFLite operators that cut a tensor along one axis or join tensors along a new one: slices, reshapes and a
// concatenation.
#ifndef TAKT_CONVERTER_OPS_PARTS_H_
#define TAKT_CONVERTER_OPS_PARTS_H_

#include "converter/frontend/tflite_node.h"

namespace takt::ir {

void ImportSplit(frontend::TfliteNode& node);
void ImportSplitV(frontend::TfliteNode& node);
void ImportUnpack(frontend::TfliteNode& node);
void ImportPack(frontend::TfliteNode& node);

}  // namespace takt::ir

#endif  // TAKT_CONVERTER_OPS_PARTS_H_
