// dequantize -> float op -> quantize becomes the integer op. Real-valued attributes stay as they are (ir/graph.h), so
// only tensors change: operands become the stored ones, the output that of the quantization, a contraction's bias
// int32, beside int16 activations int64.
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "converter/ir/constants.h"
#include "converter/ir/op_def.h"
#include "converter/passes/passes.h"

namespace takt::passes {
namespace {

using ir::Node;
using ir::QuantRule;
using ir::TensorId;

/// What a softmax's kernels fix for its output.
ir::Quantization SoftmaxQuantization(DataType type) {
  if (type == DataType::kInt16) return {{1.0f / 32768}, {0}, 0};
  return {{1.0f / 256}, {-128}, 0};
}

class Fuser {
 public:
  Fuser(ir::Graph& graph, PassContext& context) : graph_(graph), context_(context) {}

  void Run() {
    MoveBeforeDequantizations();
    MoveBehindQuantizations();
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (graph_.nodes[i].op != Op::kQuantize) continue;
      const int producer = graph_.ProducerOf(graph_.nodes[i].inputs[0]);
      if (producer < 0) continue;  // A graph input.
      const std::string reason = Fuse(static_cast<size_t>(producer), i);
      if (!reason.empty())
        Report(graph_.nodes[static_cast<size_t>(producer)], "stays float between its quantizations: " + reason);
    }
    for (const Node& node : graph_.nodes) {
      const auto stored = [this](TensorId id) { return id != ir::kNoTensor && Stored(id) != ir::kNoTensor; };
      if (!node.outputs.empty() && !IsQuantization(node.op) && !node.inputs.empty() && stored(node.inputs[0]))
        Report(node, "reads quantized values and stays float: its result is not quantized");
    }
    // Nodes that a fusion left without purpose.
    std::erase_if(graph_.nodes, [](const Node& node) { return node.outputs.empty(); });
  }

 private:
  static bool IsQuantization(Op op) { return op == Op::kQuantize || op == Op::kDequantize || op == Op::kRequantize; }

  /// Names a node that stays float, once.
  void Report(const Node& node, const std::string& what) {
    if (!reported_.insert(node.outputs[0]).second) return;
    context_.diagnostics.Note({graph_.name, node.sources.empty() ? -1 : node.sources[0], node.name, ""}, what);
  }

  /// The integer tensor of which `id` is the dequantized form, or kNoTensor.
  TensorId Stored(TensorId id) const {
    const int producer = graph_.ProducerOf(id);
    if (producer < 0 || graph_.nodes[static_cast<size_t>(producer)].op != Op::kDequantize) return ir::kNoTensor;
    return graph_.nodes[static_cast<size_t>(producer)].inputs[0];
  }

  TensorId NewTensor(TensorId like, DataType type, const ir::Quantization& quantization) {
    ir::Tensor tensor = graph_.tensor(like);
    tensor.name += type == DataType::kInt8 ? "/int8" : "/int16";
    tensor.type = type;
    tensor.quantization = quantization;
    tensor.data = nullptr;
    tensor.source = -1;
    return graph_.AddTensor(std::move(tensor));
  }

  /// What only moves a dequantized tensor moves the stored one, so that the dequantization meets what computes.
  void MoveBeforeDequantizations() {
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const Op op = graph_.nodes[i].op;
      const TensorId stored =
          op == Op::kTranspose || op == Op::kReshape ? Stored(graph_.nodes[i].inputs[0]) : ir::kNoTensor;
      if (stored == ir::kNoTensor || graph_.tensor(stored).quantization->per_channel()) continue;
      const TensorId real = graph_.nodes[i].outputs[0];
      const TensorId moved = NewTensor(real, graph_.tensor(stored).type, *graph_.tensor(stored).quantization);
      Node dequantize = graph_.nodes[i];
      dequantize.op = Op::kDequantize;
      dequantize.attributes.clear();
      dequantize.inputs = {moved};
      graph_.nodes[i].inputs = {stored};
      graph_.nodes[i].outputs = {moved};
      graph_.nodes.insert(graph_.nodes.begin() + static_cast<int64_t>(i) + 1, std::move(dequantize));
    }
  }

