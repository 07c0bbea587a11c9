#include "converter/ir/verifier.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "converter/ir/op_def.h"
#include "converter/ir/size_limits.h"
#include "schema/plan_generated.h"

namespace takt::ir {
namespace {

struct Arity {
  Op op;
  size_t min_inputs, max_inputs, outputs;
};
constexpr Arity kArities[] = {
#define TAKT_OP(Name, name, file, min_inputs, max_inputs, outputs, traits) \
  {Op::k##Name, min_inputs, max_inputs, outputs},
#define TAKT_GRAPH_OP(Name, name, file, min_inputs, max_inputs, outputs) {Op::k##Name, min_inputs, max_inputs, outputs},
#include "schema/op_table.inc"
#undef TAKT_OP
#undef TAKT_GRAPH_OP
};

const Arity* FindArity(Op op) {
  for (const Arity& arity : kArities) {
    if (arity.op == op) return &arity;
  }
  return nullptr;
}

std::string TypeText(DataType type, const std::vector<int32_t>& dims) {
  return absl::StrCat(schema::EnumNameDataType(static_cast<schema::DataType>(type)), "[", absl::StrJoin(dims, ","),
                      "]");
}

class Checker {
 public:
  Checker(const Graph& graph, Diagnostics& diagnostics) : graph_(graph), diagnostics_(diagnostics) {}

  bool CheckGraph();
  bool CheckNode(int index);

 private:
  bool InRange(TensorId id) const { return id >= 0 && static_cast<size_t>(id) < graph_.tensors.size(); }
  /// Written, or a view of memory that is.
  bool IsReady(TensorId id) const {
    const auto& view = graph_.tensor(id).view;
    return ready_[static_cast<size_t>(id)] || (view && InRange(view->base) && ready_[static_cast<size_t>(view->base)]);
  }
  /// Always false.
  bool Error(std::string message, TensorId id = kNoTensor);

  void CheckTensor(TensorId id);
  void CheckView(TensorId id);
  void CheckInput(TensorId id, const char* what);
  void CheckNext(const State& state);
  void CheckQuantization(TensorId id);
  bool CheckOrder(int index);
  bool CheckArity(const Node& node);
  bool CheckAttributes(const Node& node);
  bool CheckTypes(const Node& node);

  const Graph& graph_;
  Diagnostics& diagnostics_;
  std::vector<bool> ready_;
  int node_ = -1;
  bool ok_ = true;
};

bool Checker::Error(std::string message, TensorId id) {
  ok_ = false;
  ModelLocation where{graph_.name, -1, "", InRange(id) ? graph_.tensor(id).name : ""};
  if (node_ >= 0) {
    const Node& node = graph_.nodes[static_cast<size_t>(node_)];
    if (!node.sources.empty()) where.node = node.sources[0];
    where.node_name = node.name;
  }
  diagnostics_.Error(std::move(where), std::move(message));
  return false;
}

void Checker::CheckTensor(TensorId id) {
  const Tensor& t = graph_.tensor(id);
  for (int32_t dim : t.dims) {
    // A constant without elements says so (axes of a reduction, a scalar's shape); no node reads it.
    if (dim < 0 || (dim == 0 && !t.is_constant()))
      Error(absl::StrCat("has dimension ", dim, "; dimensions are positive"), id);
  }
  if (const std::string wrong = WhyTooLarge(t.dims); !wrong.empty()) Error(wrong, id);
  if (t.is_constant() && static_cast<int64_t>(t.data->size()) != t.byte_size()) {
    Error(absl::StrCat("has ", t.data->size(), " bytes of data; its shape needs ", t.byte_size()), id);
  }
  if (t.view) CheckView(id);
  if (t.quantization) CheckQuantization(id);
}

void Checker::CheckView(TensorId id) {
  const Tensor& t = graph_.tensor(id);
  const View& view = *t.view;
  if (!InRange(view.base) || view.base == id) {
    Error("is a view of itself or of nothing", id);
    return;
  }
  if (graph_.tensor(view.base).view) Error("is a view of a view; views name the tensor that owns the memory", id);
  int64_t extent = t.byte_size();
  if (!view.strides.empty()) {
    if (view.strides.size() != t.dims.size()) {
      Error(absl::StrCat("is a view with ", view.strides.size(), " strides for rank ", t.dims.size()), id);
      return;
    }
    extent = BitWidth(t.type) / 8;
    for (size_t i = 0; i < t.dims.size(); ++i) extent += (t.dims[i] - 1) * view.strides[i];
  }
  const int64_t room = graph_.tensor(view.base).byte_size();
  if (view.offset_bytes < 0 || extent < 0 || view.offset_bytes + extent > room) {
    Error(absl::StrCat("is a view of bytes ", view.offset_bytes, " to ", view.offset_bytes + extent, " of a tensor of ",
                       room),
          id);
  }
}

void Checker::CheckQuantization(TensorId id) {
  const Tensor& t = graph_.tensor(id);
  const Quantization& q = *t.quantization;
  if (q.scales.empty() || q.scales.size() != q.zero_points.size()) {
    Error(
        absl::StrCat("has ", q.scales.size(), " scales and ", q.zero_points.size(), " zero points; they come in pairs"),
        id);
  }
  for (float scale : q.scales) {
    if (!std::isfinite(scale) || scale <= 0)
      Error(absl::StrCat("has scale ", scale, "; scales are finite and positive"), id);
  }
  if (q.per_channel() && (q.axis < 0 || static_cast<size_t>(q.axis) >= t.dims.size() ||
                          static_cast<size_t>(t.dims[static_cast<size_t>(q.axis)]) != q.scales.size())) {
    Error(absl::StrCat("has ", q.scales.size(), " scales, which dimension ", q.axis, " does not have"), id);
  }
}

/// Everything read is there, everything written has one origin.
bool Checker::CheckOrder(int index) {
  const Node& node = graph_.nodes[static_cast<size_t>(index)];
  bool ok = true;
  for (TensorId id : node.inputs) {
    if (id == kNoTensor) continue;
    if (!InRange(id)) {
      ok = Error(absl::StrCat("reads tensor ", id, ", which does not exist"));
    } else if (!IsReady(id)) {
      ok = Error("is read before it is written", id);
    }
  }
  for (TensorId id : node.outputs) {
    if (!InRange(id)) {
      ok = Error(absl::StrCat("writes tensor ", id, ", which does not exist"));
      continue;
    }
    if (ready_[static_cast<size_t>(id)]) ok = Error("is written, but has a value already", id);
    ready_[static_cast<size_t>(id)] = true;
    const auto& view = graph_.tensor(id).view;
    if (view && InRange(view->base)) ready_[static_cast<size_t>(view->base)] = true;
  }
  return ok;
}

bool Checker::CheckArity(const Node& node) {
  const Arity* arity = FindArity(node.op);
  if (arity == nullptr) return Error("has an op that is not in the op table");
  const bool free_outputs = arity->outputs == 0;  // Its bodies say how many.
  if (node.inputs.size() < arity->min_inputs || node.inputs.size() > arity->max_inputs ||
      (!free_outputs && node.outputs.size() != arity->outputs)) {
    return Error(absl::StrCat("has ", node.inputs.size(), " inputs and ", node.outputs.size(), " outputs; ",
                              OpName(node.op), " takes ", arity->min_inputs, " to ", arity->max_inputs, " and ",
                              arity->outputs));
  }
  for (size_t i = 0; i < arity->min_inputs; ++i) {
    if (node.inputs[i] == kNoTensor)
      return Error(absl::StrCat("lacks input ", i, ", which ", OpName(node.op), " needs"));
  }
  return true;
}

bool Checker::CheckAttributes(const Node& node) {
  const OpDef& def = FindOpDef(node.op);
  bool ok = true;
  for (const AttributeRule& rule : def.attributes) {
    const auto it = node.attributes.find(rule.name);
    if (it == node.attributes.end()) {
      if (rule.required) ok = Error(absl::StrCat("lacks attribute ", rule.name));
    } else if (it->second.index() != static_cast<size_t>(rule.kind)) {
      ok = Error(absl::StrCat("has attribute ", rule.name, " of another kind than ", OpName(node.op), " wants"));
    }
  }
  for (const auto& [key, value] : node.attributes) {
    bool known = false;
    for (const AttributeRule& rule : def.attributes) known |= key == rule.name;
    if (!known) ok = Error(absl::StrCat("has attribute ", key, ", which ", OpName(node.op), " does not know"));
  }
  return ok;
}

bool Checker::CheckTypes(const Node& node) {
  std::vector<TensorType> types;
  const std::string reason = InferTypes(graph_, node, types);
  if (!reason.empty()) return Error(reason);
  if (types.size() != node.outputs.size()) return Error("has a shape rule that gives another number of outputs");
  bool ok = true;
  for (size_t i = 0; i < types.size(); ++i) {
    const Tensor& t = graph_.tensor(node.outputs[i]);
    if (types[i] == TensorType{t.type, t.dims}) continue;
    ok = Error(absl::StrCat("is ", TypeText(t.type, t.dims), "; ", OpName(node.op), " gives ",
                            TypeText(types[i].type, types[i].dims)),
               node.outputs[i]);
  }
  return ok;
}

bool Checker::CheckNode(int index) {
  node_ = index;
  const Node& node = graph_.nodes[static_cast<size_t>(index)];
  return CheckArity(node) && CheckAttributes(node) && CheckTypes(node);
}

/// A value that is there before any node runs.
void Checker::CheckInput(TensorId id, const char* what) {
  if (!InRange(id)) {
    Error(absl::StrCat("has ", what, " ", id, ", which does not exist"));
  } else if (ready_[static_cast<size_t>(id)]) {
    Error(absl::StrCat("is a graph ", what, " twice, or also a constant"), id);
  } else {
    ready_[static_cast<size_t>(id)] = true;
  }
}

void Checker::CheckNext(const State& state) {
  if (!InRange(state.next)) {
    Error(absl::StrCat("has next value ", state.next, " of a state, which does not exist"));
  } else if (!IsReady(state.next) || graph_.tensor(state.next).is_constant() || graph_.IsInput(state.next)) {
    Error("is the next value of a state, but no node writes it", state.next);
  } else if (graph_.tensor(state.next).type != graph_.tensor(state.tensor).type ||
             graph_.tensor(state.next).dims != graph_.tensor(state.tensor).dims) {
    Error("is the next value of a state of another type or shape", state.next);
  }
  if (state.initial == kNoTensor) return;
  if (!InRange(state.initial)) {
    Error(absl::StrCat("has initial value ", state.initial, " of a state, which does not exist"));
  } else if (!graph_.tensor(state.initial).is_constant() ||
             graph_.tensor(state.initial).byte_size() != graph_.tensor(state.tensor).byte_size()) {
    Error("is the initial value of a state, but no constant of its bytes", state.initial);
  }
}

bool Checker::CheckGraph() {
  const auto count = static_cast<TensorId>(graph_.tensors.size());
  for (TensorId id = 0; id < count; ++id) CheckTensor(id);
  for (const Tensor& tensor : graph_.tensors) ready_.push_back(tensor.is_constant());
  for (TensorId id : graph_.inputs) CheckInput(id, "input");
  for (const State& state : graph_.states) CheckInput(state.tensor, "state");
  for (int i = 0; i < static_cast<int>(graph_.nodes.size()); ++i) {
    node_ = i;
    const std::vector<Graph>& bodies = graph_.nodes[static_cast<size_t>(i)].bodies;
    const bool sound =
        std::all_of(bodies.begin(), bodies.end(), [this](const Graph& body) { return Verify(body, diagnostics_); });
    if (!sound) ok_ = false;
    if (CheckOrder(i) && sound) CheckNode(i);
  }
  node_ = -1;
  for (TensorId id : graph_.outputs) {
    if (!InRange(id)) {
      Error(absl::StrCat("has output ", id, ", which does not exist"));
    } else if (!IsReady(id)) {
      Error("is a graph output, but nothing writes it", id);
    } else if (graph_.tensor(id).is_constant() || graph_.IsInput(id) ||
               std::count(graph_.outputs.begin(), graph_.outputs.end(), id) > 1) {
      Error("is a graph output twice, or also a graph input or a constant; an output is memory of its own", id);
    }
  }
  for (const State& state : graph_.states) {
    if (InRange(state.tensor)) CheckNext(state);
  }
  return ok_;
}

}  // namespace

bool Verify(const Graph& graph, Diagnostics& diagnostics) {
  return Checker(graph, diagnostics).CheckGraph();
}

bool VerifyNode(const Graph& graph, int node, Diagnostics& diagnostics) {
  return Checker(graph, diagnostics).CheckNode(node);
}

}  // namespace takt::ir
