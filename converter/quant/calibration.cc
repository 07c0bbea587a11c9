#include "converter/quant/calibration.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "converter/ir/constants.h"
#include "converter/ir/op_def.h"
#include "converter/quant/evaluator.h"

namespace takt::quant {
namespace {

using ir::Node;
using ir::QuantRule;
using ir::TensorId;

constexpr double kMostSpread = 4;  ///< Of ranges that share a scale for no other reason: two bits.

/// Of one tensor, over the samples.
struct Running {
  Histogram histogram;
  std::vector<double> channel_sums;
  std::vector<float> channel_ranges;
  double rows = 0;

  void Add(std::span<const float> values, size_t channels) {
    histogram.Add(values);
    channel_sums.resize(channels);
    channel_ranges.resize(channels);
    for (size_t i = 0; i < values.size(); ++i) {
      channel_sums[i % channels] += static_cast<double>(values[i]);
      channel_ranges[i % channels] = std::max(channel_ranges[i % channels], std::fabs(values[i]));
    }
    const size_t added = values.size() / channels;
    rows += static_cast<double>(added);
  }
};

void Error(const ir::Graph& graph, TensorId id, std::string message, Diagnostics& diagnostics) {
  diagnostics.Error({graph.name, -1, "", id == ir::kNoTensor ? std::string() : graph.tensor(id).name},
                    std::move(message));
}

/// Weights and biases: a value that is not finite would become any integer.
void CheckConstants(const ir::Graph& graph, const Node& node, Diagnostics& diagnostics) {
  for (size_t i = ActivationInputs(node); i < node.inputs.size(); ++i) {
    if (node.inputs[i] == ir::kNoTensor || graph.tensor(node.inputs[i]).type != DataType::kFloat32) continue;
    const std::vector<float> values = ir::Elements<float>(graph.tensor(node.inputs[i]));
    if (std::ranges::all_of(values, [](float v) { return std::isfinite(v); })) continue;
    Error(graph, node.inputs[i], "holds a value that is NaN or infinite; a weight must be finite", diagnostics);
  }
}

std::map<TensorId, Running> ChooseTensors(const ir::Graph& graph, Diagnostics& diagnostics) {
  std::map<TensorId, Running> chosen;
  const auto choose = [&](TensorId id) {
    if (id != ir::kNoTensor && graph.tensor(id).type == DataType::kFloat32) chosen[id];
  };
  for (const Node& node : graph.nodes) {
    if (!HasIntegerForm(graph, node)) continue;
    CheckConstants(graph, node, diagnostics);
    for (size_t i = 0; i < ActivationInputs(node); ++i) choose(node.inputs[i]);
    choose(node.outputs[0]);
  }
  std::ranges::for_each(graph.inputs, choose);
  std::ranges::for_each(graph.outputs, choose);
  return chosen;
}

}  // namespace

size_t ActivationInputs(const Node& node) {
  return ir::FindOpDef(node.op).quant == QuantRule::kContraction ? 1 : node.inputs.size();
}

bool HasIntegerForm(const ir::Graph& graph, const Node& node) {
  const QuantRule rule = ir::FindOpDef(node.op).quant;
  if (rule == QuantRule::kFloat || graph.tensor(node.outputs[0]).type != DataType::kFloat32) return false;
  if (rule != QuantRule::kContraction) return true;
  const auto constant = [&](size_t i) {
    return node.inputs.size() > i && node.inputs[i] != ir::kNoTensor && graph.tensor(node.inputs[i]).is_constant();
  };
  return constant(1) && constant(2);
}

std::optional<Observations> Observations::Make(const ir::Graph& graph, const Samples& samples, const Options& options,
                                               Diagnostics& diagnostics) {
  if (samples.count == 0)
    Error(graph, ir::kNoTensor, "there are no calibration samples; give at least one", diagnostics);
  std::map<TensorId, Running> running = ChooseTensors(graph, diagnostics);
  if (!diagnostics.ok()) return std::nullopt;
  auto evaluator = Evaluator::Make(graph, diagnostics);
  if (!evaluator) return std::nullopt;
  const auto add = [&](TensorId id, Running& tensor, std::span<const float> values) {
    const auto& dims = graph.tensor(id).dims;
    tensor.Add(values, dims.empty() ? 1 : static_cast<size_t>(dims.back()));
  };
  for (size_t s = 0; s < samples.count; ++s) {
    if (options.progress && s % 64 == 0)
      options.progress("calibration, sample " + std::to_string(s) + " of " + std::to_string(samples.count));
    evaluator->Run(samples.load(s));
    for (auto& [id, tensor] : running) {
      if (!graph.tensor(id).is_constant()) add(id, tensor, evaluator->floats(id));
    }
  }
  Observations observations;
  for (auto& [id, tensor] : running) {
    const bool constant = graph.tensor(id).is_constant();
    if (constant) add(id, tensor, ir::Elements<float>(graph.tensor(id)));
    if (tensor.histogram.not_finite() > 0) {
      Error(graph, id,
            "takes " + std::to_string(tensor.histogram.not_finite()) +
                " values that are NaN or infinite on the calibration samples; check the samples and the model",
            diagnostics);
    }
    Tensor& observed = observations.tensors_[id];
    observed.range = tensor.histogram.Find(constant ? Observer::kMinMax : options.observer, options.share);
    for (const double sum : tensor.channel_sums) observed.channel_means.push_back(sum / tensor.rows);
    observed.channel_ranges = std::move(tensor.channel_ranges);
  }
  if (!diagnostics.ok()) return std::nullopt;
  if (options.io == DataType::kFloat32) observations.SeparateHeads(graph, diagnostics);
  observations.UniteShared(graph);
  if (options.normalization) {  // Every pixel is exact.
    for (const TensorId id : graph.inputs) {
      if (observations.Has(id)) observations.tensors_.at(observations.Root(id)).range = {0, 1};
    }
  }
  return observations;
}

TensorId Observations::Root(TensorId id) const {
  while (tensors_.at(id).same_as != ir::kNoTensor) id = tensors_.at(id).same_as;
  return id;
}

void Observations::SeparateHeads(const ir::Graph& graph, Diagnostics& diagnostics) {
  std::set<TensorId> read_as_integer;
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    const bool integer = HasIntegerForm(graph, *node);
    const bool shared = integer && ir::FindOpDef(node->op).quant == QuantRule::kShared;
    if (integer && (!shared || read_as_integer.count(node->outputs[0]) != 0))
      read_as_integer.insert(node->inputs.begin(), node->inputs.end());
    if (!integer || node->op != Op::kConcatenation || read_as_integer.count(node->outputs[0]) != 0) continue;
    const auto width = [&](TensorId id) { return tensors_.at(id).range.max - tensors_.at(id).range.min; };
    const auto [narrowest, widest] =
        std::ranges::minmax_element(node->inputs, [&](TensorId a, TensorId b) { return width(a) < width(b); });
    const double narrow = width(*narrowest), wide = width(*widest);
    if (!(wide > kMostSpread * narrow)) continue;
    separated_.insert(node->outputs[0]);
    diagnostics.Note({graph.name, node->sources.empty() ? -1 : node->sources[0], node->name, ""},
                     "stays float: the ranges of its parts are " + std::to_string(narrow) + " to " +
                         std::to_string(wide) + " wide, and each keeps a scale of its own");
  }
}

