#include "converter/backend/step_builder.h"

#include <utility>

#include "converter/ir/op_def.h"
#include "schema/plan_generated.h"

namespace takt::backend {

void StepBuilder::Error(std::string message, ir::TensorId tensor) {
  ModelLocation where;
  where.model = graph_.name;
  where.node = node().sources.empty() ? -1 : node().sources[0];
  where.node_name = node().name;
  if (tensor != ir::kNoTensor) where.tensor = graph_.tensor(tensor).name;
  diagnostics_.Error(std::move(where), std::move(message));
}

std::vector<StepSpec> LowerGraph(ir::Graph& graph, Numerics numerics, Diagnostics& diagnostics) {
  std::vector<StepSpec> steps;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    StepBuilder step(graph, static_cast<int>(i), numerics, diagnostics);
    const ir::OpDef& def = ir::FindOpDef(graph.nodes[i].op);
    if (def.lower == nullptr) {
      step.Error(std::string("no pass has removed the graph op ") + OpName(graph.nodes[i].op));
      continue;
    }
    const ir::Node node = graph.nodes[i];
    def.lower(node, step);
    if (step.spec().op != Op::kNone) {
      steps.push_back(step.spec());
    } else if (diagnostics.ok()) {
      step.Error("was not lowered");
    }
  }
  return steps;
}

std::vector<StepSpec> LowerStates(const ir::Graph& graph) {
  std::vector<StepSpec> steps;
  for (const ir::State& state : graph.states) {
    StepSpec copy;
    copy.op = Op::kCopy;
    copy.params.resize(sizeof(schema::CopyParams));
    copy.inputs = {state.next};
    copy.outputs = {state.tensor};
    copy.node = graph.ProducerOf(state.next);
    steps.push_back(std::move(copy));
  }
  return steps;
}

}  // namespace takt::backend
