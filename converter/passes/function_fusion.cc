// Exporters write some functions as arithmetic: those that the unary op has become one node.
#include <cmath>
#include <optional>
#include <string>

#include "converter/ir/constants.h"
#include "converter/passes/passes.h"

namespace takt::passes {
namespace {

using ir::Node;
using ir::TensorId;

bool Near(double a, double b) {
  return std::fabs(a - b) <= 1e-6 * std::fabs(b);
}

/// x times a number.
struct Scaled {
  TensorId x = ir::kNoTensor;
  double factor = 1;
};

class Matcher {
 public:
  explicit Matcher(const ir::Graph& graph) : graph_(graph) {}

  /// The function that `node` completes and its operand; no name if there is none.
  std::pair<std::string, TensorId> Match(const Node& node) const {
    const Scaled result = Times(node.outputs[0]);
    const Node* product = Producer(result.x, Op::kMul);
    if (product == nullptr) return {};
    for (size_t i = 0; i < 2; ++i) {
      const Scaled x = Times(product->inputs[i]), gate = Times(product->inputs[1 - i]);
      const double factor = result.factor * x.factor * gate.factor;
      if (Near(factor, 0.5) && IsGeluGate(gate.x, x.x)) return {"gelu", x.x};
      if (Near(factor, 1.0 / 6) && IsClampedShift(gate.x, x.x)) return {"hard_swish", x.x};
      if (Near(factor, 1) && IsHardSigmoid(gate.x, x.x)) return {"hard_swish", x.x};
      if (Near(factor, 1) && IsMishGate(gate.x, x.x)) return {"mish", x.x};
    }
    return {};
  }

 private:
  /// The plain float node of this op that writes `id`.
  const Node* Producer(TensorId id, Op op, const char* function = "") const {
    const int at = graph_.ProducerOf(id);
    if (at < 0 || graph_.tensor(id).type != DataType::kFloat32) return nullptr;
    const Node& node = graph_.nodes[static_cast<size_t>(at)];
    const bool plain = node.StringOr("activation", "none") == "none" && node.StringOr("function", "") == function;
    return node.op == op && plain ? &node : nullptr;
  }

  std::optional<double> Number(TensorId id) const {
    const ir::Tensor& t = graph_.tensor(id);
    if (!t.is_constant() || t.type != DataType::kFloat32 || t.element_count() != 1) return std::nullopt;
    return static_cast<double>(ir::Elements<float>(t)[0]);
  }

  Scaled Times(TensorId id) const {
    Scaled s{id, 1};
    while (true) {
      const Node* product = Producer(s.x, Op::kMul);
      const Node* quotient = product != nullptr ? nullptr : Producer(s.x, Op::kBinary, "divide");
      const Node* node = product != nullptr ? product : quotient;
      if (node == nullptr) return s;
      const auto right = Number(node->inputs[1]);
      const auto left = quotient != nullptr || right ? std::nullopt : Number(node->inputs[0]);
      if (!right && !left) return s;
      s = {node->inputs[right ? 0 : 1], s.factor * (quotient != nullptr ? 1 / *right : right ? *right : *left)};
    }
  }

  /// x if `id` is x + number.
  TensorId Shifted(TensorId id, double number) const {
    const Node* sum = Producer(id, Op::kAdd);
    for (size_t i = 0; sum != nullptr && i < 2; ++i) {
      const auto term = Number(sum->inputs[i]);
      if (term && *term == number) return sum->inputs[1 - i];
    }
    return ir::kNoTensor;
  }

  /// 1 + erf(x / sqrt(2))
  bool IsGeluGate(TensorId id, TensorId x) const {
    const TensorId erf = Shifted(id, 1);
    const Node* function = erf == ir::kNoTensor ? nullptr : Producer(erf, Op::kUnary, "erf");
    if (function == nullptr) return false;
    const Scaled argument = Times(function->inputs[0]);
    return argument.x == x && Near(argument.factor, std::sqrt(0.5));
  }

  /// min(max(x + 3, 0), 6)
  bool IsClampedShift(TensorId id, TensorId x) const {
    const Node* clamp = Producer(id, Op::kClamp);
    return clamp != nullptr && clamp->FloatOr("min", -1) == 0 && clamp->FloatOr("max", -1) == 6 &&
           Shifted(clamp->inputs[0], 3) == x;
  }

  bool IsHardSigmoid(TensorId id, TensorId x) const {
    const Node* function = Producer(id, Op::kUnary, "hard_sigmoid");
    return function != nullptr && Near(function->FloatOr("alpha", 0), 1.0 / 6) && function->inputs[0] == x;
  }

  /// tanh(softplus(x))
  bool IsMishGate(TensorId id, TensorId x) const {
    const Node* tanh = Producer(id, Op::kUnary, "tanh");
    const Node* softplus = tanh == nullptr ? nullptr : Producer(tanh->inputs[0], Op::kUnary, "softplus");
    return softplus != nullptr && softplus->inputs[0] == x;
  }

  const ir::Graph& graph_;
};

}  // namespace

void FuseFunctions(ir::Graph& graph, PassContext&) {
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const auto [function, x] = Matcher(graph).Match(graph.nodes[i]);
    if (function.empty() || graph.tensor(x).dims != graph.tensor(graph.nodes[i].outputs[0]).dims) continue;
    Node& node = graph.nodes[i];
    node.op = Op::kUnary;
    node.inputs = {x};
    node.attributes = {{"function", function}};
  }
}

}  // namespace takt::passes
