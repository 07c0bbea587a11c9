// What control flow does at conversion: conditions that are constants, loops whose trips can be counted.
#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "converter/ir/constants.h"
#include "converter/ir/inline.h"
#include "converter/passes/evaluate.h"
#include "converter/passes/passes.h"

namespace takt::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::TensorId;

constexpr int64_t kMostCounted = 1 << 13;     // Trips that are followed at conversion.
constexpr int64_t kMostUnrolledNodes = 2048;  // Of all trips together.

ModelLocation Where(const Graph& graph, const Node& node) {
  return {graph.name, node.sources.empty() ? -1 : node.sources[0], node.name, ""};
}

bool IsControl(const Node& node) {
  return node.op == Op::kIf || node.op == Op::kWhile;
}

/// The part of a graph that some of its outputs need.
class Part {
 public:
  Part(const Graph& graph, const std::vector<size_t>& outputs) : part_(graph) {
    part_.outputs.clear();
    for (const size_t i : outputs) part_.outputs.push_back(graph.outputs[i]);
    std::set<TensorId> needed(part_.outputs.begin(), part_.outputs.end());
    std::vector<Node> nodes;
    for (auto node = part_.nodes.rbegin(); node != part_.nodes.rend(); ++node) {
      if (std::none_of(node->outputs.begin(), node->outputs.end(), [&](TensorId id) { return needed.count(id) != 0; }))
        continue;
      needed.insert(node->inputs.begin(), node->inputs.end());
      nodes.push_back(std::move(*node));
    }
    part_.nodes.assign(std::make_move_iterator(nodes.rbegin()), std::make_move_iterator(nodes.rend()));
    for (size_t i = 0; i < part_.inputs.size(); ++i)
      if (needed.count(part_.inputs[i]) != 0) reads_.insert(i);
  }

  /// Indices of the inputs that it reads.
  const std::set<size_t>& reads() const { return reads_; }

  /// The outputs' bytes; `values` holds those of each input that it reads.
  std::optional<std::vector<ir::Bytes>> Run(const std::vector<ir::Bytes>& values, Numerics numerics) const {
    Graph graph = part_;
    for (const size_t i : reads_) graph.tensor(graph.inputs[i]).data = std::make_shared<const ir::Bytes>(values[i]);
    graph.inputs.clear();
    return Evaluate(std::move(graph), numerics);
  }

 private:
  Graph part_;
  std::set<size_t> reads_;
};

std::vector<size_t> Sorted(const std::set<size_t>& set) {
  return {set.begin(), set.end()};
}

/// Follows the values that the condition depends on, if they are constants at first.
std::optional<int64_t> CountTrips(const Graph& graph, const Node& node, Numerics numerics) {
  const Part condition(node.bodies[0], {0});
  std::set<size_t> followed, fixed;
  const auto add = [&](const std::set<size_t>& reads) {
    bool grew = false;
    for (const size_t i : reads) grew |= (i < node.outputs.size() ? followed : fixed).insert(i).second;
    return grew;
  };
  for (bool grew = add(condition.reads()); grew;)  // With what the body computes them from.
    grew = add(Part(node.bodies[1], Sorted(followed)).reads());
  std::vector<ir::Bytes> values(node.inputs.size());
  for (const std::set<size_t>* each : {&followed, &fixed}) {
    for (const size_t i : *each) {
      const ir::Tensor& t = graph.tensor(node.inputs[i]);
      if (!t.is_constant()) return std::nullopt;
      values[i] = *t.data;
    }
  }
  const std::vector<size_t> order = Sorted(followed);
  const Part body(node.bodies[1], order);
  for (int64_t trips = 0; trips <= kMostCounted; ++trips) {
    const auto flag = condition.Run(values, numerics);
    if (!flag) return std::nullopt;
    if (flag->at(0).at(0) == 0) return trips;
    auto next = body.Run(values, numerics);
    if (!next) return std::nullopt;
    for (size_t i = 0; i < order.size(); ++i) values[order[i]] = std::move((*next)[i]);
  }
  return std::nullopt;
}

