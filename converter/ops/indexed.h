// TFLite operators that scatter values to places of a zero, constant or neutral tensor.
#ifndef TAKT_CONVERTER_OPS_INDEXED_H_
#define TAKT_CONVERTER_OPS_INDEXED_H_

#include "converter/frontend/tflite_node.h"

namespace takt::ir {

void ImportScatterNd(frontend::TfliteNode& node);
void ImportSparseToDense(frontend::TfliteNode& node);
void ImportSegmentSum(frontend::TfliteNode& node);
void ImportUnsortedSegmentProd(frontend::TfliteNode& node);
void ImportUnsortedSegmentMax(frontend::TfliteNode& node);
void ImportUnsortedSegmentSum(frontend::TfliteNode& node);
void ImportUnsortedSegmentMin(frontend::TfliteNode& node);

}  // namespace takt::ir

#endif  // TAKT_CONVERTER_OPS_INDEXED_H_
