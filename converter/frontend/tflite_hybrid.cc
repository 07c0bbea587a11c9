#include "converter/frontend/tflite_hybrid.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "converter/ir/constants.h"

namespace takt::frontend {
namespace {

bool IsHybrid(const ir::Tensor& x, const ir::Tensor& weights) {
  return x.type == DataType::kFloat32 && weights.type == DataType::kInt8 && weights.is_constant() &&
         weights.quantization.has_value();
}

ir::TensorId FloatWeights(TfliteNode& node, ir::TensorId id) {
  node.Note("has int8 weights for float32 activations; they become float32, which takes four times the bytes", id);
  ir::Tensor weights = node.tensor(id);
  weights.data = std::make_shared<const ir::Bytes>(ir::ToBytes(*ir::RealValues(weights)));
  weights.name += "/float32";
  weights.type = DataType::kFloat32;
  weights.source = -1;
  weights.quantization.reset();
  return node.graph().AddTensor(std::move(weights));
}

}  // namespace

void MakeWeightsFloat(const std::string& name, const std::vector<ir::TensorId>& inputs, TfliteNode& node) {
  static const std::set<std::string> kWeighted = {
      "CONV_2D",         "CONV_3D",        "CONV_3D_TRANSPOSE", "DEPTHWISE_CONV_2D",
      "FULLY_CONNECTED", "TRANSPOSE_CONV", "BATCH_MATMUL",      "SVDF"};
  if (kWeighted.count(name) == 0) return;
  const size_t x = name == "TRANSPOSE_CONV" || name == "CONV_3D_TRANSPOSE" ? 2 : 0;
  for (const size_t i : {size_t{1}, size_t{2}}) {
    if (inputs.size() <= std::max(x, i) || inputs[x] == ir::kNoTensor || inputs[i] == ir::kNoTensor) continue;
    if (IsHybrid(node.tensor(inputs[x]), node.tensor(inputs[i])))
      node.set_input(static_cast<int>(i), FloatWeights(node, inputs[i]));
  }
}

}  // namespace takt::frontend