Node Renamed(const Node& from, TensorId input, TensorId output) {
  Node node;
  node.op = Op::kReshape;
  node.inputs = {input};
  node.outputs = {output};
  node.sources = from.sources;
  node.name = from.name;
  return node;
}

/// The nodes of each trip, one after another.
void Unroll(Graph& graph, const Node& node, int64_t trips, std::vector<Node>& nodes) {
  std::vector<TensorId> arguments = node.inputs;
  ir::Inliner inliner(node.bodies[1], graph);
  for (int64_t trip = 0; trip < trips; ++trip) {
    const std::string suffix = "/trip" + std::to_string(trip);
    std::vector<TensorId> results = node.outputs;
    for (size_t i = 0; trip + 1 < trips && i < results.size(); ++i)
      results[i] = ir::AddOutputOf(node.bodies[1], i, suffix, graph);
    inliner.Append(arguments, results, suffix, nodes);
    std::copy(results.begin(), results.end(), arguments.begin());
  }
  for (size_t i = 0; trips == 0 && i < node.outputs.size(); ++i)
    nodes.push_back(Renamed(node, node.inputs[i], node.outputs[i]));
}

/// Whether `node` is replaced, by `nodes`; a loop that is too long for that gets its number of trips.
bool Fold(Graph& graph, Node& node, PassContext& context, std::vector<Node>& nodes) {
  const size_t first = nodes.size();
  if (node.op == Op::kIf) {
    const ir::Tensor condition = graph.tensor(node.inputs[0]);
    if (!condition.is_constant()) return false;
    const Graph& taken = node.bodies[condition.data->at(0) != 0 ? 0 : 1];
    ir::Inliner(taken, graph).Append({node.inputs.begin() + 1, node.inputs.end()}, node.outputs, "", nodes);
  } else {
    if (node.attributes.count("max_trips") != 0) return false;
    const auto trips = CountTrips(graph, node, context.numerics);
    if (!trips) return false;
    if (*trips * static_cast<int64_t>(node.bodies[1].nodes.size()) > kMostUnrolledNodes) {
      node.attributes["max_trips"] = *trips;
      context.diagnostics.Note(Where(graph, node), "runs " + std::to_string(*trips) + " times; its steps stay a loop");
      return false;
    }
    Unroll(graph, node, *trips, nodes);
  }
  for (size_t i = first; i < nodes.size(); ++i) nodes[i].sources = node.sources;
  return true;
}

bool FoldAll(Graph& graph, PassContext& context) {
  bool folded = false;
  std::vector<Node> nodes;
  for (Node& node : std::exchange(graph.nodes, {})) {
    if (IsControl(node) && Fold(graph, node, context, nodes)) {
      folded = true;
    } else {
      nodes.push_back(std::move(node));
    }
  }
  graph.nodes = std::move(nodes);
  return folded;
}

/// A bound for each loop whose trips can't be counted.
void Bound(Graph& graph, PassContext& context) {
  for (Node& node : graph.nodes) {
    if (node.op != Op::kWhile || node.attributes.count("max_trips") != 0) continue;
    if (context.max_trips > 0) {
      node.attributes["max_trips"] = int64_t{context.max_trips};
      context.diagnostics.Note(Where(graph, node),
                               "runs at most " + std::to_string(context.max_trips) +
                                   " times, as --max-trips says; an invocation that wants more fails");
    } else {
      context.diagnostics.Error(Where(graph, node),
                                "is a loop whose number of trips does not follow from constants; a plan bounds each "
                                "loop: give --max-trips N");
    }
  }
}

}  // namespace

void FoldControl(Graph& graph, PassContext& context) {
  if (std::none_of(graph.nodes.begin(), graph.nodes.end(), IsControl)) return;
  do FoldConstants(graph, context);
  while (FoldAll(graph, context));
  Bound(graph, context);
}

}  // namespace takt::passes
