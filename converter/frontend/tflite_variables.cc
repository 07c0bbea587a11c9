#include "converter/frontend/tflite_variables.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "converter/frontend/graph_io.h"
#include "converter/frontend/tflite_node.h"
#include "converter/frontend/tflite_tensors.h"

namespace takt::frontend {
namespace {

using tflite::BuiltinOperator;
using Handles = std::map<int32_t, std::string>;

int32_t IdAt(const flatbuffers::Vector<int32_t>* ids, uint32_t i) {
  return ids != nullptr && i < ids->size() ? ids->Get(i) : ir::kNoTensor;
}

std::string Text(const flatbuffers::String* text) {
  return text == nullptr ? "" : text->str();
}

BuiltinOperator CodeOf(const tflite::Model& model, const tflite::Operator& op) {
  const auto* codes = model.operator_codes();
  if (codes == nullptr || op.opcode_index() >= codes->size()) return BuiltinOperator::CUSTOM;
  const tflite::OperatorCode& code = *codes->Get(op.opcode_index());
  return static_cast<BuiltinOperator>(
      std::max<int>(code.deprecated_builtin_code(), static_cast<int>(code.builtin_code())));
}

Handles FindHandles(const tflite::Model& model, const tflite::SubGraph& subgraph) {
  Handles handles;
  if (subgraph.operators() == nullptr) return handles;
  for (const tflite::Operator* op : *subgraph.operators()) {
    const auto* options = op->builtin_options_as_VarHandleOptions();
    if (CodeOf(model, *op) != BuiltinOperator::VAR_HANDLE || options == nullptr) continue;
    handles[IdAt(op->outputs(), 0)] = Text(options->container()) + "/" + Text(options->shared_name());
  }
  return handles;
}

/// Follows the calls of a file's subgraphs.
class UseFinder {
 public:
  UseFinder(const TfliteFile& file, const ImportOptions& options, Diagnostics& diagnostics)
      : file_(file), options_(options), diagnostics_(diagnostics) {}

  VariableUses Find(int64_t entry) {
    called_ = {entry};
    for (size_t i = 0; i < called_.size(); ++i) {
      const tflite::SubGraph* subgraph = file_.subgraph(called_[i]);
      if (subgraph != nullptr && seen_.insert(called_[i]).second) Scan(*subgraph, called_[i]);
    }
    return std::move(uses_);
  }

 private:
  void Scan(const tflite::SubGraph& subgraph, int64_t index);
  void ReadInitial(int64_t index, const ModelLocation& where);

