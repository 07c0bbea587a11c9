// Custom TFLite operators of MediaPipe's attention meshes: a part of an image is cut out around landmarks, and what is
// found there goes back into the whole.
#ifndef TAKT_CONVERTER_OPS_LANDMARKS_H_
#define TAKT_CONVERTER_OPS_LANDMARKS_H_

#include "converter/frontend/tflite_node.h"

namespace takt::ir {

void ImportLandmarksToTransformMatrix(frontend::TfliteNode& node);
void ImportTransformTensorBilinear(frontend::TfliteNode& node);
void ImportTransformLandmarks(frontend::TfliteNode& node);

}  // namespace takt::ir

#endif  // TAKT_CONVERTER_OPS_LANDMARKS_H_
