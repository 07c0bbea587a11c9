#include "converter/quant/normalization.h"

#include <algorithm>
#include <optional>
#include <string>

#include "converter/ir/constants.h"
#include "converter/ir/op_def.h"
#include "converter/quant/calibration.h"
#include "converter/quant/weight_channels.h"

namespace takt::quant {
namespace {

using ir::Node;
using ir::TensorId;

double Figure(const std::vector<double>& figures, size_t channel, double otherwise) {
  if (figures.empty()) return otherwise;
  return figures[figures.size() == 1 ? 0 : channel];
}

/// The contraction that reads `input`, and whether something is padded on the way.
struct Reader {
  Node* node = nullptr;
  bool padded = false;
};

Reader FindReader(ir::Graph& graph, TensorId id, size_t channels) {
  Reader reader;
  while (true) {
    const std::vector<int> readers = graph.ConsumersOf(id);
    if (readers.size() != 1 || graph.IsOutput(id)) return {};
    Node& node = graph.nodes[static_cast<size_t>(readers[0])];
    const bool moves = node.op == Op::kTranspose || (node.op == Op::kReshape && channels == 1) ||
                       (node.op == Op::kPad && node.FloatOr("value", 0) == 0);
    if (!moves) {
      const bool contraction = ir::FindOpDef(node.op).quant == ir::QuantRule::kContraction;
      if (!contraction || node.inputs[0] != id || !HasIntegerForm(graph, node)) return {};
      // Channels are the last dimension of what it reads.
      if (channels != 1 && graph.tensor(id).dims.back() != static_cast<int32_t>(channels)) return {};
      reader.node = &node;
      if (node.op != Op::kFullyConnected)
        reader.padded |= std::ranges::any_of(node.Ints("pads"), [](int64_t pad) { return pad != 0; });
      return reader;
    }
    reader.padded |= node.op == Op::kPad;
    id = node.outputs[0];
  }
}

class Folder {
 public:
  Folder(ir::Graph& graph, const Normalization& normalization, Diagnostics& diagnostics)
      : graph_(graph), normalization_(normalization), diagnostics_(diagnostics) {}

  void Fold(TensorId input) {
    const auto axis = ChannelAxis(graph_.tensor(input));
    if (!axis) {
      return diagnostics_.Error({graph_.name, -1, "", graph_.tensor(input).name},
                                "has no dimension of as many channels as --mean or --std has figures, first after the "
                                "batch or last; give one figure, or one a channel");
    }
    const Reader reader = FindReader(graph_, input, Channels());
    if (reader.node != nullptr) FoldIntoWeights(*reader.node, reader.padded);
    if (reader.node == nullptr || reader.padded) AddStep(Op::kAdd, input, *axis, "--mean is subtracted");
    if (reader.node == nullptr) AddStep(Op::kMul, input, *axis, "--std divides");
  }

 private:
  size_t Channels() const { return std::max({normalization_.mean.size(), normalization_.std.size(), size_t{1}}); }

  std::optional<size_t> ChannelAxis(const ir::Tensor& input) const {
    const auto channels = static_cast<int32_t>(Channels());
    if (channels == 1) return 0;
    for (const size_t axis : {input.dims.size() - 1, size_t{1}}) {
      if (axis < input.dims.size() && input.dims[axis] == channels) return axis;
    }
    return std::nullopt;
  }

  void FoldIntoWeights(Node& node, bool padded) {
    const WeightChannels channel(graph_, node);
    const auto inputs = static_cast<size_t>(graph_.tensor(node.inputs[0]).dims.back());
    const ir::Tensor weights = graph_.tensor(node.inputs[1]), bias = graph_.tensor(node.inputs[2]);
    std::vector<float> values = ir::Elements<float>(weights);
    const std::vector<float> old = ir::Elements<float>(bias);
    std::vector<double> sums(old.begin(), old.end());
    for (size_t i = 0; i < values.size(); ++i) {
      const size_t c = channel.Input(i, inputs) % Channels();
      const double scaled = static_cast<double>(values[i]) / Figure(normalization_.std, c, 1);
      values[i] = static_cast<float>(scaled);
      if (!padded) sums[channel(i)] -= scaled * Figure(normalization_.mean, c, 0);
    }
    node.inputs[1] = graph_.AddConstant(weights.name, DataType::kFloat32, weights.dims, ir::ToBytes(values));
    node.inputs[2] = graph_.AddConstant(bias.name, DataType::kFloat32, bias.dims,
                                        ir::ToBytes(std::vector<float>(sums.begin(), sums.end())));
  }

  /// In front of all that reads the input, or what earlier steps have made of it.
  void AddStep(Op op, TensorId input, size_t axis, const std::string& what) {
    const std::vector<double>& figures = op == Op::kAdd ? normalization_.mean : normalization_.std;
    if (figures.empty()) return;
    std::vector<float> values;
    for (const double figure : figures) values.push_back(static_cast<float>(op == Op::kAdd ? -figure : 1 / figure));
    std::vector<int32_t> dims(graph_.tensor(input).dims.size(), 1);
    if (!dims.empty()) dims[axis] = static_cast<int32_t>(values.size());
    Node node;
    node.op = op;
    node.name = "normalization";
    const TensorId from = last_ == ir::kNoTensor ? input : last_;
    ir::Tensor result = graph_.tensor(input);
    result.name += op == Op::kAdd ? "/centred" : "/normalized";
    result.source = -1;
    const TensorId to = graph_.AddTensor(std::move(result));
    graph_.ReplaceUses(from, to);
    node.inputs = {from, graph_.AddConstant("normalization", DataType::kFloat32, dims, ir::ToBytes(values))};
    node.outputs = {to};
    graph_.nodes.insert(graph_.nodes.begin() + position_++, std::move(node));
    last_ = to;
    diagnostics_.Note({graph_.name, -1, "", graph_.tensor(input).name}, what + " in a step of its own");
  }

  ir::Graph& graph_;
  const Normalization& normalization_;
  Diagnostics& diagnostics_;
  TensorId last_ = ir::kNoTensor;
  int64_t position_ = 0;
};

}  // namespace

void FoldNormalization(ir::Graph& graph, const Normalization& normalization, Diagnostics& diagnostics) {
  for (const TensorId input : std::vector<TensorId>(graph.inputs))
    Folder(graph, normalization, diagnostics).Fold(input);
}

}  // namespace takt::quant