  const TfliteFile& file_;
  const ImportOptions& options_;
  Diagnostics& diagnostics_;
  VariableUses uses_;
  std::vector<int64_t> called_;
  std::set<int64_t> seen_;
};

void UseFinder::Scan(const tflite::SubGraph& subgraph, int64_t index) {
  if (subgraph.operators() == nullptr) return;
  const Handles handles = FindHandles(file_.model(), subgraph);
  const std::string name = file_.name() + (index == called_[0] ? "" : "[" + std::to_string(index) + "]");
  for (uint32_t i = 0; i < subgraph.operators()->size(); ++i) {
    const tflite::Operator& op = *subgraph.operators()->Get(i);
    const BuiltinOperator code = CodeOf(file_.model(), op);
    const auto handle = handles.find(IdAt(op.inputs(), 0));
    if (code == BuiltinOperator::ASSIGN_VARIABLE && handle != handles.end()) uses_[handle->second].assigned = true;
    if (const auto* once = op.builtin_options_as_CallOnceOptions(); code == BuiltinOperator::CALL_ONCE && once)
      ReadInitial(once->init_subgraph_index(), {name, static_cast<int>(i), "CALL_ONCE", ""});
    if (const auto* branch = op.builtin_options_as_IfOptions())
      called_.insert(called_.end(), {branch->then_subgraph_index(), branch->else_subgraph_index()});
    if (const auto* loop = op.builtin_options_as_WhileOptions())
      called_.insert(called_.end(), {loop->cond_subgraph_index(), loop->body_subgraph_index()});
  }
}

/// The subgraph of a CALL_ONCE: constants that are assigned to variables.
void UseFinder::ReadInitial(int64_t index, const ModelLocation& where) {
  const tflite::SubGraph* subgraph = file_.subgraph(index);
  if (subgraph == nullptr)
    return diagnostics_.Error(where, "names a subgraph that does not exist; the file is damaged");
  if (subgraph->operators() == nullptr) return;
  const Handles handles = FindHandles(file_.model(), *subgraph);
  TfliteTensorReader reader(file_.bytes(), file_.model(), options_, diagnostics_);
  for (const tflite::Operator* op : *subgraph->operators()) {
    const BuiltinOperator code = CodeOf(file_.model(), *op);
    if (code == BuiltinOperator::VAR_HANDLE) continue;
    const auto handle = handles.find(IdAt(op->inputs(), 0));
    const int32_t value = IdAt(op->inputs(), 1);
    const bool exists = value >= 0 && static_cast<uint32_t>(value) < subgraph->tensors()->size();
    ir::Tensor tensor;
    if (code == BuiltinOperator::ASSIGN_VARIABLE && handle != handles.end() && exists) {
      if (!reader.Read(*subgraph->tensors()->Get(static_cast<uint32_t>(value)), value, where, tensor)) continue;
      if (tensor.is_constant()) {
        uses_[handle->second].initial = std::move(tensor);
        continue;
      }
    }
    diagnostics_.Error(where,
                       "computes initial values of variables; they must be constants (freeze them when exporting)");
  }
}

/// A copy that is no tensor of the file.
ir::TensorId CopyOf(ir::Graph& graph, ir::TensorId value) {
  const ir::TensorId copy = AddCopy(graph, value, "/next", "ASSIGN_VARIABLE");
  graph.tensor(copy).source = -1;
  return copy;
}

}  // namespace

VariableUses FindVariableUses(const TfliteFile& file, int entry, const ImportOptions& options,
                              Diagnostics& diagnostics) {
  return UseFinder(file, options, diagnostics).Find(entry);
}

TfliteVariables::TfliteVariables(const TfliteFile& file, const tflite::SubGraph& subgraph, const VariableUses& uses)
    : handles_(FindHandles(file.model(), subgraph)), uses_(uses) {}

const std::string* TfliteVariables::Find(TfliteNode& node) const {
  const auto handle = handles_.find(node.input(0));
  if (handle != handles_.end()) return &handle->second;
  node.Error("names a variable by what is no VAR_HANDLE of the same subgraph; export the model with one graph");
  return nullptr;
}

/// False if the variable has another type or shape than `value`.
bool TfliteVariables::Use(TfliteNode& node, const std::string& name, const ir::Tensor& value, ir::TensorId culprit) {
  Variable& variable = variables_[name];
  if (variable.before == ir::kNoTensor) {
    ir::Tensor before;
    before.name = value.name + "/variable";
    before.type = value.type;
    before.dims = value.dims;
    before.quantization = value.quantization;
    variable.before = variable.current = node.graph().AddTensor(std::move(before));
  }
  const auto& initial = uses_.at(name).initial;
  const auto same = [&value](const ir::Tensor& t) { return t.type == value.type && t.dims == value.dims; };
  if (same(node.tensor(variable.before)) && (!initial || same(*initial))) return true;
  node.Error("gives a variable another type or shape than it has", culprit);
  return false;
}

void TfliteVariables::Read(TfliteNode& node) {
  const std::string* name = Find(node);
  if (name == nullptr) return;
  const auto use = uses_.find(*name);
  if (use == uses_.end()) return node.Error("reads a variable that nothing assigns; give it a value when exporting");
  const ir::Tensor value = node.tensor(node.output(0));
  if (use->second.assigned) {
    if (Use(node, *name, value, node.output(0))) node.Add(Op::kReshape, {variables_[*name].current});
  } else if (use->second.initial->type == value.type && use->second.initial->dims == value.dims) {
    node.SetConstant(0, *use->second.initial->data);
  } else {
    node.Error("gives a variable another type or shape than it has", node.output(0));
  }
}

void TfliteVariables::Assign(TfliteNode& node) {
  const std::string* name = Find(node);
  if (name == nullptr) return;
  const ir::Tensor value = node.tensor(node.input(1));
  if (Use(node, *name, value, node.input(1))) variables_[*name].current = node.input(1);
}

ir::TensorId TfliteVariables::Before(TfliteNode& node, const std::string& name, const ir::Tensor& value) {
  return Use(node, name, value, ir::kNoTensor) ? variables_[name].current : ir::kNoTensor;
}

/// A value that no node writes is copied.
void TfliteVariables::MakeStates(ir::Graph& graph) {
  for (const auto& [name, variable] : variables_) {
    ir::TensorId next = variable.current;
    ir::TensorId initial = ir::kNoTensor;
    if (uses_.at(name).initial) initial = graph.AddTensor(*uses_.at(name).initial);
    if (graph.tensor(next).is_constant() || graph.IsInput(next) || next == variable.before) next = CopyOf(graph, next);
    graph.states.push_back({variable.before, next, initial});
  }
}

/// As of graph outputs, each value has a node that writes it for this use alone.
std::map<std::string, BodyVariable> TfliteVariables::OfBody(ir::Graph& graph) {
  std::map<std::string, BodyVariable> made;
  std::set<ir::TensorId> taken(graph.outputs.begin(), graph.outputs.end());
  taken.insert(graph.inputs.begin(), graph.inputs.end());
  for (const auto& [name, variable] : variables_) taken.insert(variable.before);
  for (const auto& [name, variable] : variables_) {
    ir::TensorId after = variable.current;
    if (after != variable.before && (graph.tensor(after).is_constant() || !taken.insert(after).second))
      after = CopyOf(graph, after);
    made[name] = {variable.before, after};
  }
  return made;
}

}  // namespace takt::frontend
