#include "converter/quant/accuracy.h"

#include <algorithm>
#include <map>

#include "converter/passes/passes.h"
#include "converter/quant/error_sums.h"
#include "converter/quant/evaluator.h"

namespace takt::quant {
namespace {

using ir::TensorId;

struct Pair {
  TensorId real, stored;
  ErrorSums sums{};
};

template <typename T>
void Accumulate(std::span<const float> want, std::span<const uint8_t> stored, const ir::Quantization& q,
                ErrorSums& sums) {
  const auto* levels = reinterpret_cast<const T*>(stored.data());
  for (size_t i = 0; i < want.size(); ++i)
    sums.Add(static_cast<double>(want[i]), static_cast<double>(q.scales[0]) * (levels[i] - q.zero_points[0]));
}

void Accumulate(std::span<const float> want, std::span<const uint8_t> stored, const ir::Tensor& tensor,
                ErrorSums& sums) {
  if (stored.size() * 8 != want.size() * static_cast<size_t>(BitWidth(tensor.type))) return;
  if (tensor.type == DataType::kInt8) {
    Accumulate<int8_t>(want, stored, *tensor.quantization, sums);
  } else {
    Accumulate<int16_t>(want, stored, *tensor.quantization, sums);
  }
}

/// Quantized tensors that a node writes and whose name a float tensor of the other graph has.
std::vector<Pair> Matches(const ir::Graph& real, const ir::Graph& quantized) {
  std::map<std::string, TensorId> names;
  for (size_t i = 0; i < real.tensors.size(); ++i) {
    if (real.tensors[i].type == DataType::kFloat32) names[real.tensors[i].name] = static_cast<TensorId>(i);
    // The quantizer's name for the stored form of graph inputs and outputs.
    if (!real.IsOutput(static_cast<TensorId>(i))) continue;
    for (const char* suffix : {"/int8", "/int16"}) names[real.tensors[i].name + suffix] = static_cast<TensorId>(i);
  }
  std::vector<Pair> pairs;
  for (const ir::Node& node : quantized.nodes) {
    const ir::Tensor& t = quantized.tensor(node.outputs[0]);
    const bool stored = t.type == DataType::kInt8 || t.type == DataType::kInt16;
    if (stored && t.quantization && names.count(t.name)) pairs.push_back({names[t.name], node.outputs[0]});
  }
  return pairs;
}

}  // namespace

ir::Graph Fused(ir::Graph quantized) {
  Diagnostics notes;
  passes::PassContext context{Numerics::kFp32Rne, notes};
  passes::FuseQuantization(quantized, context);
  passes::InsertRequantizes(quantized, context);
  return quantized;
}

std::vector<TensorAccuracy> Compare(const ir::Graph& real, const ir::Graph& quantized, const Samples& samples,
                                    size_t count, Diagnostics& diagnostics) {
  const ir::Graph integer = Fused(quantized);
  auto before = Evaluator::Make(real, diagnostics);
  auto after = Evaluator::Make(integer, diagnostics);
  if (!before || !after) return {};
  std::vector<Pair> pairs = Matches(real, integer);
  for (size_t s = 0; s < std::min(count, samples.count); ++s) {
    const std::vector<ir::Bytes> inputs = samples.load(s);
    before->Run(inputs);
    after->Run(inputs);
    for (Pair& pair : pairs) {
      Accumulate(before->floats(pair.real), after->value(pair.stored), integer.tensor(pair.stored), pair.sums);
    }
  }
  std::vector<TensorAccuracy> accuracies;
  for (const Pair& pair : pairs) {
    const int producer = real.ProducerOf(pair.real);
    const auto* node = producer < 0 ? nullptr : &real.nodes[static_cast<size_t>(producer)];
    accuracies.push_back({real.tensor(pair.real).name,
                          node != nullptr && !node->sources.empty() ? node->sources[0] : -1, pair.sums.SqnrDb(),
                          pair.sums.Cosine(), pair.sums.max_error});
  }
  return accuracies;
}

double OutputSqnrDb(const ir::Graph& real, const ir::Graph& quantized, const Samples& samples, size_t count,
                    Diagnostics& diagnostics) {
  const ir::Graph integer = Fused(quantized);
  auto before = Evaluator::Make(real, diagnostics);
  auto after = Evaluator::Make(integer, diagnostics);
  ErrorSums sums;
  for (size_t s = 0; before && after && s < std::min(count, samples.count); ++s) {
    const std::vector<ir::Bytes> inputs = samples.load(s);
    before->Run(inputs);
    after->Run(inputs);
    for (size_t o = 0; o < real.outputs.size(); ++o) {
      const std::span want = before->floats(real.outputs[o]), got = after->floats(integer.outputs[o]);
      for (size_t i = 0; i < std::min(want.size(), got.size()); ++i)
        sums.Add(static_cast<double>(want[i]), static_cast<double>(got[i]));
    }
  }
  return sums.SqnrDb();
}

}  // namespace takt::quant
