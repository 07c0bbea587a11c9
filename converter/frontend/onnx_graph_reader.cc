#include "converter/frontend/onnx_graph_reader.h"

#include <algorithm>
#include <set>
#include <utility>

#include "converter/frontend/onnx_evaluation.h"
#include "converter/frontend/onnx_functions.h"
#include "converter/frontend/onnx_tensor.h"
#include "converter/frontend/operator_order.h"

namespace takt::frontend {
namespace {

using onnx::GraphProto;
using onnx::NodeProto;
using Nodes = google::protobuf::RepeatedPtrField<NodeProto>;

constexpr int kMaxDepth = 16;           ///< Of functions that call functions, and graphs within graphs.
constexpr size_t kMaxInlined = 100000;  ///< Nodes of them all.

/// Names that a node reads of the graph that holds it, its own graphs included.
void AddReads(const NodeProto& node, std::set<std::string>& names) {
  names.insert(node.input().begin(), node.input().end());
  for (const auto& attribute : node.attribute()) {
    if (!attribute.has_g()) continue;
    std::set<std::string> inner;
    for (const NodeProto& each : attribute.g().node()) AddReads(each, inner);
    for (const auto& output : attribute.g().output()) inner.insert(output.name());
    for (const auto& input : attribute.g().input()) inner.erase(input.name());
    for (const auto& tensor : attribute.g().initializer()) inner.erase(tensor.name());
    for (const NodeProto& each : attribute.g().node())
      for (const std::string& name : each.output()) inner.erase(name);
    names.merge(inner);
  }
}

std::vector<int> Order(const Nodes& nodes) {
  std::map<std::string, int32_t> ids;
  const auto add = [&ids](const std::string& name, std::vector<int32_t>& to) {
    if (!name.empty()) to.push_back(ids.emplace(name, static_cast<int32_t>(ids.size())).first->second);
  };
  std::vector<OperandIds> operators;
  for (const NodeProto& node : nodes) {
    OperandIds& made = operators.emplace_back();
    std::set<std::string> reads;
    AddReads(node, reads);
    for (const std::string& name : reads) add(name, made.inputs);
    for (const std::string& name : node.output()) add(name, made.outputs);
  }
  return OrderOperators(operators);
}

std::vector<std::string> OutputNames(const GraphProto& graph) {
  std::vector<std::string> names;
  for (const auto& output : graph.output()) names.push_back(output.name());
  return names;
}

}  // namespace

void DropUnread(ir::Graph& graph) {
  std::vector<bool> read(graph.tensors.size());
  for (const ir::Node& node : graph.nodes) {
    for (ir::TensorId id : node.inputs) {
      if (id != ir::kNoTensor) read[static_cast<size_t>(id)] = true;
    }
  }
  for (size_t i = 0; i < read.size(); ++i) {
    ir::Tensor& tensor = graph.tensors[i];
    if (!read[i] && tensor.is_constant()) tensor = {};
  }
}

OnnxGraphReader::OnnxGraphReader(OnnxFile& file, int opset, ir::Graph& graph, OnnxGraphReader* outer)
    : file_(file), graph_(graph), outer_(outer), scopes_{{{}, "", false, opset}} {}

ModelLocation OnnxGraphReader::At(const NodeProto& proto) const {
  return {graph_.name, file_.node, proto.name().empty() ? proto.op_type() : proto.op_type() + " " + proto.name(), ""};
}

void OnnxGraphReader::Define(const std::string& name, ir::TensorId id) {
  if (!scopes_.back().values.emplace(name, id).second)
    file_.diagnostics.Error({graph_.name, -1, "", name}, "is written twice; each value has one source");
}

std::optional<ir::TensorId> OnnxGraphReader::Find(const std::string& name) {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    const auto value = scope->values.find(name);
    if (value != scope->values.end()) return value->second;
    if (scope->function) return std::nullopt;
  }
  const auto value = outer_ == nullptr ? std::nullopt : outer_->Find(name);
  return value && *value != ir::kNoTensor ? Capture(*value) : value;
}

/// A value of the graph around this one, in this one.
ir::TensorId OnnxGraphReader::Capture(ir::TensorId outer) {
  const auto known = inner_.find(outer);
  if (known != inner_.end()) return known->second;
  ir::Tensor tensor = outer_->graph_.tensor(outer);
  tensor.source = -1;
  const bool constant = tensor.is_constant();
  const ir::TensorId id = graph_.AddTensor(std::move(tensor));
  if (!constant) {
    graph_.inputs.push_back(id);
    captured_.push_back(outer);
  }
  return inner_[outer] = id;
}

ir::TensorId OnnxGraphReader::AddStep(Op op, ir::TensorId from, ir::Tensor to, const std::string& name) {
  ir::Node node;
  node.op = op;
  node.inputs = {from};
  node.name = name;
  node.outputs = {graph_.AddTensor(std::move(to))};
  graph_.nodes.push_back(node);
  return node.outputs[0];
}

