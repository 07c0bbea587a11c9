// Transposes move towards the outputs, past every op that commutes with them (OpDef::commute), until they meet their
// inverse, a constant that can be transposed for good, or an op that needs its operand as it stands.
#include <algorithm>
#include <map>
#include <utility>

#include "converter/ir/constants.h"
#include "converter/ir/op_def.h"
#include "converter/passes/passes.h"

namespace takt::passes {
namespace {

using ir::Node;
using ir::TensorId;
using Permutation = std::vector<int64_t>;

Permutation IdentityOf(size_t rank) {
  Permutation identity(rank);
  for (size_t i = 0; i < rank; ++i) identity[i] = static_cast<int64_t>(i);
  return identity;
}

/// A tensor equals transpose(base, permutation), reshaped to its own dims if `flat`.
struct Value {
  TensorId base = ir::kNoTensor;
  Permutation permutation;
  bool flat = false;
};

/// Dims of consecutive dimensions whose products agree: in[in_begin .. in_end) holds what out[out_begin .. out_end)
/// holds.
struct Group {
  size_t in_begin, in_end, out_begin, out_end;
};

std::vector<Group> CommonGroups(const std::vector<int32_t>& in, const std::vector<int32_t>& out) {
  std::vector<Group> groups;
  size_t i = 0;
  size_t k = 0;
  while (i < in.size() && k < out.size()) {
    Group g{i, i + 1, k, k + 1};
    int64_t a = in[i];
    int64_t b = out[k];
    while (a != b) {
      if (a < b) {
        a *= in[g.in_end++];
      } else {
        b *= out[g.out_end++];
      }
    }
    i = g.in_end;
    k = g.out_end;
    groups.push_back(g);
  }
  if (!groups.empty()) groups.back().in_end = in.size(), groups.back().out_end = out.size();  // Trailing ones.
  return groups;
}

class Sinker {
 public:
  explicit Sinker(ir::Graph& graph) : graph_(graph) {}

  void Run() {
    before_ = graph_.nodes;
    std::vector<Node> nodes = std::move(graph_.nodes);
    graph_.nodes.clear();
    for (Node& node : nodes) {
      if (node.op == Op::kTranspose) {
        Defer(node);
      } else if (!SinkReshape(node) && !SinkFullyConnected(node) && !Commute(node)) {
        for (TensorId& id : node.inputs) id = Read(id);
        graph_.nodes.push_back(std::move(node));
      }
    }
    for (TensorId& id : graph_.outputs) id = ReadOutput(id);
    for (ir::State& state : graph_.states) state.next = ReadOutput(state.next);
  }

 private:
  Value ValueOf(TensorId id) const {
    const auto found = values_.find(id);
    return found != values_.end() ? found->second : Value{id, IdentityOf(graph_.tensor(id).dims.size())};
  }
  bool IsDeferred(TensorId id) const {
    const auto found = values_.find(id);
    return found != values_.end() && !found->second.flat && !ir::IsIdentity(found->second.permutation);
  }

  void Defer(const Node& node) {
    Value value = ValueOf(node.inputs[0]);
    if (value.flat) value = {Read(node.inputs[0]), IdentityOf(graph_.tensor(node.inputs[0]).dims.size())};
    value.permutation = ir::Compose(value.permutation, node.Ints("permutation"));
    values_[node.outputs[0]] = std::move(value);
    origin_[node.outputs[0]] = node;
  }

  TensorId NewTensor(TensorId like, std::vector<int32_t> dims) {
    ir::Tensor tensor = graph_.tensor(like);
    tensor.name += "/permuted";
    tensor.source = -1;
    tensor.dims = std::move(dims);
    tensor.data = nullptr;
    return graph_.AddTensor(std::move(tensor));
  }

  void Emit(Op op, TensorId in, TensorId out, std::map<std::string, ir::Attribute> attributes, const Node& origin) {
    Node node;
    node.op = op;
    node.inputs = {in};
    node.outputs = {out};
    node.attributes = std::move(attributes);
    node.sources = origin.sources;
    node.name = origin.name;
    graph_.nodes.push_back(std::move(node));
  }

  /// Writes transpose(base, permutation) to `out`; a reshape if no data moves.
  void EmitTranspose(TensorId base, const Permutation& permutation, TensorId out, const Node& origin) {
    const bool free = ir::MovesNoData(graph_.tensor(base).dims, permutation);
    Emit(free ? Op::kReshape : Op::kTranspose, base, out,
         free ? std::map<std::string, ir::Attribute>()
              : std::map<std::string, ir::Attribute>{{"permutation", permutation}},
         origin);
  }

  /// A tensor equal to transpose(base, permutation).
  TensorId Permuted(TensorId base, const Permutation& permutation, TensorId like, const Node& origin) {
    if (ir::IsIdentity(permutation)) return base;
    if (graph_.tensor(base).is_constant()) return graph_.AddTensor(ir::Transposed(graph_.tensor(base), permutation));
    const TensorId out = NewTensor(like, ir::Permuted(graph_.tensor(base).dims, permutation));
    EmitTranspose(base, permutation, out, origin);
    return out;
  }

