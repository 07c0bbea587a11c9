// Requantizes where an int8 op's own arithmetic does not bridge the quantizations of its operands (engine/NUMERICS.md).
#include <algorithm>
#include <cmath>
#include <utility>

#include "converter/ops/quantized_params.h"
#include "converter/passes/passes.h"

namespace takt::passes {
namespace {

class Inserter {
 public:
  Inserter(ir::Graph& graph, PassContext& context) : graph_(graph), context_(context) {}

  void Run() {
    for (ir::Node& node : graph_.nodes) {
      if (node.op == Op::kAveragePool2d || node.op == Op::kMaxPool2d) {
        Pool(std::move(node));
      } else {
        if (node.op == Op::kAdd && context_.numerics == Numerics::kFp32Rne) Add(node);
        nodes_.push_back(std::move(node));
      }
    }
    graph_.nodes = std::move(nodes_);
  }

 private:
  /// A tensor like `id` with another quantization.
  ir::TensorId Like(ir::TensorId id, ir::Quantization quantization) {
    ir::Tensor tensor = graph_.tensor(id);
    tensor.name += "/requantized";
    tensor.quantization = std::move(quantization);
    tensor.data = nullptr;
    tensor.source = -1;
    return graph_.AddTensor(std::move(tensor));
  }

  void AddRequantize(const ir::Node& origin, ir::TensorId from, ir::TensorId to, const std::string& activation,
                     ir::TensorId culprit, const std::string& why) {
    ir::Node node;
    node.op = Op::kRequantize;
    node.inputs = {from};
    node.outputs = {to};
    node.attributes = {{"activation", activation}};
    node.sources = origin.sources;
    node.name = origin.name;
    nodes_.push_back(std::move(node));
    context_.diagnostics.Note(
        {graph_.name, origin.sources.empty() ? -1 : origin.sources[0], origin.name, graph_.tensor(culprit).name},
        "is requantized in a step of its own: " + why);
  }

  /// TFLite averages stored values where the scales differ by no more than 1e-6.
  bool PoolsAlike(const ir::Tensor& x, const ir::Tensor& y) const {
    if (!ir::IsInteger(x.type) || ir::SameQuantization(x, y)) return true;
    return context_.numerics == Numerics::kTflite && ir::ZeroPointOf(x) == ir::ZeroPointOf(y) &&
           std::fabs(ir::ScaleOf(x) - ir::ScaleOf(y)) <= 1e-6f;
  }

  /// A pool works on stored values of one quantization: its result is requantized, and the activation applied there.
  void Pool(ir::Node node) {
    const ir::TensorId x = node.inputs[0];
    const ir::TensorId y = node.outputs[0];
    if (PoolsAlike(graph_.tensor(x), graph_.tensor(y)) || !graph_.tensor(x).quantization) {
      nodes_.push_back(std::move(node));
      return;
    }
    const std::string activation = node.StringOr("activation", "none");
    node.attributes["activation"] = std::string("none");
    node.outputs = {Like(y, *graph_.tensor(x).quantization)};
    nodes_.push_back(node);
    AddRequantize(node, node.outputs[0], y, activation, y, "a pool's input and output have one quantization");
  }

  static bool InReach(float ratio) { return ratio >= 0x1p-10f && ratio < 0x1p8f; }

  /// An operand whose scale is out of reach gets the nearest scale that is not. Nothing is lost: above, each step of
  /// the operand saturates the sum; below, the operand's whole range is less than a quarter of the output's step.
  void Add(ir::Node& node) {
    const ir::Tensor output = graph_.tensor(node.outputs[0]);
    if (!ir::IsInteger(output.type) || ir::ScaleOf(output) == 0.0f) return;
    const auto ratio_of = [&](ir::TensorId id) { return ir::ScaleOf(graph_.tensor(id)) / ir::ScaleOf(output); };
    const float largest = std::max(ratio_of(node.inputs[0]), ratio_of(node.inputs[1]));
    if (output.type == DataType::kInt16 && InReach(largest)) return;  // 64 bits take a far smaller operand as it is.
    for (ir::TensorId& input : node.inputs) {
      const float ratio = ratio_of(input);
      if (ratio == 0.0f || InReach(ratio)) continue;
      const float reached = ir::ScaleOf(output) * (ratio < 1.0f ? 0x1p-10f : 0x1p7f);
      const ir::TensorId scaled = Like(input, {{reached}, {0}, 0});
      AddRequantize(node, input, scaled, "none", input,
                    "the ratio " + std::to_string(ratio) + " of its scale to the output's is outside [2^-10, 2^8)");
      input = scaled;
    }
  }

  ir::Graph& graph_;
  PassContext& context_;
  std::vector<ir::Node> nodes_;
};

}  // namespace

void InsertRequantizes(ir::Graph& graph, PassContext& context) {
  Inserter(graph, context).Run();
}

}  // namespace takt::passes