ir::TensorId OnnxGraphReader::OwnOutput(ir::TensorId id) {
  if (!graph_.tensor(id).is_constant() && !graph_.IsOutput(id) && !graph_.IsInput(id)) return id;
  ir::Tensor copy = graph_.tensor(id);
  copy.data = nullptr;
  copy.source = -1;
  return AddStep(Op::kCopy, id, std::move(copy), "output");
}

void OnnxGraphReader::ReadInitializers(const GraphProto& source) {
  if (source.sparse_initializer_size() > 0)
    file_.diagnostics.Error({graph_.name, -1, "", ""}, "has sparse initializers; store weights as dense tensors");
  for (const onnx::TensorProto& initializer : source.initializer()) {
    ir::Tensor tensor;
    const std::string wrong = ReadOnnxTensor(initializer, file_.options.folder, tensor);
    if (!wrong.empty()) file_.diagnostics.Error({graph_.name, -1, "", initializer.name()}, wrong);
    tensor.name = scopes_.back().prefix + tensor.name;
    Define(initializer.name(), wrong.empty() ? graph_.AddTensor(std::move(tensor)) : ir::kNoTensor);
  }
}

void OnnxGraphReader::ReadNodes(const Nodes& nodes) {
  const bool main = outer_ == nullptr && scopes_.size() == 1;
  const std::vector<int> order = Order(nodes);
  for (int i : order) {
    if (main) file_.node = i;
    ReadNode(nodes[i]);
  }
  std::set<int> missing;
  for (int i = 0; i < nodes.size(); ++i) missing.insert(i);
  for (int i : order) missing.erase(i);
  for (int i : missing) {
    if (main) file_.node = i;
    file_.diagnostics.Error(At(nodes[i]),
                            "is on a cycle, or reads what comes from one; a graph has an order that runs");
    for (const std::string& name : nodes[i].output())
      if (!name.empty()) Define(name, ir::kNoTensor);
  }
}

void OnnxGraphReader::ReadOperands(const NodeProto& proto, std::vector<ir::TensorId>& inputs, bool& ready) {
  for (const std::string& name : proto.input()) {
    const auto value = name.empty() ? ir::kNoTensor : Find(name);
    if (!value) {
      file_.diagnostics.Error(At(proto), "reads '" + name + "', which nothing writes");
      ready = false;
    }
    inputs.push_back(value.value_or(ir::kNoTensor));
    // What can't be imported has been reported: what depends on it is passed over.
    ready = ready && (name.empty() || inputs.back() != ir::kNoTensor);
  }
}

void OnnxGraphReader::ReadNode(const NodeProto& proto) {
  std::vector<ir::TensorId> inputs;
  bool ready = true;
  ReadOperands(proto, inputs, ready);
  const int opset = scopes_.back().opset;
  const OnnxOperator found = FindOnnxOperator(OnnxOperatorName(proto.domain(), proto.op_type()), opset);
  if (ready && !found.import && !found.fold) ready = Expand(proto, inputs);
  OnnxNode node(proto, opset, file_.node, std::move(inputs), graph_, file_.diagnostics, this);
  if (!ready || !(found.import || found.fold) || !node.CheckOutputs(proto.output_size())) {
    for (const std::string& name : proto.output()) {
      if (!name.empty() && !scopes_.back().values.count(name)) Define(name, ir::kNoTensor);
    }
    return;
  }
  Import(proto, node, found);
}

void OnnxGraphReader::Import(const NodeProto& proto, OnnxNode& node, const OnnxOperator& found) {
  const size_t tensors_before = graph_.tensors.size();
  const size_t nodes_before = graph_.nodes.size();
  for (int i = 0; i < node.input_count(); ++i) {
    const ir::TensorId id = node.input(i);
    const bool quantized =
        node.has_input(i) && graph_.tensor(id).quantization && graph_.tensor(id).type == DataType::kInt8;
    if (quantized && !TakesQuantized(proto.op_type()))
      node.Error("reads a quantized tensor, and has no rule for it; put a DequantizeLinear between", id);
  }
  if (!node.failed() && (found.fold == nullptr || !found.fold->fold(node))) {
    if (found.import != nullptr) {
      found.import->import(node);
      if (file_.options.evaluate && !node.failed())
        EvaluateNodes(graph_, nodes_before, node.outputs(), file_.options.evaluate);
    } else {
      node.Error(
          "is supported only where its inputs are known when the model is read (arithmetic on shapes) and make at "
          "most 2^20 elements");
    }
  }
  const std::vector<ir::TensorId> nothing(node.outputs().size(), ir::kNoTensor);
  SetOutputs(proto, node.failed() ? nothing : node.outputs(), tensors_before);
}

void OnnxGraphReader::SetOutputs(const NodeProto& proto, const std::vector<ir::TensorId>& values,
                                 size_t tensors_before) {
  for (int i = 0; i < proto.output_size() && static_cast<size_t>(i) < values.size(); ++i) {
    if (proto.output(i).empty()) continue;
    const ir::TensorId id = values[static_cast<size_t>(i)];
    if (id != ir::kNoTensor && static_cast<size_t>(id) >= tensors_before)
      graph_.tensor(id).name = scopes_.back().prefix + proto.output(i);
    Define(proto.output(i), id);
  }
}