  /// `id` as a tensor that some node writes (or a graph input or constant).
  TensorId Read(TensorId id) {
    const auto found = values_.find(id);
    if (found == values_.end() || written_.count(id)) return id;
    const Value value = found->second;
    const Node origin = origin_.at(id);
    if (!value.flat && ir::IsIdentity(value.permutation)) return value.base;
    written_[id] = true;
    if (value.flat) {
      const TensorId unpermuted = Permuted(value.base, value.permutation, id, origin);
      Emit(Op::kReshape, unpermuted, id, {}, origin);
    } else {
      EmitTranspose(value.base, value.permutation, id, origin);
    }
    return id;
  }

  /// An output keeps its name and has memory that is not bound otherwise.
  TensorId ReadOutput(TensorId id) {
    const TensorId read = Read(id);
    if (read == id) return id;
    const bool bound = graph_.ProducerOf(read) < 0 || graph_.IsOutput(read);
    if (bound) {
      Emit(Op::kCopy, read, id, {}, origin_.at(id));
      return id;
    }
    std::swap(graph_.tensor(read).name, graph_.tensor(id).name);
    return read;
  }

  /// Cost in bytes of having operand `id` as x with id = transpose(x, permutation).
  int64_t Cost(TensorId id, const Permutation& permutation) const {
    const ir::Tensor& t = graph_.tensor(id);
    if (t.is_constant() || t.element_count() == 1 || t.dims.size() > permutation.size()) return 0;
    Value value = ValueOf(id);
    if (value.flat) return ir::IsIdentity(permutation) ? 0 : t.byte_size();
    if (value.permutation.size() != permutation.size()) return t.byte_size();
    const Permutation needed = ir::Compose(value.permutation, ir::Inverse(permutation));
    if (ir::MovesNoData(graph_.tensor(value.base).dims, needed)) return 0;
    return ir::IsIdentity(permutation) && written_.count(id) ? 0 : t.byte_size();
  }

  /// The operand x with id = transpose(x, permutation), where leading dimensions of 1 may be absent from `id`.
  TensorId Operand(TensorId id, const Permutation& permutation, const Node& origin) {
    const size_t rank = permutation.size();
    if (graph_.tensor(id).element_count() == 1 && graph_.tensor(id).dims.size() < rank) return Read(id);
    Value value = ValueOf(id);
    if (value.flat || value.permutation.size() < rank) {
      const TensorId plain = Read(id);
      ir::Tensor full = graph_.tensor(plain);
      full.dims.insert(full.dims.begin(), rank - full.dims.size(), 1);
      TensorId base = plain;
      if (full.dims != graph_.tensor(plain).dims) {
        base = full.is_constant() ? graph_.AddTensor(full) : NewTensor(plain, full.dims);
        if (!full.is_constant()) Emit(Op::kReshape, plain, base, {}, origin);
      }
      value = {base, IdentityOf(rank)};
    }
    return Permuted(value.base, ir::Compose(value.permutation, ir::Inverse(permutation)), id, origin);
  }

  /// An op that commutes with transposes reads its operands before them, and its output is transposed instead.
  bool Commute(Node& node) {
    const ir::OpDef& def = ir::FindOpDef(node.op);
    if (def.commute == nullptr || node.outputs.size() != 1) return false;
    const auto end = node.inputs.begin() + static_cast<ptrdiff_t>(std::min(node.inputs.size(), def.commuting_inputs));
    if (std::any_of(end, node.inputs.end(), [&](TensorId id) { return graph_.tensor(id).dims.size() != 1; }))
      return false;
    const std::vector<TensorId> operands(node.inputs.begin(), end);
    const std::vector<int32_t> dims = graph_.tensor(node.outputs[0]).dims;
    Permutation best = IdentityOf(dims.size());
    const auto total = [&](const Permutation& p) {
      int64_t cost = 0;
      for (TensorId id : operands) cost += Cost(id, p);
      return cost;
    };
    int64_t least = total(best);
    for (TensorId id : operands) {
      if (!IsDeferred(id) || ValueOf(id).permutation.size() != dims.size()) continue;
      const int64_t cost = total(ValueOf(id).permutation);
      if (cost < least || (cost == least && ir::IsIdentity(best))) best = ValueOf(id).permutation, least = cost;
    }
    if (ir::IsIdentity(best)) return false;
    Node moved = node;
    if (!def.commute(best, moved)) return false;
    for (size_t i = 0; i < moved.inputs.size(); ++i)
      moved.inputs[i] = i < operands.size() ? Operand(moved.inputs[i], best, node) : Read(moved.inputs[i]);
    const TensorId output = node.outputs[0];
    moved.outputs = {NewTensor(output, ir::Permuted(dims, ir::Inverse(best)))};
    values_[output] = {moved.outputs[0], best};
    origin_[output] = node;
    graph_.nodes.push_back(std::move(moved));
    return true;
  }

