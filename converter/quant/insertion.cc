#include "converter/quant/insertion.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "converter/ir/constants.h"
#include "converter/ir/op_def.h"
#include "converter/quant/stored_weights.h"

namespace takt::quant {
namespace {

using ir::Node;
using ir::QuantRule;
using ir::TensorId;

DataType TypeOf(Precision precision) {
  return precision == Precision::kInt8 ? DataType::kInt8 : DataType::kInt16;
}

std::string StoredName(const std::string& name, Precision precision) {
  return name + (precision == Precision::kInt8 ? "/int8" : "/int16");
}

/// Values of a constant operand in one quantization.
template <typename T>
std::vector<T> Levels(const std::vector<float>& values, const ir::Quantization& q) {
  std::vector<T> levels;
  for (const float value : values) {
    const double level =
        std::nearbyint(static_cast<double>(value) / static_cast<double>(q.scales[0])) + q.zero_points[0];
    levels.push_back(
        static_cast<T>(std::clamp<double>(level, std::numeric_limits<T>::min(), std::numeric_limits<T>::max())));
  }
  return levels;
}

class Inserter {
 public:
  Inserter(const ir::Graph& graph, const Observations& observations, const Options& options)
      : real_(graph), graph_(graph), observations_(observations), options_(options) {}

  ir::Graph Run(const std::vector<Precision>& precisions) {
    graph_.nodes.clear();
    for (TensorId id : real_.inputs) {
      if (options_.io != DataType::kFloat32 && observations_.Has(id)) value_[id] = Dequantized(id, IoPrecision());
    }
    for (size_t i = 0; i < real_.nodes.size(); ++i) Add(real_.nodes[i], precisions[i]);
    for (TensorId id : real_.outputs) {
      if (options_.io != DataType::kFloat32 && observations_.Has(id)) value_[id] = Dequantized(id, IoPrecision());
    }
    FinishOutputs();
    return std::move(graph_);
  }

 private:
  Precision IoPrecision() const { return options_.io == DataType::kInt8 ? Precision::kInt8 : Precision::kInt16; }
  /// What readers of a tensor of the float graph read.
  TensorId Value(TensorId id) const {
    const auto found = value_.find(id);
    return found == value_.end() ? id : found->second;
  }

  void AddNode(Op op, TensorId input, TensorId output) {
    Node node;
    node.op = op;
    node.inputs = {input};
    node.outputs = {output};
    node.name = origin_ != nullptr ? origin_->name : OpName(op);
    if (origin_ != nullptr) node.sources = origin_->sources;
    graph_.nodes.push_back(std::move(node));
  }

  /// Adds `from` -> stored -> float32, and gives the latter.
  TensorId AddPair(TensorId from, const std::string& name, ir::Quantization encoding, DataType type, int32_t source) {
    ir::Tensor stored = graph_.tensor(from);
    stored.name = name;
    stored.type = type;
    stored.quantization = std::move(encoding);
    stored.source = source;
    ir::Tensor real = graph_.tensor(from);
    real.name = name + "/dequantized";
    real.source = -1;
    const TensorId stored_id = graph_.AddTensor(std::move(stored));
    const TensorId real_id = graph_.AddTensor(std::move(real));
    AddNode(Op::kQuantize, from, stored_id);
    AddNode(Op::kDequantize, stored_id, real_id);
    return real_id;
  }

  /// The tensor in the type of `precision`, and as float32 again: what a node of that precision reads.
  TensorId Dequantized(TensorId id, Precision precision) {
    const auto found = dequantized_.find({id, precision});
    if (found != dequantized_.end()) return found->second;
    const TensorId made = AddPair(Value(id), StoredName(real_.tensor(id).name, precision),
                                  observations_.Encoding(id, precision), TypeOf(precision), -1);
    return dequantized_[{id, precision}] = made;
  }

  void Add(Node node, Precision precision) {
    origin_ = &node;
    const Node real = node;
    const bool integer = precision != Precision::kFloat;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      TensorId& id = node.inputs[i];
      if (id == ir::kNoTensor) continue;
      if (!integer || i >= ActivationInputs(node)) {
        id = Value(id);
      } else if (graph_.tensor(id).is_constant()) {
        id = StoredConstant(id, observations_.Encoding(id, precision), TypeOf(precision));
      } else {
        id = Dequantized(id, precision);
      }
    }
    if (integer && ir::FindOpDef(node.op).quant == QuantRule::kContraction) AddWeights(real, node);
    const std::vector<TensorId> outputs = node.outputs;
    graph_.nodes.push_back(node);
    if (integer) Store(outputs[0], precision);
    origin_ = nullptr;
  }

  /// What an integer node writes is known in its stored form only.
  void Store(TensorId id, Precision precision) {
    const ir::Tensor& real = real_.tensor(id);
    graph_.tensor(id).name = real.name + "/float";
    graph_.tensor(id).source = -1;
    const TensorId made = AddPair(id, real_.IsOutput(id) ? StoredName(real.name, precision) : real.name,
                                  observations_.Encoding(id, precision), TypeOf(precision), real.source);
    value_[id] = dequantized_[{id, precision}] = made;
  }