/// Tensors that an op wants in one quantization get the range of all of them.
void Observations::UniteShared(const ir::Graph& graph) {
  for (const Node& node : graph.nodes) {
    if (!HasIntegerForm(graph, node) || ir::FindOpDef(node.op).quant != QuantRule::kShared) continue;
    if (SeparatesHeads(node)) continue;
    for (const TensorId id : node.inputs) {
      Tensor& a = tensors_.at(Root(id));
      Tensor& b = tensors_.at(Root(node.outputs[0]));
      if (&a == &b) continue;
      b.range = {std::min(a.range.min, b.range.min), std::max(a.range.max, b.range.max)};
      a.same_as = node.outputs[0];
    }
  }
  for (const Node& node : graph.nodes) {
    if (HasIntegerForm(graph, node) && ir::FindOpDef(node.op).quant == QuantRule::kSoftmax)
      tensors_.at(Root(node.outputs[0])).softmax = true;
  }
}

ir::Quantization Observations::Encoding(TensorId id, Precision precision) const {
  const Tensor& tensor = tensors_.at(Root(id));
  const bool wide = precision == Precision::kInt16;
  if (tensor.softmax)
    return wide ? ir::Quantization{{1.0f / 32768}, {0}, 0} : ir::Quantization{{1.0f / 256}, {-128}, 0};
  const auto [min, max] = tensor.range;
  // Of what is all but zero any scale will do; a float can't hold the least ones.
  const auto scale_of = [](double width, int steps) { return static_cast<float>((width > 1e-30 ? width : 1) / steps); };
  if (wide) return {{scale_of(std::max(-min, max), 32767)}, {0}, 0};
  const float scale = scale_of(max - min, 255);
  const double zero_point = std::nearbyint(-128 - min / static_cast<double>(scale));
  return {{scale}, {static_cast<int32_t>(std::clamp(zero_point, -128.0, 127.0))}, 0};
}

}  // namespace takt::quant
