// cast: none. Stored values, to the output's type.
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

constexpr TfliteImport kTflite[] = {{53, "CAST", Import}};

}  // namespace

extern const OpDef kCastDef;
const OpDef kCastDef = {Op::kCast, {}, Infer, Lower, kTflite, NpuClass::kElementwise, {}, CommuteElementwise};

}  // namespace takt::ir
