#include "converter/frontend/tflite_complex.h"

#include <algorithm>
#include <set>

namespace takt::frontend {

bool IsComplex(const tflite::SubGraph& subgraph, ir::TensorId id) {
  return id >= 0 && static_cast<uint32_t>(id) < subgraph.tensors()->size() &&
         subgraph.tensors()->Get(static_cast<uint32_t>(id))->type() == tflite::TensorType::COMPLEX64;
}

bool HandleComplex(const tflite::SubGraph& subgraph, const std::string& name, const OperandIds& ids, TfliteNode& node) {
  static const std::set<std::string> kComplex = {"RFFT2D", "REAL", "IMAG", "COMPLEX_ABS"};
  static const std::set<std::string> kShapes = {"RESHAPE", "SQUEEZE", "EXPAND_DIMS"};
  const auto complex = [&subgraph](ir::TensorId id) { return IsComplex(subgraph, id); };
  if (kComplex.count(name) != 0 ||
      (std::ranges::none_of(ids.inputs, complex) && std::ranges::none_of(ids.outputs, complex)))
    return false;
  if (kShapes.count(name) != 0 && ids.outputs.size() == 1 && node.has_input(0))
    node.Add(Op::kReshape, {node.input(0)});
  else
    node.Error("is computed on complex numbers; those of RFFT2D go to REAL, IMAG and COMPLEX_ABS alone");
  return true;
}

}  // namespace takt::frontend
