// if: none; inputs the condition (one boolean), then what its two bodies (then, else) read; their outputs are its own.
// while: max_trips; inputs n values that its bodies (condition, body) carry from trip to trip, then values that they
// only read; the condition gives one boolean, the body the n values of the next trip. Outputs: the n values at the end.
// Passes fold what is known at conversion (passes/control_folding.cc); the rest becomes skip_if and loop steps
// (backend/control.cc).
#include <algorithm>

#include "converter/frontend/tflite_node.h"
#include "converter/frontend/tflite_variables.h"
#include "converter/ir/op_def.h"
#include "converter/ops/onnx_control.h"

namespace takt::ir {
namespace {

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
std::optional<Graph> Body(frontend::TfliteNode& node, int index, const std::vector<TensorId>& arguments,
                          const std::vector<bool>& fixed) {
  std::vector<const Tensor*> constants;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const bool known = arguments[i] != kNoTensor && fixed[i] && node.tensor(arguments[i]).is_constant();
    constants.push_back(known ? &node.tensor(arguments[i]) : nullptr);
  }
  return node.Subgraph(index, constants);
}

/// Arguments but those that became constants of the bodies.
std::vector<TensorId> Left(frontend::TfliteNode& node, const std::vector<TensorId>& arguments,
                           const std::vector<bool>& taken) {
  std::vector<TensorId> left;
  for (size_t i = 0; i < arguments.size(); ++i)
    if (taken[i] && !node.tensor(arguments[i]).is_constant()) left.push_back(arguments[i]);
  return left;
}

std::vector<TensorId> Arguments(frontend::TfliteNode& node, int first) {
  std::vector<TensorId> arguments;
  for (int i = first; i < node.input_count(); ++i) arguments.push_back(node.input(i));
  return arguments;
}

void ImportIf(frontend::TfliteNode& node) {
  const auto* options = node.options<tflite::IfOptions>();
  if (options == nullptr || !node.has_input(0)) return node.Error("has no condition or subgraphs; the file is damaged");
  const std::vector<TensorId> arguments = Arguments(node, 1);
  if (std::count(arguments.begin(), arguments.end(), kNoTensor) != 0) return node.Error("lacks an operand");
  const std::vector<bool> all(arguments.size(), true);
  auto then_body = Body(node, options->then_subgraph_index(), arguments, all);
  auto else_body = Body(node, options->else_subgraph_index(), arguments, all);
  if (!then_body || !else_body) return;
  std::vector<TensorId> inputs = Left(node, arguments, all);
  inputs.insert(inputs.begin(), node.input(0));
  Node& made = node.Add(Op::kIf, std::move(inputs));
  made.bodies.push_back(std::move(*then_body));
  made.bodies.push_back(std::move(*else_body));
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
  auto condition = Body(node, options->cond_subgraph_index(), arguments, passed);
  auto body = Body(node, options->body_subgraph_index(), arguments, passed);
  if (!condition || !body) return;
  std::vector<TensorId> inputs, outputs;
  std::vector<size_t> order;  // Carried values first.
  for (const bool carried : {true, false}) {
    for (size_t i = 0; i < arguments.size(); ++i)
      if (passed[i] != carried && (carried || !node.tensor(arguments[i]).is_constant())) order.push_back(i);
  }
  for (Graph* each : {&*condition, &*body}) {
    if (each->inputs.size() != order.size())
      return node.Error("has a subgraph with other inputs than its operands; the file is damaged");
    std::vector<TensorId> places;
    for (const size_t i : order) {
      // Constants are inputs of the bodies no more.
      size_t place = i;
      for (size_t k = 0; k < i; ++k) place -= passed[k] && node.tensor(arguments[k]).is_constant();
      places.push_back(each->inputs[place]);
    }
    each->inputs = places;
  }
  std::vector<TensorId> next;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (passed[i]) {
      node.AddTo(Op::kReshape, {arguments[i]}, {node.output(static_cast<int>(i))});
    } else {
      outputs.push_back(node.output(static_cast<int>(i)));
      next.push_back(body->outputs[i]);
    }
  }
  body->outputs = std::move(next);
  for (const size_t i : order) inputs.push_back(arguments[i]);
  Node& made = node.AddTo(Op::kWhile, std::move(inputs), std::move(outputs));
  made.bodies.push_back(std::move(*condition));
  made.bodies.push_back(std::move(*body));
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
