// if: none; inputs the condition (one boolean), then what its two bodies (then, else) read; their outputs are its own.
// while: max_trips; inputs n values that its bodies (condition, body) carry from trip to trip, then values that they
// only read; the condition gives one boolean, the body the n values of the next trip. Outputs: the n values at the end.
// Passes fold what is known at conversion (passes/control_folding.cc); the rest becomes skip_if and loop steps
// (backend/control.cc).
#include <algorithm>
#include <map>

#include "converter/frontend/graph_io.h"
#include "converter/frontend/tflite_node.h"
#include "converter/frontend/tflite_variables.h"
#include "converter/ir/op_def.h"
#include "converter/ops/onnx_control.h"

namespace takt::ir {
namespace {

using frontend::Body;

std::string TypesDiffer(const Graph& from, const std::vector<TensorId>& values, const Graph& to,
                        const std::vector<TensorId>& places, const char* what) {
  if (values.size() != places.size())
    return std::string(what) + " are " + std::to_string(values.size()) + " and " + std::to_string(places.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const Tensor &a = from.tensor(values[i]), &b = to.tensor(places[i]);
    if (a.type != b.type || a.dims != b.dims)
      return std::string(what) + " differ at " + std::to_string(i) + ": " + DimsText(a.dims) + " and " +
             DimsText(b.dims) + " or their types";
    if (a.quantization != b.quantization) return std::string(what) + " differ in quantization at " + std::to_string(i);
  }
  return "";
}

bool IsFlag(const Tensor& t) {
  return t.type == DataType::kBool && t.element_count() == 1;
}

void OutputTypes(const Graph& body, std::vector<TensorType>& outputs) {
  for (const TensorId id : body.outputs) outputs.push_back({body.tensor(id).type, body.tensor(id).dims});
}

std::string InferIf(const Graph& graph, const Node& node, std::vector<TensorType>& outputs) {
  if (node.bodies.size() != 2) return "it has not two bodies";
  if (!IsFlag(graph.tensor(node.inputs[0]))) return "its condition must be one boolean";
  const std::vector<TensorId> arguments(node.inputs.begin() + 1, node.inputs.end());
  for (const Graph& body : node.bodies) {
    std::string reason = TypesDiffer(graph, arguments, body, body.inputs, "its operands and a body's inputs");
    if (reason.empty()) reason = TypesDiffer(body, body.outputs, graph, node.outputs, "a body's outputs and its own");
    if (!reason.empty()) return reason;
  }
  OutputTypes(node.bodies[0], outputs);
  return "";
}

std::string InferWhile(const Graph& graph, const Node& node, std::vector<TensorType>& outputs) {
  if (node.bodies.size() != 2) return "it has not two bodies";
  const Graph &condition = node.bodies[0], &body = node.bodies[1];
  if (condition.outputs.size() != 1 || !IsFlag(condition.tensor(condition.outputs[0])))
    return "its condition must give one boolean";
  for (const Graph* each : {&condition, &body}) {
    std::string reason = TypesDiffer(graph, node.inputs, *each, each->inputs, "its operands and a body's inputs");
    if (!reason.empty()) return reason;
  }
  if (node.outputs.size() > node.inputs.size()) return "it gives more values than it takes";
  OutputTypes(body, outputs);
  return TypesDiffer(body, body.outputs, graph, node.outputs, "its body's outputs and its own");
}

/// Reads a subgraph of the file as a body. Arguments that are constants become constants in it where `fixed`.
std::optional<Body> ReadBody(frontend::TfliteNode& node, int index, const std::vector<TensorId>& arguments,
                             const std::vector<bool>& fixed) {
  std::vector<const Tensor*> constants;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const bool known = arguments[i] != kNoTensor && fixed[i] && node.tensor(arguments[i]).is_constant();
    constants.push_back(known ? &node.tensor(arguments[i]) : nullptr);
  }
  return node.Subgraph(index, constants);
}

std::vector<TensorId> Arguments(frontend::TfliteNode& node, int first) {
  std::vector<TensorId> arguments;
  for (int i = first; i < node.input_count(); ++i) arguments.push_back(node.input(i));
  return arguments;
}

/// A variable that one of two bodies uses at least, seen from all three sides.
struct SharedVariable {
  std::string name;
  Tensor type;      ///< What its values are like.
  TensorId before;  ///< Its value in the graph.
  frontend::BodyVariable in[2];
  bool changes(int body) const { return in[body].after != in[body].before; }
};

/// Those of two bodies; a body that does not use one gets a place for it.
std::vector<SharedVariable> SharedVariables(frontend::TfliteNode& node, Body& first, Body& second) {
  std::map<std::string, SharedVariable> shared;
  for (const Body* body : {&first, &second}) {
    for (const auto& [name, variable] : body->variables) {
      Tensor type = body->graph.tensor(variable.before);
      type.data = nullptr;
      shared.try_emplace(name, SharedVariable{name, type, node.variables().Before(node, name, type), {}});
    }
  }
  std::vector<SharedVariable> all;
  for (auto& [name, variable] : shared) {
    int side = 0;
    for (Body* body : {&first, &second}) {
      const auto used = body->variables.find(name);
      const TensorId place = used == body->variables.end() ? body->graph.AddTensor(variable.type) : kNoTensor;
      variable.in[side++] = place == kNoTensor ? used->second : frontend::BodyVariable{place, place};
    }
    if (variable.before != kNoTensor) all.push_back(std::move(variable));
  }
  return all;
}

/// A place for what the bodies leave in `variable`.
TensorId After(frontend::TfliteNode& node, const SharedVariable& variable) {
  const TensorId after = node.NewTensor(variable.type, "/" + variable.name);
  node.variables().Set(variable.name, after);
  return after;
}

/// The variable after `body`, as an output that a node of it writes.
TensorId Written(Graph& body, const frontend::BodyVariable& variable) {
  const bool read_only = variable.after == variable.before;
  return read_only ? frontend::AddCopy(body, variable.before, "/kept", "READ_VARIABLE") : variable.after;
}

void ImportIf(frontend::TfliteNode& node) {
  const auto* options = node.options<tflite::IfOptions>();
  if (options == nullptr || !node.has_input(0)) return node.Error("has no condition or subgraphs; the file is damaged");
  const std::vector<TensorId> arguments = Arguments(node, 1);
  if (std::count(arguments.begin(), arguments.end(), kNoTensor) != 0) return node.Error("lacks an operand");
  const std::vector<bool> all(arguments.size(), true);
  auto then_body = ReadBody(node, options->then_subgraph_index(), arguments, all);
  auto else_body = ReadBody(node, options->else_subgraph_index(), arguments, all);
  if (!then_body || !else_body) return;
  std::vector<TensorId> inputs = {node.input(0)}, outputs;
  for (const TensorId argument : arguments)
    if (!node.tensor(argument).is_constant()) inputs.push_back(argument);
  for (int i = 0; i < node.output_count(); ++i) outputs.push_back(node.output(i));
  for (const SharedVariable& variable : SharedVariables(node, *then_body, *else_body)) {
    inputs.push_back(variable.before);
    const bool changes = variable.changes(0) || variable.changes(1);
    if (changes) outputs.push_back(After(node, variable));
    for (const int side : {0, 1}) {
      Graph& body = side == 0 ? then_body->graph : else_body->graph;
      body.inputs.push_back(variable.in[side].before);
      if (changes) body.outputs.push_back(Written(body, variable.in[side]));
    }
  }
  Node& made = node.AddTo(Op::kIf, std::move(inputs), std::move(outputs));
  made.bodies.push_back(std::move(then_body->graph));
  made.bodies.push_back(std::move(else_body->graph));
}

/// A value of a loop: in the graph, and where condition and body find it.
struct LoopValue {
  TensorId operand, in_condition, in_body;
  TensorId next = kNoTensor, output = kNoTensor;  ///< Of one that is carried from trip to trip.
};

void AddWhile(frontend::TfliteNode& node, const std::vector<LoopValue>& values, Graph condition, Graph body) {
  std::vector<TensorId> inputs, outputs;
  condition.inputs.clear(), body.inputs.clear(), body.outputs.clear();
  for (const bool carried : {true, false}) {
    for (const LoopValue& value : values) {
      if ((value.output != kNoTensor) != carried) continue;
      inputs.push_back(value.operand);
      condition.inputs.push_back(value.in_condition);
      body.inputs.push_back(value.in_body);
      if (!carried) continue;
      body.outputs.push_back(value.next);
      outputs.push_back(value.output);
    }
  }
  Node& made = node.AddTo(Op::kWhile, std::move(inputs), std::move(outputs));
  made.bodies.push_back(std::move(condition));
  made.bodies.push_back(std::move(body));
}

/// Values that the body hands on as they are need no place of their own: the bodies read the operand.
void ImportWhile(frontend::TfliteNode& node) {
  const auto* options = node.options<tflite::WhileOptions>();
  if (options == nullptr) return node.Error("has no subgraphs; the file is damaged");
  const std::vector<TensorId> arguments = Arguments(node, 0);
  if (std::count(arguments.begin(), arguments.end(), kNoTensor) != 0) return node.Error("lacks an operand");
  if (node.output_count() != node.input_count())
    return node.Error("has another number of outputs than of inputs; the file is damaged");
  const std::vector<bool> passed = node.PassedThrough(options->body_subgraph_index());
  if (passed.size() != arguments.size())
    return node.Error("has a body with another number of inputs or outputs; the file is damaged");
  auto condition = ReadBody(node, options->cond_subgraph_index(), arguments, passed);
  auto body = ReadBody(node, options->body_subgraph_index(), arguments, passed);
  if (!condition || !body) return;
  std::vector<LoopValue> values;
  size_t place = 0;  // Constants are inputs of the bodies no more.
  for (size_t i = 0; i < arguments.size(); ++i) {
    const bool fixed = passed[i] && node.tensor(arguments[i]).is_constant();
    if (!fixed && (place >= condition->graph.inputs.size() || place >= body->graph.inputs.size()))
      return node.Error("has a subgraph with other inputs than its operands; the file is damaged");
    if (passed[i]) node.AddTo(Op::kReshape, {arguments[i]}, {node.output(static_cast<int>(i))});
    if (fixed) continue;
    LoopValue value = {arguments[i], condition->graph.inputs[place], body->graph.inputs[place]};
    if (!passed[i]) value.next = body->graph.outputs[i], value.output = node.output(static_cast<int>(i));
    values.push_back(value);
    ++place;
  }
  if (place != condition->graph.inputs.size() || place != body->graph.inputs.size())
    return node.Error("has a subgraph with other inputs than its operands; the file is damaged");
  for (const SharedVariable& variable : SharedVariables(node, *condition, *body)) {
    if (variable.changes(0)) return node.Error("assigns a variable in its condition; assign it in the body");
    LoopValue value = {variable.before, variable.in[0].before, variable.in[1].before};
    if (variable.changes(1)) value.next = variable.in[1].after, value.output = After(node, variable);
    values.push_back(value);
  }
  AddWhile(node, values, std::move(condition->graph), std::move(body->graph));
}

constexpr AttributeRule kWhileAttributes[] = {{"max_trips", AttributeKind::kInt, false}};
void ImportRead(frontend::TfliteNode& node) {
  if (node.CheckArity(1, 1, 1)) node.variables().Read(node);
}

void ImportAssign(frontend::TfliteNode& node) {
  if (node.CheckArity(2, 2, 0)) node.variables().Assign(node);
}

/// What a handle names and what CALL_ONCE assigns is known before any operator is imported.
void ImportNothing(frontend::TfliteNode&) {}

constexpr TfliteImport kTfliteIf[] = {{118, "IF", ImportIf},
                                      {129, "CALL_ONCE", ImportNothing},
                                      {142, "VAR_HANDLE", ImportNothing},
                                      {143, "READ_VARIABLE", ImportRead},
                                      {144, "ASSIGN_VARIABLE", ImportAssign}};
constexpr TfliteImport kTfliteWhile[] = {{119, "WHILE", ImportWhile}};
constexpr OnnxImport kOnnxIf[] = {{"If", 1, ImportOnnxIf}};
constexpr OnnxImport kOnnxWhile[] = {{"Loop", 1, ImportOnnxLoop}, {"Scan", 9, ImportOnnxScan}};

}  // namespace

extern const OpDef kIfDef, kWhileDef;
const OpDef kIfDef = {Op::kIf, {}, InferIf, nullptr, kTfliteIf, NpuClass::kNone, kOnnxIf};
const OpDef kWhileDef = {Op::kWhile, kWhileAttributes, InferWhile, nullptr, kTfliteWhile, NpuClass::kNone, kOnnxWhile};

}  // namespace takt::ir
