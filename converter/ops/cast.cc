// cast: none. Stored values, to the output's type.
#include "converter/frontend/onnx_node.h"
#include "converter/frontend/tflite_node.h"
#include "converter/ir/op_def.h"
#include "converter/ops/quantized_params.h"

namespace takt::ir {
namespace {

std::string Infer(const Graph& graph, const Node& node, std::vector<TensorType>& outputs) {
  outputs = {{graph.tensor(node.outputs[0]).type, graph.tensor(node.inputs[0]).dims}};
  return "";
}

void Lower(const Node&, backend::StepBuilder& step) {
  const Node node = step.node();
  step.Set(Op::kCast, Numerics::kAny, schema::CastParams(), node.inputs, node.outputs);
}

void Import(frontend::TfliteNode& node) {
  if (!node.CheckArity(1, 1, 1)) return;
  const bool same = node.tensor(node.input(0)).type == node.tensor(node.output(0)).type;
  node.Add(same ? Op::kReshape : Op::kCast, {node.input(0)});
}

void ImportOnnx(frontend::OnnxNode& node) {
  if (!node.CheckInputs(1, 1) || !node.CheckOutputs(1)) return;
  Tensor output;
  output.type = node.TypeAttribute("to");
  if (output.type == DataType::kNone)
    return node.Error("gives a type that is not supported; cast to a number or a boolean");
  if (output.type == node.tensor(node.input(0)).type) return node.SetOutput(0, node.input(0));
  node.SetOutput(0, node.EmitTyped(Op::kCast, {node.input(0)}, std::move(output)));
}

constexpr TfliteImport kTflite[] = {{53, "CAST", Import}};
constexpr OnnxImport kOnnx[] = {{"Cast", 6, ImportOnnx}};

}  // namespace

extern const OpDef kCastDef;
const OpDef kCastDef = {Op::kCast, {}, Infer, Lower, kTflite, NpuClass::kElementwise, kOnnx, CommuteElementwise};

}  // namespace takt::ir
