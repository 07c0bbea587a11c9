#include "converter/quant/quantizer.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "converter/ir/constants.h"
#include "converter/ir/op_def.h"
#include "converter/quant/accuracy.h"
#include "converter/quant/evaluator.h"

namespace takt::quant {
namespace {

using ir::Node;
using ir::QuantRule;
using ir::TensorId;

QuantRule RuleOf(const Node& node) {
  return ir::FindOpDef(node.op).quant;
}

size_t ActivationInputs(const Node& node) {
  return RuleOf(node) == QuantRule::kContraction ? 1 : node.inputs.size();
}

ir::Quantization Encode(Range range) {
  if (range.max == range.min) range.max = 1;
  const auto scale = static_cast<float>((range.max - range.min) / 255);
  const double zero_point = std::nearbyint(-128 - range.min / static_cast<double>(scale));
  return {{scale}, {static_cast<int32_t>(std::clamp(zero_point, -128.0, 127.0))}, 0};
}

std::span<const float> Floats(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const float*>(bytes.data()), bytes.size() / sizeof(float)};
}

class Quantizer {
 public:
  Quantizer(ir::Graph& graph, const Samples& samples, const Options& options, Diagnostics& diagnostics)
      : graph_(graph), samples_(samples), options_(options), diagnostics_(diagnostics) {}

  bool Run() {
    ChooseTensors();
    if (!Calibrate()) return false;
    UniteShared();
    for (auto& [id, observed] : observed_) observed.encoding = Encode(observed.range);
    for (const Node& node : graph_.nodes) {
      if (RuleOf(node) == QuantRule::kSoftmax) Root(node.outputs[0]).encoding = {{1.0f / 256}, {-128}, 0};
    }
    InsertQuantizations();
    return diagnostics_.ok();
  }

 private:
  struct Observed {
    Histogram histogram;
    std::vector<double> channel_sums;  ///< Along the last dimension, for the bias correction.
    double rows = 0;
    Range range;
    ir::Quantization encoding;
    TensorId same_as = ir::kNoTensor;  ///< Shares the quantization of that tensor.
  };

  void Error(TensorId id, std::string message) {
    diagnostics_.Error({graph_.name, -1, "", id == ir::kNoTensor ? std::string() : graph_.tensor(id).name},
                       std::move(message));
  }

  /// Float tensors that an op with an integer form reads or writes.
  void ChooseTensors() {
    for (const Node& node : graph_.nodes) {
      if (RuleOf(node) == QuantRule::kFloat || graph_.tensor(node.outputs[0]).type != DataType::kFloat32) continue;
      for (size_t i = 0; i < ActivationInputs(node); ++i) {
        if (node.inputs[i] != ir::kNoTensor) observed_[node.inputs[i]];
      }
      observed_[node.outputs[0]];
    }
  }

  void Observe(TensorId id, std::span<const float> values) {
    Observed& observed = observed_.at(id);
    observed.histogram.Add(values);
    const auto& dims = graph_.tensor(id).dims;
    const size_t channels = dims.empty() ? 1 : static_cast<size_t>(dims.back());
    observed.channel_sums.resize(channels);
    for (size_t i = 0; i < values.size(); ++i) observed.channel_sums[i % channels] += static_cast<double>(values[i]);
    observed.rows += static_cast<double>(values.size() / channels);
  }

  bool Calibrate() {
    if (samples_.count == 0) return Error(ir::kNoTensor, "there are no calibration samples; give at least one"), false;
    auto evaluator = Evaluator::Make(graph_, diagnostics_);
    if (!evaluator) return false;
    for (size_t s = 0; s < samples_.count; ++s) {
      evaluator->Run(samples_.load(s));
      for (auto& [id, observed] : observed_) {
        if (!graph_.tensor(id).is_constant()) Observe(id, Floats(evaluator->value(id)));
      }
    }
    for (auto& [id, observed] : observed_) {
      if (graph_.tensor(id).is_constant()) Observe(id, ir::Elements<float>(graph_.tensor(id)));
      if (observed.histogram.not_finite() > 0) {
        Error(id, "takes " + std::to_string(observed.histogram.not_finite()) +
                      " values that are NaN or infinite on the calibration samples; check the samples and the model");
      }
      const bool constant = graph_.tensor(id).is_constant();
      observed.range = observed.histogram.Find(constant ? Observer::kMinMax : options_.observer, options_.share);
    }
    return diagnostics_.ok();
  }

  Observed& Root(TensorId id) {
    while (observed_.at(id).same_as != ir::kNoTensor) id = observed_.at(id).same_as;
    return observed_.at(id);
  }

  /// Tensors that an op wants in one quantization get the range of all of them.
  void UniteShared() {
    for (const Node& node : graph_.nodes) {
      if (RuleOf(node) != QuantRule::kShared || !observed_.count(node.outputs[0])) continue;
      for (TensorId id : node.inputs) {
        Observed& a = Root(id);
        Observed& b = Root(node.outputs[0]);
        if (&a == &b) continue;
        b.range = {std::min(a.range.min, b.range.min), std::max(a.range.max, b.range.max)};
        a.same_as = node.outputs[0];
      }
    }
  }

