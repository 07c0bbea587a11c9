// gru, rnn: gate_function (gru), candidate_function, clip (of gates' sums), linear_before_reset (gru), batch_major,
// reverse. Inputs x, W, R, bias, h, for a gru also the bias of the candidate's product with h; outputs y, the last h.
#include "converter/ops/recurrent.h"

#include <array>
#include <limits>
#include <utility>

#include "converter/ir/op_def.h"
#include "converter/ops/quantized_params.h"

namespace takt::ir {
namespace {

std::string Infer(const Graph& graph, const Node& node, std::vector<TensorType>& outputs) {
  const Tensor &x = graph.tensor(node.inputs[0]), &h = graph.tensor(node.inputs[4]);
  for (TensorId id : node.inputs)
    if (graph.tensor(id).type != DataType::kFloat32) return "its operands must be float32";
  if (h.dims.size() != 2) return "state " + DimsText(h.dims) + " is not [B, C]";
  const int32_t cells = h.dims[1];
  std::string error = CheckSequence(graph, node, node.op == Op::kGru ? 3 * cells : cells);
  if (!error.empty()) return error;
  if (node.op == Op::kGru && graph.tensor(node.inputs[5]).dims != std::vector<int32_t>{cells})
    return "the candidate's bias does not have one value for each of " + std::to_string(cells) + " cells";
  outputs = {{x.type, {x.dims[0], x.dims[1], cells}}, {h.type, h.dims}};
  return "";
}

void Lower(const Node&, backend::StepBuilder& step) {
  const Node node = step.node();
  const uint8_t reserved[3] = {};
  const schema::RecurrentParams params(ClipOf(node, "clip"), GateFunctionOf(node, "gate_function", "logistic"),
                                       GateFunctionOf(node, "candidate_function", "tanh"),
                                       node.IntOr("linear_before_reset", 0) != 0, node.IntOr("batch_major", 0) != 0,
                                       node.IntOr("reverse", 0) != 0, flatbuffers::span<const uint8_t, 3>(reserved));
  step.Set(node.op, Numerics::kAny, params, node.inputs, node.outputs);
}

constexpr AttributeRule kAttributes[] = {
    {"gate_function", AttributeKind::kString, false}, {"candidate_function", AttributeKind::kString, false},
    {"clip", AttributeKind::kFloat, false},           {"linear_before_reset", AttributeKind::kInt, false},
    {"batch_major", AttributeKind::kInt, false},      {"reverse", AttributeKind::kInt, false}};
constexpr TfliteImport kRnnTflite[] = {{24, "RNN", ImportRnn},
                                       {35, "UNIDIRECTIONAL_SEQUENCE_RNN", ImportSequenceRnn},
                                       {46, "BIDIRECTIONAL_SEQUENCE_RNN", ImportBidirectionalRnn}};
constexpr OnnxImport kRnnOnnx[] = {{"RNN", 1, ImportOnnxRnn}};
constexpr OnnxImport kGruOnnx[] = {{"GRU", 1, ImportOnnxGru}};

}  // namespace

std::optional<schema::GateFunction> FindGateFunction(const std::string& name) {
  using enum schema::GateFunction;
  constexpr std::array<std::pair<const char*, schema::GateFunction>, 6> kNames = {{{"identity", identity},
                                                                                   {"logistic", logistic},
                                                                                   {"tanh", tanh},
                                                                                   {"relu", relu},
                                                                                   {"relu_n1_to_1", relu_n1_to_1},
                                                                                   {"relu6", relu6}}};
  for (const auto& [known, function] : kNames)
    if (name == known) return function;
  return std::nullopt;
}

schema::GateFunction GateFunctionOf(const Node& node, const char* key, const char* fallback) {
  return FindGateFunction(node.StringOr(key, fallback)).value_or(schema::GateFunction::identity);
}

std::string CheckSequence(const Graph& graph, const Node& node, int32_t rows) {
  using Dims = std::vector<int32_t>;
  const Dims& x = graph.tensor(node.inputs[0]).dims;
  const Dims& h = graph.tensor(node.inputs[4]).dims;
  if (x.size() != 3) return "input " + DimsText(x) + " is not of rank 3";
  const int32_t batches = x[node.IntOr("batch_major", 0) != 0 ? 0 : 1];
  if (h.size() != 2 || h[0] != batches)
    return "state " + DimsText(h) + " does not have a row for each of " + std::to_string(batches) + " sequences";
  const std::pair<size_t, Dims> expected[] = {{1, {rows, x[2]}}, {2, {rows, h[1]}}, {3, {rows}}};
  for (const auto& [i, dims] : expected) {
    const Dims& given = graph.tensor(node.inputs[i]).dims;
    if (given != dims) return "operand " + std::to_string(i) + " is " + DimsText(given) + ", not " + DimsText(dims);
  }
  for (const char* key : {"gate_function", "candidate_function", "cell_function"}) {
    const std::string name = node.StringOr(key, "tanh");
    if (!FindGateFunction(name)) return std::string(key) + " \"" + name + "\" is none of a gate's functions";
  }
  return "";
}

schema::Clamp ClipOf(const Node& node, const char* key) {
  const auto clip = static_cast<float>(node.FloatOr(key, 0));
  const float bound = clip > 0 ? clip : std::numeric_limits<float>::max();
  return {-bound, bound};
}

extern const OpDef kGruDef;
extern const OpDef kRnnDef;
const OpDef kGruDef = {Op::kGru, kAttributes, Infer, Lower, {}, NpuClass::kNone, kGruOnnx};
const OpDef kRnnDef = {Op::kRnn, kAttributes, Infer, Lower, kRnnTflite, NpuClass::kNone, kRnnOnnx};

}  // namespace takt::ir
