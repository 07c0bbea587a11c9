// TFLite operators on complex numbers, which are float32 pairs along a last dimension of 2 in the graph.
#ifndef TAKT_CONVERTER_OPS_COMPLEX_H_
#define TAKT_CONVERTER_OPS_COMPLEX_H_

#include "converter/frontend/tflite_node.h"

namespace takt::ir {

void ImportRfft2d(frontend::TfliteNode& node);
void ImportReal(frontend::TfliteNode& node);
void ImportImag(frontend::TfliteNode& node);
void ImportComplexAbs(frontend::TfliteNode& node);

}  // namespace takt::ir

#endif  // TAKT_CONVERTER_OPS_COMPLEX_H_