  Node MakeNode(Op op, TensorId input, TensorId output, const Node* origin) {
    Node node;
    node.op = op;
    node.inputs = {input};
    node.outputs = {output};
    node.name = origin != nullptr ? origin->name : OpName(op);
    if (origin != nullptr) node.sources = origin->sources;
    return node;
  }

  /// After the node that writes `id`, or at the start: id -> int8 -> float; the graph's readers read the latter.
  void Insert(TensorId id, const Node* origin, std::vector<Node>& nodes) {
    ir::Tensor stored = graph_.tensor(id);
    stored.type = DataType::kInt8;
    stored.quantization = Root(id).encoding;
    ir::Tensor real = graph_.tensor(id);
    // Who binds the graph's inputs and outputs knows them by name.
    const bool input = origin == nullptr;
    const bool output = graph_.IsOutput(id);
    if (input || output) stored.name += "/int8";
    if (!output) real.name += "/dequantized";
    if (!input) graph_.tensor(id).name += "/float";
    if (!input) graph_.tensor(id).source = -1;
    real.source = output ? real.source : -1;
    const TensorId stored_id = graph_.AddTensor(std::move(stored));
    const TensorId real_id = graph_.AddTensor(std::move(real));
    graph_.ReplaceUses(id, real_id);
    for (Node& node : pending_) std::replace(node.inputs.begin(), node.inputs.end(), id, real_id);
    nodes.push_back(MakeNode(Op::kQuantize, id, stored_id, origin));
    nodes.push_back(MakeNode(Op::kDequantize, stored_id, real_id, origin));
  }

  /// A constant operand as a stored one and its dequantization.
  TensorId StoredConstant(TensorId id, const ir::Quantization& q, std::vector<Node>& nodes, const Node& origin) {
    const ir::Tensor& real = graph_.tensor(id);
    int64_t inner = 1;
    for (size_t d = static_cast<size_t>(q.axis) + 1; d < real.dims.size(); ++d) inner *= real.dims[d];
    const std::vector<float> values = ir::Elements<float>(real);
    std::vector<int8_t> stored;
    const double lowest = q.per_channel() ? -127 : -128;
    for (size_t i = 0; i < values.size(); ++i) {
      const size_t c = q.per_channel() ? i / static_cast<size_t>(inner) % q.scales.size() : 0;
      const double level =
          std::nearbyint(static_cast<double>(values[i]) / static_cast<double>(q.scales[c])) + q.zero_points[c];
      stored.push_back(static_cast<int8_t>(std::clamp(level, lowest, 127.0)));
    }
    const std::vector<int32_t> dims = real.dims;
    const std::string name = real.name;
    const TensorId stored_id = graph_.AddConstant(name + "/int8", DataType::kInt8, dims, ir::ToBytes(stored));
    graph_.tensor(stored_id).quantization = q;
    ir::Tensor output;
    output.name = name + "/dequantized";
    output.type = DataType::kFloat32;
    output.dims = dims;
    const TensorId real_id = graph_.AddTensor(std::move(output));
    nodes.push_back(MakeNode(Op::kDequantize, stored_id, real_id, &origin));
    return real_id;
  }

  /// Symmetric scales, one for each output channel: the first dimension of the weights, the last of depthwise ones.
  ir::Quantization WeightEncoding(const Node& node) {
    const ir::Tensor& weights = graph_.tensor(node.inputs[1]);
    ir::Quantization q;
    q.axis = node.op == Op::kDepthwiseConv2d ? 3 : 0;
    const auto channels = static_cast<size_t>(weights.dims[static_cast<size_t>(q.axis)]);
    const std::vector<float> values = ir::Elements<float>(weights);
    const size_t inner = q.axis == 3 ? 1 : values.size() / channels;
    std::vector<float> largest(channels);
    for (size_t i = 0; i < values.size(); ++i) {
      if (!std::isfinite(values[i])) {
        Error(node.inputs[1], "holds a value that is NaN or infinite; a weight must be finite");
        break;
      }
      float& most = largest[i / inner % channels];
      most = std::max(most, std::fabs(values[i]));
    }
    for (float most : largest) q.scales.push_back(most > 0 ? most / 127 : 1.0f);
    q.zero_points.assign(channels, 0);
    return q;
  }