  /// Whether only transposes, or ops that pass them on, read a tensor of the graph as it was.
  bool ReadByTransposes(TensorId id) const {
    bool any = false;
    for (const Node& node : before_) {
      if (std::find(node.inputs.begin(), node.inputs.end(), id) == node.inputs.end()) continue;
      if (node.op != Op::kTranspose && ir::FindOpDef(node.op).commute == nullptr) return false;
      any = true;
    }
    return any;
  }

  /// Reshape of transpose(base, p) as transpose(reshape of base, q), where each group of dimensions stays together.
  bool SinkReshape(const Node& node) {
    if (node.op != Op::kReshape || !IsDeferred(node.inputs[0])) return false;
    const TensorId output = node.outputs[0];
    const Value value = ValueOf(node.inputs[0]);
    const std::vector<int32_t> base = graph_.tensor(value.base).dims;
    const std::vector<int32_t> in = graph_.tensor(node.inputs[0]).dims;
    const std::vector<int32_t> out = graph_.tensor(output).dims;
    if (ir::MovesNoData(base, value.permutation)) {
      Emit(Op::kReshape, value.base, output, {}, node);
      return true;
    }
    struct Placed {
      int64_t first;  ///< Dimension of the base with which the group begins.
      Group group;
    };
    std::vector<Placed> placed;
    for (const Group& g : CommonGroups(in, out)) {
      int64_t first = static_cast<int64_t>(base.size());
      for (size_t i = g.in_begin; i < g.in_end; ++i) first = std::min(first, in[i] == 1 ? first : value.permutation[i]);
      placed.push_back({first, g});
    }
    std::stable_sort(placed.begin(), placed.end(), [](const Placed& a, const Placed& b) { return a.first < b.first; });
    Permutation gathered;  // The base's dimensions, each group together and in its own order.
    std::vector<int32_t> dims;
    Permutation permutation(out.size());
    for (const Placed& p : placed) {
      gathered.insert(gathered.end(), value.permutation.begin() + static_cast<int64_t>(p.group.in_begin),
                      value.permutation.begin() + static_cast<int64_t>(p.group.in_end));
      for (size_t k = p.group.out_begin; k < p.group.out_end; ++k) {
        permutation[k] = static_cast<int64_t>(dims.size());
        dims.push_back(out[k]);
      }
    }
    if (!ir::MovesNoData(base, gathered) && !ReadByTransposes(output)) {
      // Rows stay rows: a fully connected layer can take the columns in the base's order.
      if (out.size() != 2 || in[0] != out[0] || value.permutation[0] != 0) return false;
      values_[output] = {value.base, value.permutation, true};
      origin_[output] = node;
      return true;
    }
    const TensorId together =
        ir::MovesNoData(base, gathered) ? value.base : Permuted(value.base, gathered, output, node);
    const TensorId shaped = NewTensor(output, dims);
    Emit(Op::kReshape, together, shaped, {}, node);
    values_[output] = {shaped, permutation};
    origin_[output] = node;
    return true;
  }

  /// Fully connected over flattened, transposed columns: the weights' columns are transposed instead.
  bool SinkFullyConnected(Node& node) {
    if (node.op != Op::kFullyConnected || !graph_.tensor(node.inputs[1]).is_constant()) return false;
    const auto found = values_.find(node.inputs[0]);
    if (found == values_.end() || !found->second.flat) return false;
    const Value value = found->second;
    ir::Tensor weights = graph_.tensor(node.inputs[1]);
    const std::vector<int32_t> flat = weights.dims;
    weights.dims = ir::Permuted(graph_.tensor(value.base).dims, value.permutation);
    weights.dims[0] = flat[0];
    weights = ir::Transposed(weights, ir::Inverse(value.permutation));
    weights.dims = flat;
    const TensorId x = NewTensor(node.inputs[0], graph_.tensor(node.inputs[0]).dims);
    Emit(Op::kReshape, value.base, x, {}, node);
    node.inputs[0] = x;
    node.inputs[1] = graph_.AddTensor(std::move(weights));
    graph_.nodes.push_back(std::move(node));
    return true;
  }

  ir::Graph& graph_;
  std::vector<Node> before_;          ///< The graph's nodes before the pass.
  std::map<TensorId, Value> values_;  ///< Of tensors whose node has been put off.
  std::map<TensorId, Node> origin_;   ///< That node.
  std::map<TensorId, bool> written_;  ///< Put off, and needed after all.
};

}  // namespace

void SinkTransposes(ir::Graph& graph, PassContext&) {
  Sinker(graph).Run();
}

void ReportTransposes(ir::Graph& graph, PassContext& context) {
  for (const Node& node : graph.nodes) {
    if (node.op != Op::kTranspose) continue;
    const ir::Tensor& output = graph.tensor(node.outputs[0]);
    context.diagnostics.Note({graph.name, node.sources.empty() ? -1 : node.sources[0], node.name, output.name},
                             "a transpose of " + std::to_string(output.byte_size()) + " bytes remains");
  }
}

}  // namespace takt::passes
