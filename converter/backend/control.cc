#include "converter/backend/control.h"

#include <algorithm>
#include <utility>

#include "converter/ir/inline.h"
#include "engine/plan/plan_validator.h"

namespace takt::backend {
namespace {

using ir::Graph;
using ir::Node;
using ir::TensorId;
using Nodes = std::vector<Node>;

Node MakeNode(Op op, const Node& from, std::vector<TensorId> inputs, std::vector<TensorId> outputs) {
  Node node;
  node.op = op;
  node.inputs = std::move(inputs);
  node.outputs = std::move(outputs);
  node.sources = from.sources;
  node.name = from.name;
  return node;
}

class Flattener {
 public:
  Flattener(Graph& graph, Diagnostics& diagnostics) : graph_(graph), diagnostics_(diagnostics) {}

  Nodes Run(Nodes nodes) {
    Nodes flat;
    for (Node& node : nodes) {
      if (node.op == Op::kIf) {
        If(node, flat);
      } else if (node.op == Op::kWhile) {
        While(node, flat);
      } else {
        flat.push_back(std::move(node));
      }
    }
    return flat;
  }

 private:
  /// The body's nodes, flat; those of a scope count one level more.
  Nodes Body(ir::Inliner& body, const Node& node, const std::vector<TensorId>& arguments,
             const std::vector<TensorId>& results, bool scope) {
    Nodes nodes;
    body.Append(arguments, results, "/" + std::to_string(bodies_++), nodes);
    for (Node& inner : nodes) inner.sources = node.sources;
    depth_ += scope;
    if (depth_ > kMaxControlDepth) {
      diagnostics_.Error({graph_.name, node.sources.empty() ? -1 : node.sources[0], node.name, ""},
                         "nests control flow deeper than " + std::to_string(kMaxControlDepth) +
                             " levels, which is what a plan allows; flatten the model");
      nodes.clear();
    }
    nodes = Run(std::move(nodes));
    depth_ -= scope;
    return nodes;
  }

  TensorId Flag(const Node& node, const char* name) {
    ir::Tensor flag;
    flag.name = node.name + "/" + name + std::to_string(bodies_);
    flag.type = DataType::kBool;
    return graph_.AddTensor(std::move(flag));
  }

  static void Scope(Node control, Nodes body, Nodes& flat) {
    control.attributes["count"] = static_cast<int64_t>(body.size());
    flat.push_back(std::move(control));
    std::move(body.begin(), body.end(), std::back_inserter(flat));
  }

  void If(const Node& node, Nodes& flat) {
    const std::vector<TensorId> arguments(node.inputs.begin() + 1, node.inputs.end());
    const TensorId condition = node.inputs[0];
    const TensorId otherwise = Flag(node, "else");
    graph_.tensor(otherwise).dims = graph_.tensor(condition).dims;
    Node negation = MakeNode(Op::kLogic, node, {condition}, {otherwise});
    negation.attributes["function"] = std::string("negation");
    flat.push_back(std::move(negation));
    for (size_t i = 0; i < 2; ++i) {
      ir::Inliner body(node.bodies[i], graph_);
      Scope(MakeNode(Op::kSkipIf, node, {i == 0 ? condition : otherwise}, {}),
            Body(body, node, arguments, node.outputs, true), flat);
    }
  }

  /// The outputs' memory holds the values that are carried. The condition is computed before the loop and at the end of
  /// its body.
  void While(const Node& node, Nodes& flat) {
    const std::vector<TensorId>& carried = node.outputs;
    std::vector<TensorId> arguments = node.inputs;
    for (size_t i = 0; i < carried.size(); ++i) {
      flat.push_back(MakeNode(Op::kCopy, node, {node.inputs[i]}, {carried[i]}));
      arguments[i] = carried[i];
    }
    const Graph &test = node.bodies[0], &body = node.bodies[1];
    const TensorId condition = ir::AddOutputOf(test, 0, "/" + std::to_string(bodies_), graph_);
    ir::Inliner tester(test, graph_), worker(body, graph_);
    const auto add_test = [&](Nodes& to, bool scope) {
      Nodes nodes = Body(tester, node, arguments, {condition}, scope);
      std::move(nodes.begin(), nodes.end(), std::back_inserter(to));
    };
    add_test(flat, false);
    std::vector<TensorId> next;
    for (size_t i = 0; i < carried.size(); ++i)
      next.push_back(ir::AddOutputOf(body, i, "/" + std::to_string(bodies_), graph_));
    Nodes trip = Body(worker, node, arguments, next, true);
    for (size_t i = 0; i < carried.size(); ++i)
      if (!WriteInPlace(trip, next[i], carried[i])) trip.push_back(MakeNode(Op::kCopy, node, {next[i]}, {carried[i]}));
    add_test(trip, true);
    Node loop = MakeNode(Op::kLoop, node, {condition}, {});
    loop.attributes["max_trips"] = node.Int("max_trips");
    Scope(std::move(loop), std::move(trip), flat);
  }

  bool Touches(const std::vector<TensorId>& ids, TensorId root) const {
    return std::any_of(ids.begin(), ids.end(), [&](TensorId id) {
      if (id == ir::kNoTensor) return false;
      const auto& view = graph_.tensor(id).view;
      return id == root || (view && view->base == root);
    });
  }

  /// Makes the one writer of `value` write `place`, if nothing reads what was there from then on.
  bool WriteInPlace(Nodes& nodes, TensorId value, TensorId place) {
    int writers = 0;
    bool read = false;
    for (const Node& node : nodes) {
      const bool writes = Touches(node.outputs, value);
      writers += writes;
      const OpInfo* info = FindOpInfo(node.op);
      const bool in_place = writes && info != nullptr && (info->traits & kInPlace) != 0;
      read = read || (writers > 0 && !in_place && Touches(node.inputs, place));
    }
    if (writers != 1 || read) return false;
    for (Node& node : nodes) {
      std::replace(node.inputs.begin(), node.inputs.end(), value, place);
      std::replace(node.outputs.begin(), node.outputs.end(), value, place);
    }
    for (ir::Tensor& tensor : graph_.tensors)
      if (tensor.view && tensor.view->base == value) tensor.view->base = place;
    return true;
  }

  Graph& graph_;
  Diagnostics& diagnostics_;
  int bodies_ = 0;
  int depth_ = 0;
};

}  // namespace

void FlattenControl(Graph& graph, Diagnostics& diagnostics) {
  graph.nodes = Flattener(graph, diagnostics).Run(std::move(graph.nodes));
}

}  // namespace takt::backend
