// add: function (add, subtract), activation. mul: activation. Operands broadcast.
#include <algorithm>

#include "converter/frontend/tflite_node.h"
#include "converter/ir/op_def.h"
#include "converter/ops/quantized_params.h"
#include "converter/ops/window.h"

namespace takt::ir {
namespace {

std::string Infer(const Graph& graph, const Node& node, std::vector<TensorType>& outputs) {
  const Tensor& a = graph.tensor(node.inputs[0]);
  const Tensor& b = graph.tensor(node.inputs[1]);
  if (a.type != b.type) return "operands differ in type";
  const size_t rank = std::max(a.dims.size(), b.dims.size());
  std::vector<int32_t> dims(rank, 1);
  for (size_t i = 0; i < rank; ++i) {
    const int32_t da = i < a.dims.size() ? a.dims[a.dims.size() - 1 - i] : 1;
    const int32_t db = i < b.dims.size() ? b.dims[b.dims.size() - 1 - i] : 1;
    if (da != db && da != 1 && db != 1) {
      return "shapes " + DimsText(a.dims) + " and " + DimsText(b.dims) + " do not broadcast";
    }
    dims[rank - 1 - i] = da == 1 ? db : da;
  }
  outputs = {{a.type, dims}};
  return "";
}

void LowerAdd(const Node&, backend::StepBuilder& step) {
  const Node node = step.node();
  if (!CheckQuantized(step)) return;
  const Tensor& a = step.tensor(node.inputs[0]);
  const Tensor& b = step.tensor(node.inputs[1]);
  const schema::AddParams params =
      MakeAddParams(step, {ScaleOf(a), ZeroPointOf(a)}, {ScaleOf(b), ZeroPointOf(b)}, step.tensor(node.outputs[0]),
                    node.StringOr("activation", "none"), node.StringOr("function", "add") == "subtract");
  step.Set(Op::kAdd, StepNumerics(step, node.inputs[0]), params, node.inputs, node.outputs);
}

void LowerMul(const Node&, backend::StepBuilder& step) {
  const Node node = step.node();
  if (!CheckQuantized(step)) return;
  const Tensor& a = step.tensor(node.inputs[0]);
  const Tensor& b = step.tensor(node.inputs[1]);
  const Tensor& output = step.tensor(node.outputs[0]);
  float scale = 0;
  FixedMultiplier fixed;
  if (IsInteger(a.type)) {
    if (step.numerics() == Numerics::kTflite) {
      fixed = QuantizeMultiplier(static_cast<double>(ScaleOf(a)) * static_cast<double>(ScaleOf(b)) /
                                 static_cast<double>(ScaleOf(output)));
    } else {
      scale = CheckedScale(ScaleOf(a) * ScaleOf(b) / ScaleOf(output), step);
    }
  }
  const schema::MulParams params(StoredClamp(node.StringOr("activation", "none"), output), scale, fixed.multiplier, fixed.shift,
                                 static_cast<int16_t>(ZeroPointOf(a)), static_cast<int16_t>(ZeroPointOf(b)),
                                 static_cast<int16_t>(ZeroPointOf(output)), 0);
  step.Set(Op::kMul, StepNumerics(step, node.inputs[0]), params, node.inputs, node.outputs);
}

template <typename Options>
void Import(frontend::TfliteNode& node, Op op, const char* function) {
  if (!node.CheckArity(2, 2, 1)) return;
  const auto* options = node.options<Options>();
  std::map<std::string, Attribute> attributes;
  attributes["activation"] = options ? node.Activation(options->fused_activation_function()) : std::string("none");
  if (op == Op::kAdd) attributes["function"] = std::string(function);
  node.Add(op, {node.input(0), node.input(1)}, attributes);
}

void ImportAdd(frontend::TfliteNode& node) { Import<tflite::AddOptions>(node, Op::kAdd, "add"); }
void ImportSub(frontend::TfliteNode& node) { Import<tflite::SubOptions>(node, Op::kAdd, "subtract"); }
void ImportMul(frontend::TfliteNode& node) { Import<tflite::MulOptions>(node, Op::kMul, ""); }

constexpr AttributeRule kAddAttributes[] = {{"function", AttributeKind::kString, false},
                                            {"activation", AttributeKind::kString, false}};
constexpr AttributeRule kMulAttributes[] = {{"activation", AttributeKind::kString, false}};
constexpr TfliteImport kAddTflite[] = {{0, "ADD", ImportAdd}, {41, "SUB", ImportSub}};
constexpr TfliteImport kMulTflite[] = {{18, "MUL", ImportMul}};

}  // namespace

extern const OpDef kAddDef;
extern const OpDef kMulDef;
const OpDef kAddDef = {Op::kAdd, kAddAttributes, Infer, LowerAdd, kAddTflite, NpuClass::kElementwise};
const OpDef kMulDef = {Op::kMul, kMulAttributes, Infer, LowerMul, kMulTflite, NpuClass::kElementwise};

}  // namespace takt::ir
