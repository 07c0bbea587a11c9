// Peepholes and normalization of TFLite's LSTM operators.
#include <memory>
#include <optional>
#include <utility>

#include "converter/ops/tflite_recurrent.h"

namespace takt::ir {

using frontend::TfliteNode;

namespace {

/// Rows that had one scale each keep one for each of `parts`.
void ScaleParts(Tensor& stacked, size_t parts) {
  if (!stacked.quantization) return;
  const size_t rows = stacked.quantization->scales.size() / parts;
  for (size_t i = 0; i < parts; ++i) stacked.quantization->scales[i] = stacked.quantization->scales[i * rows];
  stacked.quantization->scales.resize(parts);
  stacked.quantization->zero_points.resize(parts);
}

/// Constant [3, cells]; a coupled cell has no input gate, whose row is zeros.
std::optional<Tensor> Peepholes(TfliteNode& node, int first, bool coupled, int32_t cells, bool real) {
  const bool add_zeros = coupled && !real;
  auto peepholes = Stack(node, first + (add_zeros ? 1 : 0), add_zeros ? 2 : 3, {cells}, real);
  if (!peepholes) return std::nullopt;
  if (!real) ScaleParts(*peepholes, add_zeros ? 2 : 3);
  if (add_zeros) {
    Bytes bytes(peepholes->data->size() / 2);
    bytes.insert(bytes.end(), peepholes->data->begin(), peepholes->data->end());
    peepholes->data = std::make_shared<const Bytes>(std::move(bytes));
    if (peepholes->quantization) {
      peepholes->quantization->scales.insert(peepholes->quantization->scales.begin(), 1.0f);
      peepholes->quantization->zero_points.push_back(0);
    }
  }
  peepholes->dims = {3, cells};
  return peepholes;
}

}  // namespace

bool AddRefinements(TfliteNode& node, const LstmInputs& at, bool coupled, int32_t cells, Tensor& bias,
                    std::vector<TensorId>& inputs) {
  const int first = coupled ? 1 : 0, gates = 4 - first;
  const bool real = node.tensor(node.input(0)).type == DataType::kFloat32;
  if (node.has_input(at.peepholes + 1)) {
    auto peepholes = Peepholes(node, at.peepholes, coupled, cells, real);
    if (!peepholes) return false;
    inputs[6] = AddConstant(node, std::move(*peepholes), "/peepholes");
  }
  if (at.normalization < 0 || !node.has_input(at.normalization + 1)) return true;
  auto factors = Stack(node, at.normalization + first, gates, {cells}, real);
  auto offsets = Stack(node, at.biases + first, gates, {cells}, real);
  if (!factors || !offsets) return false;
  if (!real && factors->quantization && !offsets->quantization) {
    std::vector<float> scales = factors->quantization->scales;
    for (float& scale : scales) scale *= 0x1p-10f;
    offsets->quantization = Quantization{scales, std::vector<int32_t>(scales.size())};
  }
  inputs[7] = AddConstant(node, std::move(*factors), "/factors");
  inputs[8] = AddConstant(node, std::move(*offsets), "/offsets");
  bias.data = std::make_shared<const Bytes>(bias.data->size());
  return true;
}

std::vector<double> GateScales(const TfliteNode& node, bool coupled) {
  std::vector<double> scales;
  for (uint32_t gate = coupled ? 1 : 0; gate < 4; ++gate) {
    const auto sums = node.Intermediate(gate);
    if (!sums) return {};
    scales.push_back(static_cast<double>(sums->scales[0]));
  }
  return scales;
}

}  // namespace takt::ir
