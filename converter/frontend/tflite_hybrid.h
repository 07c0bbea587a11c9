// Operators of float activations whose weights are int8.
#ifndef TAKT_CONVERTER_FRONTEND_TFLITE_HYBRID_H_
#define TAKT_CONVERTER_FRONTEND_TFLITE_HYBRID_H_

#include <string>
#include <vector>

#include "converter/frontend/tflite_node.h"

namespace takt::frontend {

/// Gives the node float32 constants in place of such weights, which a note names. `inputs`: the operator's.
void MakeWeightsFloat(const std::string& name, const std::vector<ir::TensorId>& inputs, TfliteNode& node);

}  // namespace takt::frontend

#endif  // TAKT_CONVERTER_FRONTEND_TFLITE_HYBRID_H_
