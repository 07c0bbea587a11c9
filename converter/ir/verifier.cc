#include "converter/ir/verifier.h"

#include <cmath>
#include <utility>

#include "converter/ir/op_def.h"

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

class Checker {
 public:
  Checker(const Graph& graph, Diagnostics& diagnostics) : graph_(graph), diagnostics_(diagnostics) {}

  bool Run() {
    for (const Tensor& tensor : graph_.tensors) CheckTensor(tensor);
    ready_.resize(graph_.tensors.size());
    for (size_t i = 0; i < ready_.size(); ++i) ready_[i] = graph_.tensors[i].is_constant();
    for (TensorId id : graph_.inputs) {
      if (!InRange(id)) {
        Error("graph input " + std::to_string(id) + " is out of range");
      } else {
        if (graph_.tensor(id).is_constant()) Error("is a graph input and a constant", id);
        ready_[static_cast<size_t>(id)] = true;
      }
    }
    for (node_ = 0; node_ < static_cast<int>(graph_.nodes.size()); ++node_)
      CheckNode(graph_.nodes[static_cast<size_t>(node_)]);
    node_ = -1;
    for (TensorId id : graph_.outputs) {
      if (!InRange(id)) {
        Error("graph output " + std::to_string(id) + " is out of range");
      } else if (!IsReady(id)) {
        Error("is a graph output that nothing writes", id);
      }
    }
    return ok_;
  }

 private:
  bool InRange(TensorId id) const { return id >= 0 && static_cast<size_t>(id) < graph_.tensors.size(); }

  /// Written, or a view of memory that is.
  bool IsReady(TensorId id) const {
    const auto& view = graph_.tensor(id).view;
    return ready_[static_cast<size_t>(id)] || (view && InRange(view->base) && ready_[static_cast<size_t>(view->base)]);
  }

  void Error(std::string message, TensorId id = kNoTensor) {
    ok_ = false;
    std::string name = node_ < 0 ? "" : graph_.nodes[static_cast<size_t>(node_)].name;
    diagnostics_.Error({graph_.name, node_, std::move(name), InRange(id) ? graph_.tensor(id).name : ""},
                       std::move(message));
  }

  void CheckTensor(const Tensor& t) {
    const TensorId id = static_cast<TensorId>(&t - graph_.tensors.data());
    for (int32_t dim : t.dims) {
      if (dim <= 0) Error("has dimension " + std::to_string(dim) + "; dimensions are positive", id);
    }
    if (t.is_constant() && static_cast<int64_t>(t.data->size()) != t.byte_size()) {
      Error("has " + std::to_string(t.data->size()) + " bytes; its shape needs " + std::to_string(t.byte_size()), id);
    }
    if (t.view && (!InRange(t.view->base) || t.view->base == id || t.view->offset_bytes < 0))
      Error("is a view of nothing", id);
    if (!t.quantization) return;
    const Quantization& q = *t.quantization;
    if (q.scales.empty() || q.scales.size() != q.zero_points.size())
      Error("has scales and zero points of different number", id);
    for (float scale : q.scales) {
      if (!std::isfinite(scale) || scale <= 0) Error("has a scale that is not finite and positive", id);
    }
    if (q.per_channel() && (q.axis < 0 || static_cast<size_t>(q.axis) >= t.dims.size() ||
                            static_cast<size_t>(t.dims[static_cast<size_t>(q.axis)]) != q.scales.size())) {
      Error("has scales that do not match axis " + std::to_string(q.axis), id);
    }
  }

  bool CheckOperands(const Node& node) {
    bool ok = true;
    for (TensorId id : node.inputs) {
      if (id == kNoTensor) continue;
      const bool in_range = InRange(id);
      if (!in_range || !IsReady(id)) {
        Error("reads tensor " + std::to_string(id) + (in_range ? " before it is written" : ", out of range"), id);
        ok = false;
      }
    }
    for (TensorId id : node.outputs) {
      const bool in_range = InRange(id);
      if (!in_range || ready_[static_cast<size_t>(id)]) {
        Error("writes tensor " + std::to_string(id) + (in_range ? ", which has a value already" : ", out of range"),
              id);
        ok = false;
      } else {
        ready_[static_cast<size_t>(id)] = true;
        const auto& view = graph_.tensor(id).view;
        if (view && InRange(view->base)) ready_[static_cast<size_t>(view->base)] = true;
      }
    }
    return ok;
  }

  bool CheckAttributes(const Node& node, const OpDef& def) {
    const bool before = ok_;
    ok_ = true;
    for (const AttributeRule& rule : def.attributes) {
      auto it = node.attributes.find(rule.name);
      if (it == node.attributes.end()) {
        if (rule.required) Error(std::string("lacks attribute ") + rule.name);
      } else if (it->second.index() != static_cast<size_t>(rule.kind)) {
        Error(std::string("has attribute ") + rule.name + " of another kind");
      }
    }
    for (const auto& [key, value] : node.attributes) {
      bool known = false;
      for (const AttributeRule& rule : def.attributes) known |= key == rule.name;
      if (!known) Error("has unknown attribute " + key);
    }
    const bool good = ok_;
    ok_ = before && good;
    return good;
  }

  void CheckNode(const Node& node) {
    const Arity* arity = nullptr;
    for (const Arity& a : kArities) {
      if (a.op == node.op) arity = &a;
    }
    if (arity == nullptr) return Error("has an op that is not in the table");
    const bool operands = CheckOperands(node);
    if (node.inputs.size() < arity->min_inputs || node.inputs.size() > arity->max_inputs ||
        node.outputs.size() != arity->outputs) {
      return Error("has " + std::to_string(node.inputs.size()) + " inputs and " + std::to_string(node.outputs.size()) +
                   " outputs, against the op table");
    }
    const OpDef& def = FindOpDef(node.op);
    if (!CheckAttributes(node, def) || !operands || def.infer == nullptr) return;
    std::vector<TensorType> types;
    const std::string reason = def.infer(graph_, node, types);
    if (!reason.empty()) return Error(reason);
    if (types.size() != node.outputs.size()) return Error("has a shape rule that gives another number of outputs");
    for (size_t i = 0; i < types.size(); ++i) {
      const Tensor& t = graph_.tensor(node.outputs[i]);
      if (types[i] != TensorType{t.type, t.dims}) Error("has another type or shape than the op gives", node.outputs[i]);
    }
  }

  const Graph& graph_;
  Diagnostics& diagnostics_;
  std::vector<bool> ready_;
  int node_ = -1;
  bool ok_ = true;
};

}  // namespace

bool Verify(const Graph& graph, Diagnostics& diagnostics) {
  return Checker(graph, diagnostics).Run();
}

}  // namespace takt::ir
