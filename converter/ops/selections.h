// TFLite operators composed of comparisons and selections.
#ifndef TAKT_CONVERTER_OPS_SELECTIONS_H_
#define TAKT_CONVERTER_OPS_SELECTIONS_H_

#include "converter/frontend/tflite_node.h"

namespace takt::ir {

void ImportOneHot(frontend::TfliteNode& node);
void ImportMatrixDiag(frontend::TfliteNode& node);
void ImportMatrixSetDiag(frontend::TfliteNode& node);
void ImportBucketize(frontend::TfliteNode& node);

}  // namespace takt::ir

#endif  // TAKT_CONVERTER_OPS_SELECTIONS_H_