  /// What only moves a tensor that is quantized next moves the quantized one, so that the quantization meets what
  /// computes.
  void MoveBehindQuantizations() {
    for (size_t q = 0; q < graph_.nodes.size(); ++q) {
      if (graph_.nodes[q].op != Op::kQuantize) continue;
      const TensorId moved = graph_.nodes[q].inputs[0], result = graph_.nodes[q].outputs[0];
      const int p = graph_.ProducerOf(moved);
      if (p < 0 || graph_.ConsumersOf(moved).size() != 1 || graph_.IsOutput(moved)) continue;
      Node& mover = graph_.nodes[static_cast<size_t>(p)];
      if (mover.op != Op::kTranspose && mover.op != Op::kReshape) continue;
      const TensorId stored =
          NewTensor(mover.inputs[0], graph_.tensor(result).type, *graph_.tensor(result).quantization);
      Node quantize = graph_.nodes[q];
      quantize.inputs = {mover.inputs[0]};
      quantize.outputs = {stored};
      mover.inputs = {stored};
      mover.outputs = {result};
      std::swap(mover, quantize);
      graph_.nodes[q] = std::move(quantize);
      q = static_cast<size_t>(p) - (p > 0);  // Another move may come before it.
    }
  }

  /// Fuses node `p`, whose output node `q` quantizes. Gives the reason if it stays float.
  std::string Fuse(size_t p, size_t& q) {
    const TensorId real = graph_.nodes[q].inputs[0];
    if (graph_.nodes[p].op == Op::kDequantize) {
      graph_.nodes[q].op = Op::kRequantize;
      graph_.nodes[q].inputs[0] = graph_.nodes[p].inputs[0];
      return "";
    }
    const QuantRule rule = ir::FindOpDef(graph_.nodes[p].op).quant;
    if (rule == QuantRule::kFloat) return "the op has no integer form";
    if (graph_.ConsumersOf(real).size() != 1 || graph_.IsOutput(real)) return "its float result is read as well";
    const TensorId result = graph_.nodes[q].outputs[0];
    const DataType type = graph_.tensor(result).type;
    if (type != DataType::kInt8 && type != DataType::kInt16) return "its result is quantized neither to int8 nor int16";
    std::vector<TensorId> inputs = graph_.nodes[p].inputs;
    const size_t activations = rule == QuantRule::kContraction ? 1 : inputs.size();
    for (size_t i = 0; i < activations; ++i) {
      inputs[i] = Stored(inputs[i]);
      if (inputs[i] == ir::kNoTensor) return "input " + std::to_string(i) + " is not quantized";
      if (graph_.tensor(inputs[i]).type != type)
        return "input " + std::to_string(i) + " is not quantized to the type of its result";
    }
    if (rule == QuantRule::kContraction) {
      std::string reason = FuseWeights(graph_.nodes[p], inputs);
      if (!reason.empty()) return reason;
    }
    if (rule == QuantRule::kShared && inputs.size() > 1) RequantizeParts(p, q, result, inputs);
    FinishFusion(graph_.nodes[p], graph_.nodes[q], rule, std::move(inputs), result);
    return "";
  }

  /// Parts of a concatenation in the output's quantization; nodes put before `p` move it and `q`.
  void RequantizeParts(size_t& p, size_t& q, TensorId result, std::vector<TensorId>& inputs) {
    for (TensorId& id : inputs) {
      if (graph_.tensor(id).quantization == graph_.tensor(result).quantization) continue;
      Node requantize = graph_.nodes[p];
      requantize.op = Op::kRequantize;
      requantize.attributes.clear();
      requantize.inputs = {id};
      id = NewTensor(id, graph_.tensor(result).type, *graph_.tensor(result).quantization);
      requantize.outputs = {id};
      graph_.nodes.insert(graph_.nodes.begin() + static_cast<int64_t>(p), std::move(requantize));
      ++p;
      ++q;
    }
  }

  void FinishFusion(Node& node, Node& quantize, QuantRule rule, std::vector<TensorId> inputs, TensorId result) {
    node.inputs = std::move(inputs);
    ir::Quantization own = *graph_.tensor(result).quantization;
    if (rule == QuantRule::kShared) own = *graph_.tensor(node.inputs[0]).quantization;
    if (rule == QuantRule::kSoftmax) own = SoftmaxQuantization(graph_.tensor(result).type);
    if (own == *graph_.tensor(result).quantization) {
      node.outputs = {result};
      quantize.outputs.clear();
      return;
    }
    const TensorId between = NewTensor(result, graph_.tensor(result).type, own);
    node.outputs = {between};
    quantize.op = Op::kRequantize;
    quantize.inputs = {between};
  }