std::string OnnxGraphReader::NewPrefix(const std::string& what) const {
  return scopes_.back().prefix + std::to_string(file_.node) + "/" + what + "/" + std::to_string(graph_.tensors.size()) +
         "/";
}

/// Opens a scope for the nodes of a function or a graph.
bool OnnxGraphReader::Enter(int nodes, Scope scope) {
  if (file_.depth >= kMaxDepth || file_.inlined >= kMaxInlined) {
    file_.diagnostics.Error({graph_.name, file_.node, "", ""},
                            "holds functions or graphs nested too deep, or too many nodes in them; flatten the model");
    return false;
  }
  ++file_.depth;
  file_.inlined += static_cast<size_t>(nodes);
  scopes_.push_back(std::move(scope));
  return true;
}

/// The values of `names` in the scope, which closes.
std::vector<ir::TensorId> OnnxGraphReader::Leave(const std::vector<std::string>& names, const ModelLocation& where) {
  std::vector<ir::TensorId> values;
  for (const std::string& name : names) {
    const auto value = name.empty() ? ir::kNoTensor : Find(name);
    if (!value) file_.diagnostics.Error(where, "has an output '" + name + "' that nothing writes");
    values.push_back(value.value_or(ir::kNoTensor));
  }
  --file_.depth;
  scopes_.pop_back();
  return values;
}

/// Nodes of the function's body take the node's place. Whether its outputs are defined.
bool OnnxGraphReader::Expand(const NodeProto& proto, const std::vector<ir::TensorId>& inputs) {
  std::vector<ir::Tensor> types;
  for (ir::TensorId id : inputs) types.push_back(id == ir::kNoTensor ? ir::Tensor() : graph_.tensor(id));
  const int opset = scopes_.back().opset;
  const auto body = ExpandFunction(file_.model, proto, opset, types);
  if (!body) {
    const bool told = file_.depth == 0 && !HasFunctionBody(file_.model, proto, opset);  // By the check of the file.
    if (!told) {
      file_.diagnostics.Error(At(proto), WhyUnsupported(OnnxOperatorName(proto.domain(), proto.op_type()), opset) +
                                             "; no function body can take its place");
    }
    return false;
  }
  const size_t tensors_before = graph_.tensors.size();
  if (!Enter(body->nodes.size(), {{}, NewPrefix(proto.op_type()), true, body->opset})) return false;
  for (size_t i = 0; i < body->inputs.size() && i < inputs.size(); ++i) Define(body->inputs[i], inputs[i]);
  ReadNodes(body->nodes);
  SetOutputs(proto, Leave(body->outputs, At(proto)), tensors_before);
  return true;
}

std::optional<std::vector<ir::TensorId>> OnnxGraphReader::Inline(const GraphProto& body,
                                                                 const std::vector<ir::TensorId>& arguments) {
  if (!Enter(body.node_size(), {{}, NewPrefix(body.name()), false, scopes_.back().opset})) return std::nullopt;
  for (int i = 0; i < body.input_size() && static_cast<size_t>(i) < arguments.size(); ++i)
    Define(body.input(i).name(), arguments[static_cast<size_t>(i)]);
  ReadInitializers(body);
  ReadNodes(body.node());
  return Leave(OutputNames(body), {graph_.name, file_.node, body.name(), ""});
}

std::optional<OnnxBody> OnnxGraphReader::ReadBody(const GraphProto& body, const std::vector<ir::Tensor>& inputs) {
  OnnxBody made;
  made.graph.name = graph_.name;
  OnnxGraphReader reader(file_, scopes_.back().opset, made.graph, this);
  const size_t errors = file_.diagnostics.error_count();
  if (!reader.Enter(body.node_size(), {{}, NewPrefix(body.name()), false, scopes_.back().opset})) return std::nullopt;
  for (int i = 0; i < body.input_size() && static_cast<size_t>(i) < inputs.size(); ++i) {
    ir::Tensor input = inputs[static_cast<size_t>(i)];
    input.name = reader.scopes_.back().prefix + body.input(i).name();
    input.source = -1;
    input.data = nullptr;
    made.graph.inputs.push_back(made.graph.AddTensor(std::move(input)));
    reader.Define(body.input(i).name(), made.graph.inputs.back());
  }
  reader.ReadInitializers(body);
  reader.ReadNodes(body.node());
  for (ir::TensorId id : reader.Leave(OutputNames(body), {graph_.name, file_.node, body.name(), ""}))
    if (id != ir::kNoTensor) made.graph.outputs.push_back(reader.OwnOutput(id));
  if (file_.diagnostics.error_count() != errors) return std::nullopt;
  DropUnread(made.graph);
  made.captured = reader.captured_;
  return made;
}

}  // namespace takt::frontend
