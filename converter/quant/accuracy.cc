#include "converter/quant/accuracy.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "converter/passes/passes.h"
#include "converter/quant/evaluator.h"

namespace takt::quant {
namespace {

using ir::TensorId;

struct Sums {
  TensorId real, stored;
  double signal = 0, noise = 0, product = 0, energy = 0, max_error = 0;
};

void Accumulate(std::span<const uint8_t> real, std::span<const uint8_t> stored, const ir::Quantization& q, Sums& sums) {
  if (real.size() != stored.size() * sizeof(float)) return;
  const auto* want = reinterpret_cast<const float*>(real.data());
  const auto* levels = reinterpret_cast<const int8_t*>(stored.data());
  for (size_t i = 0; i < stored.size(); ++i) {
    const auto x = static_cast<double>(want[i]);
    const double y = static_cast<double>(q.scales[0]) * (levels[i] - q.zero_points[0]);
    sums.signal += x * x;
    sums.noise += (x - y) * (x - y);
    sums.product += x * y;
    sums.energy += y * y;
    sums.max_error = std::max(sums.max_error, std::fabs(x - y));
  }
}

/// int8 tensors that a node writes and whose name a float tensor of the other graph has.
std::vector<Sums> Matches(const ir::Graph& real, const ir::Graph& quantized) {
  std::map<std::string, TensorId> names;
  for (size_t i = 0; i < real.tensors.size(); ++i) {
    if (real.tensors[i].type == DataType::kFloat32) names[real.tensors[i].name] = static_cast<TensorId>(i);
    // The quantizer's name for the stored form of graph inputs and outputs.
    if (real.IsOutput(static_cast<TensorId>(i))) names[real.tensors[i].name + "/int8"] = static_cast<TensorId>(i);
  }
  std::vector<Sums> sums;
  for (const ir::Node& node : quantized.nodes) {
    const ir::Tensor& t = quantized.tensor(node.outputs[0]);
    if (t.type == DataType::kInt8 && t.quantization && names.count(t.name))
      sums.push_back({names[t.name], node.outputs[0]});
  }
  return sums;
}

}  // namespace

Report Compare(const ir::Graph& real, const ir::Graph& quantized, const Samples& samples, size_t count,
               Diagnostics& diagnostics) {
  ir::Graph integer = quantized;
  Diagnostics notes;  // The conversion itself fuses once more, and reports.
  passes::PassContext context{Numerics::kFp32Rne, notes};
  passes::FuseQuantization(integer, context);
  auto before = Evaluator::Make(real, diagnostics);
  auto after = Evaluator::Make(integer, diagnostics);
  if (!before || !after) return {};
  std::vector<Sums> all = Matches(real, integer);
  for (size_t s = 0; s < std::min(count, samples.count); ++s) {
    const std::vector<ir::Bytes> inputs = samples.load(s);
    before->Run(inputs);
    after->Run(inputs);
    for (Sums& sums : all) {
      Accumulate(before->value(sums.real), after->value(sums.stored), *integer.tensor(sums.stored).quantization, sums);
    }
  }
  Report report;
  for (const Sums& sums : all) {
    const int producer = real.ProducerOf(sums.real);
    const auto* node = producer < 0 ? nullptr : &real.nodes[static_cast<size_t>(producer)];
    report.tensors.push_back({real.tensor(sums.real).name,
                              node != nullptr && !node->sources.empty() ? node->sources[0] : -1,
                              10 * std::log10(sums.signal / std::max(sums.noise, 1e-300)),
                              sums.product / std::sqrt(std::max(sums.signal * sums.energy, 1e-300)), sums.max_error});
  }
  return report;
}

}  // namespace takt::quant
