#include "converter/frontend/tflite_variables.h"

#include <algorithm>
#include <utility>

#include "converter/frontend/tflite_node.h"
#include "converter/frontend/tflite_tensors.h"

namespace takt::frontend {
namespace {

using tflite::BuiltinOperator;

int32_t IdAt(const flatbuffers::Vector<int32_t>* ids, uint32_t i) {
  return ids != nullptr && i < ids->size() ? ids->Get(i) : ir::kNoTensor;
}

std::string Text(const flatbuffers::String* text) {
  return text == nullptr ? "" : text->str();
}

}  // namespace

BuiltinOperator TfliteVariables::Code(const tflite::Operator& op) const {
  const auto* codes = file_.model().operator_codes();
  if (codes == nullptr || op.opcode_index() >= codes->size()) return BuiltinOperator::CUSTOM;
  const tflite::OperatorCode& code = *codes->Get(op.opcode_index());
  return static_cast<BuiltinOperator>(
      std::max<int>(code.deprecated_builtin_code(), static_cast<int>(code.builtin_code())));
}

TfliteVariables::Handles TfliteVariables::FindHandles(const tflite::SubGraph& subgraph) const {
  Handles handles;
  if (subgraph.operators() == nullptr) return handles;
  for (const tflite::Operator* op : *subgraph.operators()) {
    const auto* options = op->builtin_options_as_VarHandleOptions();
    if (Code(*op) != BuiltinOperator::VAR_HANDLE || options == nullptr) continue;
    handles[IdAt(op->outputs(), 0)] = Text(options->container()) + "/" + Text(options->shared_name());
  }
  return handles;
}

void TfliteVariables::Scan(const tflite::SubGraph& subgraph, const std::string& graph_name) {
  handles_ = FindHandles(subgraph);
  for (const auto& [tensor, name] : handles_) variables_[name];
  if (subgraph.operators() == nullptr) return;
  for (uint32_t i = 0; i < subgraph.operators()->size(); ++i) {
    const tflite::Operator& op = *subgraph.operators()->Get(i);
    const auto handle = handles_.find(IdAt(op.inputs(), 0));
    if (Code(op) == BuiltinOperator::ASSIGN_VARIABLE && handle != handles_.end())
      variables_[handle->second].assigned = true;
    if (const auto* options = op.builtin_options_as_CallOnceOptions();
        Code(op) == BuiltinOperator::CALL_ONCE && options != nullptr)
      ReadInitial(options->init_subgraph_index(), {graph_name, static_cast<int>(i), "CALL_ONCE", ""});
  }
}

/// The subgraph of a CALL_ONCE: constants that are assigned to variables.
void TfliteVariables::ReadInitial(int64_t index, const ModelLocation& where) {
  const tflite::SubGraph* subgraph = file_.subgraph(index);
  if (subgraph == nullptr)
    return diagnostics_.Error(where, "names a subgraph that does not exist; the file is damaged");
  if (subgraph->operators() == nullptr) return;
  const Handles handles = FindHandles(*subgraph);
  TfliteTensorReader reader(file_.bytes(), file_.model(), options_, diagnostics_);
  for (const tflite::Operator* op : *subgraph->operators()) {
    if (Code(*op) == BuiltinOperator::VAR_HANDLE) continue;
    const auto handle = handles.find(IdAt(op->inputs(), 0));
    const int32_t value = IdAt(op->inputs(), 1);
    const bool exists = value >= 0 && static_cast<uint32_t>(value) < subgraph->tensors()->size();
    ir::Tensor tensor;
    if (Code(*op) == BuiltinOperator::ASSIGN_VARIABLE && handle != handles.end() && exists) {
      if (!reader.Read(*subgraph->tensors()->Get(static_cast<uint32_t>(value)), value, where, tensor)) continue;
      if (tensor.is_constant()) {
        variables_[handle->second].initial = std::move(tensor);
        continue;
      }
    }
    diagnostics_.Error(where,
                       "computes initial values of variables; they must be constants (freeze them when exporting)");
  }
}

TfliteVariables::Variable* TfliteVariables::Find(TfliteNode& node) {
  const auto handle = handles_.find(node.input(0));
  if (handle != handles_.end()) return &variables_[handle->second];
  node.Error("names a variable by what is no VAR_HANDLE of the same subgraph; export the model with one graph");
  return nullptr;
}

/// False if there is a state already and it differs from `like`.
bool TfliteVariables::MakeState(TfliteNode& node, ir::TensorId like, Variable& variable) {
  const ir::Tensor value = node.tensor(like);
  if (variable.state == ir::kNoTensor) {
    ir::Tensor state;
    state.name = value.name + "/variable";
    state.type = value.type;
    state.dims = value.dims;
    state.quantization = value.quantization;
    variable.state = variable.current = node.graph().AddTensor(std::move(state));
  }
  const auto same = [&value](const ir::Tensor& t) { return t.type == value.type && t.dims == value.dims; };
  if (same(node.tensor(variable.state)) && (!variable.initial || same(*variable.initial))) return true;
  node.Error("gives a variable another type or shape than it has", like);
  return false;
}

void TfliteVariables::Read(TfliteNode& node) {
  Variable* variable = Find(node);
  if (variable == nullptr) return;
  if (!variable->assigned && !variable->initial)
    return node.Error("reads a variable that nothing assigns; give it a value when exporting");
  if (!MakeState(node, node.output(0), *variable)) return;
  if (!variable->assigned) return node.SetConstant(0, *variable->initial->data);
  node.Add(Op::kReshape, {variable->current});
}

void TfliteVariables::Assign(TfliteNode& node) {
  Variable* variable = Find(node);
  if (variable != nullptr && MakeState(node, node.input(1), *variable)) variable->current = node.input(1);
}

/// A value that no node writes is copied.
void TfliteVariables::Finish(ir::Graph& graph) {
  for (auto& [name, variable] : variables_) {
    if (!variable.assigned || variable.state == ir::kNoTensor) continue;
    ir::TensorId next = variable.current;
    ir::TensorId initial = ir::kNoTensor;
    if (variable.initial) initial = graph.AddTensor(*variable.initial);
    if (graph.tensor(next).is_constant() || graph.IsInput(next) || next == variable.state) {
      ir::Tensor copy = graph.tensor(next);
      copy.name += "/next";
      copy.data = nullptr;
      copy.source = -1;
      ir::Node node;
      node.op = Op::kCopy;
      node.inputs = {next};
      node.outputs = {next = graph.AddTensor(std::move(copy))};
      node.name = "ASSIGN_VARIABLE";
      graph.nodes.push_back(std::move(node));
    }
    graph.states.push_back({variable.state, next, initial});
  }
}

}  // namespace takt::frontend