  /// A constant operand as a stored one and its dequantization.
  TensorId StoredConstant(TensorId id, const ir::Quantization& q, DataType type) {
    const std::vector<float> values = ir::Elements<float>(real_.tensor(id));
    return type == DataType::kInt8 ? AddStored(id, q, type, ir::ToBytes(Levels<int8_t>(values, q)))
                                   : AddStored(id, q, type, ir::ToBytes(Levels<int16_t>(values, q)));
  }

  TensorId AddStored(TensorId id, const ir::Quantization& q, DataType type, ir::Bytes levels) {
    const ir::Tensor& real = real_.tensor(id);
    const TensorId stored = graph_.AddConstant(real.name + "/stored", type, real.dims, std::move(levels));
    graph_.tensor(stored).quantization = q;
    ir::Tensor output;
    output.name = real.name + "/dequantized";
    output.type = DataType::kFloat32;
    output.dims = real.dims;
    const TensorId result = graph_.AddTensor(std::move(output));
    AddNode(Op::kDequantize, stored, result);
    return result;
  }

  void AddWeights(const Node& real, Node& node) {
    const WeightChannels channel(real_, real);
    const std::vector<float> values = ir::Elements<float>(real_.tensor(real.inputs[1]));
    const StoredWeights stored = StoreWeights(values, channel, options_.pair_weights);
    if (options_.correct_bias && !real_.tensor(real.inputs[0]).is_constant())
      CorrectBias(real, values, channel, stored, node);
    node.inputs[1] = AddStored(real.inputs[1], stored.quantization, DataType::kInt8, ir::ToBytes(stored.levels));
  }

  /// Takes the mean of sum (w - stored w) * x, padding left aside, out of each output channel's bias.
  void CorrectBias(const Node& real, const std::vector<float>& values, const WeightChannels& channel,
                   const StoredWeights& stored, Node& node) {
    const std::vector<double>& means = observations_.ChannelMeans(real.inputs[0]);
    const ir::Tensor old = real_.tensor(real.inputs[2]);
    std::vector<float> bias = ir::Elements<float>(old);
    std::vector<double> shift(bias.size());
    for (size_t i = 0; i < values.size(); ++i) {
      const double scale = static_cast<double>(stored.quantization.scales[channel(i)]);
      shift[channel(i)] +=
          (static_cast<double>(values[i]) - stored.levels[i] * scale) * means[channel.Input(i, means.size())];
    }
    for (size_t c = 0; c < bias.size(); ++c) bias[c] += static_cast<float>(shift[c]);
    node.inputs[2] = graph_.AddConstant(old.name, DataType::kFloat32, old.dims, ir::ToBytes(bias));
  }

  /// Who binds the outputs knows them by name; states take their next value from where it is.
  void FinishOutputs() {
    for (TensorId& id : graph_.outputs) {
      const TensorId value = Value(id);
      if (value == id) continue;
      graph_.tensor(value).name = real_.tensor(id).name;
      graph_.tensor(value).source = real_.tensor(id).source;
      id = value;
    }
    for (ir::State& state : graph_.states) state.next = Value(state.next);
  }

  const ir::Graph& real_;
  ir::Graph graph_;
  const Observations& observations_;
  const Options& options_;
  const Node* origin_ = nullptr;  ///< The node that quantizations are inserted for.
  std::map<TensorId, TensorId> value_;
  std::map<std::pair<TensorId, Precision>, TensorId> dequantized_;
};

}  // namespace

std::vector<Precision> AssignPrecisions(const ir::Graph& graph, const Observations& observations,
                                        const std::vector<Precision>& wanted) {
  std::vector<Precision> precisions = wanted;
  const auto follows = [&](size_t i) {
    return ir::FindOpDef(graph.nodes[i].op).quant == QuantRule::kShared && precisions[i] != Precision::kFloat;
  };
  std::vector<bool> first(graph.nodes.size());  // No node that decides stands before it.
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (!HasIntegerForm(graph, node) || observations.SeparatesHeads(node)) precisions[i] = Precision::kFloat;
    first[i] = follows(i) && std::ranges::all_of(node.inputs, [&](TensorId id) {
                 const int producer = graph.ProducerOf(id);
                 return producer < 0 || first[static_cast<size_t>(producer)];
               });
  }
  for (size_t i = graph.nodes.size(); i-- > 0;) {
    const std::vector<int> readers = graph.ConsumersOf(graph.nodes[i].outputs[0]);
    if (!first[i] || readers.empty()) continue;
    precisions[i] = Precision::kFloat;
    for (const int reader : readers) precisions[i] = std::min(precisions[i], precisions[static_cast<size_t>(reader)]);
  }
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (first[i] || !follows(i)) continue;
    precisions[i] = Precision::kInt8;
    for (const TensorId id : graph.nodes[i].inputs) {
      const int producer = graph.ProducerOf(id);
      if (producer >= 0) precisions[i] = std::max(precisions[i], precisions[static_cast<size_t>(producer)]);
    }
  }
  return precisions;
}

ir::Graph InsertQuantizations(const ir::Graph& graph, const Observations& observations,
                              const std::vector<Precision>& precisions, const Options& options) {
  return Inserter(graph, observations, options).Run(precisions);
}

}  // namespace takt::quant