  /// Mean of sum (w - stored w) * x for each output channel, padding left aside.
  void CorrectBias(Node& node, TensorId real_weights, const ir::Quantization& q) {
    const Observed& x = observed_.at(original_.count(node.inputs[0]) ? original_.at(node.inputs[0]) : node.inputs[0]);
    std::vector<float> bias = ir::Elements<float>(graph_.tensor(node.inputs[2]));
    const std::vector<float> values = ir::Elements<float>(graph_.tensor(real_weights));
    const size_t channels = bias.size();
    const bool depthwise = node.op == Op::kDepthwiseConv2d;
    const size_t inner = depthwise ? 1 : values.size() / channels;
    const size_t depth = depthwise ? 1 : static_cast<size_t>(graph_.tensor(real_weights).dims.back());
    const size_t inputs = x.channel_sums.size();
    std::vector<double> shift(channels);
    for (size_t i = 0; i < values.size(); ++i) {
      const size_t c = i / inner % channels;
      const double scale = static_cast<double>(q.scales[c]);
      const double stored = std::clamp(std::nearbyint(static_cast<double>(values[i]) / scale), -127.0, 127.0) * scale;
      // Input channel: of the group of c (convolutions with groups have fewer weights than inputs).
      const size_t group = depthwise ? c * inputs / channels : c / (channels * depth / inputs) * depth + i % depth;
      shift[c] += (static_cast<double>(values[i]) - stored) * x.channel_sums[group % inputs] / x.rows;
    }
    for (size_t c = 0; c < channels; ++c) bias[c] += static_cast<float>(shift[c]);
    const ir::Tensor old = graph_.tensor(node.inputs[2]);
    node.inputs[2] = graph_.AddConstant(old.name, DataType::kFloat32, old.dims, ir::ToBytes(bias));
  }

  void QuantizeConstants(Node& node, std::vector<Node>& nodes) {
    if (RuleOf(node) == QuantRule::kFloat || graph_.tensor(node.outputs[0]).type != DataType::kFloat32) return;
    for (size_t i = 0; i < ActivationInputs(node); ++i) {
      const TensorId id = node.inputs[i];
      if (graph_.tensor(id).is_constant()) node.inputs[i] = StoredConstant(id, Root(id).encoding, nodes, node);
    }
    if (RuleOf(node) != QuantRule::kContraction || !graph_.tensor(node.inputs[1]).is_constant()) return;
    const ir::Quantization q = WeightEncoding(node);
    if (!diagnostics_.ok()) return;
    const TensorId weights = node.inputs[1];
    if (options_.correct_bias && graph_.tensor(node.inputs[2]).is_constant()) CorrectBias(node, weights, q);
    node.inputs[1] = StoredConstant(weights, q, nodes, node);
  }

  void InsertQuantizations() {
    pending_ = std::move(graph_.nodes);
    graph_.nodes.clear();
    std::vector<Node> nodes;
    for (TensorId id : std::vector<TensorId>(graph_.inputs)) {
      if (observed_.count(id)) InsertTracked(id, nullptr, nodes);
    }
    for (size_t i = 0; i < pending_.size(); ++i) {
      QuantizeConstants(pending_[i], nodes);
      const Node node = pending_[i];
      nodes.push_back(node);
      if (observed_.count(node.outputs[0])) InsertTracked(node.outputs[0], &node, nodes);
    }
    graph_.nodes = std::move(nodes);
  }

  void InsertTracked(TensorId id, const Node* origin, std::vector<Node>& nodes) {
    Insert(id, origin, nodes);
    original_[nodes.back().outputs[0]] = id;
  }

  ir::Graph& graph_;
  const Samples& samples_;
  const Options& options_;
  Diagnostics& diagnostics_;
  std::map<TensorId, Observed> observed_;
  std::map<TensorId, TensorId> original_;  ///< Of a dequantized tensor: the one that was observed.
  std::vector<Node> pending_;              ///< Nodes whose quantizations are not inserted yet.
};

/// Graph inputs that only a quantization reads, and outputs that are dequantized, become int8.
void MakeIntegerIo(ir::Graph& graph) {
  for (TensorId& id : graph.inputs) {
    const std::vector<int> readers = graph.ConsumersOf(id);
    if (readers.size() != 1 || graph.nodes[static_cast<size_t>(readers[0])].op != Op::kQuantize) continue;
    const TensorId stored = graph.nodes[static_cast<size_t>(readers[0])].outputs[0];
    graph.tensor(stored).name = graph.tensor(id).name;
    graph.nodes.erase(graph.nodes.begin() + readers[0]);
    id = stored;
  }
  for (TensorId& id : graph.outputs) {
    const int producer = graph.ProducerOf(id);
    if (producer < 0 || graph.nodes[static_cast<size_t>(producer)].op != Op::kDequantize) continue;
    const TensorId stored = graph.nodes[static_cast<size_t>(producer)].inputs[0];
    if (graph.IsOutput(stored)) continue;
    graph.tensor(stored).name = graph.tensor(id).name;
    id = stored;
  }
}

}  // namespace

Report Quantize(ir::Graph& graph, const Samples& samples, const Options& options, Diagnostics& diagnostics) {
  const ir::Graph real = graph;
  if (!Quantizer(graph, samples, options, diagnostics).Run()) return {};
  Report report = Compare(real, graph, samples, options.compared_samples, diagnostics);
  if (!options.float_io) MakeIntegerIo(graph);
  return report;
}

}  // namespace takt::quant