  /// Weights and bias of a contraction as stored: bias = round(b / (input scale * weight scale)).
  std::string FuseWeights(const Node& node, std::vector<TensorId>& inputs) {
    const TensorId weights = Stored(node.inputs[1]);
    if (weights == ir::kNoTensor || !graph_.tensor(weights).is_constant())
      return "its weights are not quantized constants";
    const ir::Tensor& bias = graph_.tensor(node.inputs[2]);
    if (!bias.is_constant() || bias.type != DataType::kFloat32) return "its bias is not constant";
    const ir::Quantization& w = *graph_.tensor(weights).quantization;
    const bool symmetric = std::all_of(w.zero_points.begin(), w.zero_points.end(), [](int32_t z) { return z == 0; });
    if (w.per_channel() && !symmetric) return "its weights have zero points per channel";
    const std::vector<float> values = ir::Elements<float>(bias);
    if (w.per_channel() && w.scales.size() != values.size()) return "its weights are not quantized per output channel";
    const double in = static_cast<double>(graph_.tensor(inputs[0]).quantization->scales[0]);
    const bool wide = graph_.tensor(inputs[0]).type == DataType::kInt16;
    std::vector<int64_t> stored;
    for (size_t c = 0; c < values.size(); ++c) {
      const double scale = in * static_cast<double>(w.scales[w.per_channel() ? c : 0]);
      const double rounded = std::nearbyint(static_cast<double>(values[c]) / scale);
      if (!(std::fabs(rounded) < (wide ? 0x1p47 : 0x1p31)))
        return "its bias does not fit " + std::string(wide ? "48" : "32") +
               " bits in units of input scale times weight scale";
      stored.push_back(static_cast<int64_t>(rounded));
    }
    inputs[1] = weights;
    inputs[2] = wide ? graph_.AddConstant(bias.name + "/int64", DataType::kInt64, bias.dims, ir::ToBytes(stored))
                     : graph_.AddConstant(bias.name + "/int32", DataType::kInt32, bias.dims,
                                          ir::ToBytes(std::vector<int32_t>(stored.begin(), stored.end())));
    return "";
  }

  ir::Graph& graph_;
  PassContext& context_;
  std::set<TensorId> reported_;
};

std::vector<int32_t> Levels(const ir::Tensor& stored) {
  if (stored.type == DataType::kInt16) {
    const std::vector<int16_t> levels = ir::Elements<int16_t>(stored);
    return {levels.begin(), levels.end()};
  }
  const std::vector<int8_t> levels = ir::Elements<int8_t>(stored);
  return {levels.begin(), levels.end()};
}

/// A dequantized constant that no integer op took is a float constant; it may be quantized per channel.
void FoldStoredConstants(ir::Graph& graph) {
  for (Node& node : graph.nodes) {
    if (node.op != Op::kDequantize || !graph.tensor(node.inputs[0]).is_constant()) continue;
    const ir::Tensor stored = graph.tensor(node.inputs[0]);
    if (stored.type != DataType::kInt8 && stored.type != DataType::kInt16) continue;
    const ir::Quantization& q = *stored.quantization;
    int64_t inner = 1;
    for (size_t d = static_cast<size_t>(q.axis) + 1; d < stored.dims.size(); ++d) inner *= stored.dims[d];
    const std::vector<int32_t> levels = Levels(stored);
    std::vector<float> real;
    for (size_t i = 0; i < levels.size(); ++i) {
      const size_t c = q.per_channel() ? i / static_cast<size_t>(inner) % q.scales.size() : 0;
      real.push_back(static_cast<float>(levels[i] - q.zero_points[c]) * q.scales[c]);
    }
    const TensorId output = node.outputs[0];
    if (graph.IsOutput(output)) continue;
    const TensorId constant =
        graph.AddConstant(graph.tensor(output).name, DataType::kFloat32, stored.dims, ir::ToBytes(real));
    node.outputs.clear();
    graph.ReplaceUses(output, constant);
  }
  std::erase_if(graph.nodes, [](const Node& node) { return node.outputs.empty(); });
}

}  // namespace

void FuseQuantization(ir::Graph& graph, PassContext& context) {
  Fuser(graph, context).Run();
  EliminateDeadCode(graph, context);
  FoldStoredConstants(graph);
}

}  // namespace takt::passes
