#include "converter/backend/step_builder.h"

#include <algorithm>
#include <string>
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

uint32_t ScopeLength(const StepSpec& step) {
  if (step.op == Op::kSkipIf) return reinterpret_cast<const schema::SkipIfParams*>(step.params.data())->count();
  return step.op == Op::kLoop ? reinterpret_cast<const schema::LoopParams*>(step.params.data())->body() : 0;
}

void SetScopeLength(StepSpec& step, uint32_t length) {
  const auto count = static_cast<uint16_t>(std::min<uint32_t>(length, UINT16_MAX));
  if (step.op == Op::kSkipIf) {
    reinterpret_cast<schema::SkipIfParams*>(step.params.data())->mutate_count(count);
  } else {
    reinterpret_cast<schema::LoopParams*>(step.params.data())->mutate_body(count);
  }
}

uint32_t MostTrips(const StepSpec& step) {
  return step.op == Op::kLoop ? reinterpret_cast<const schema::LoopParams*>(step.params.data())->max_trips() : 1;
}

/// A skip_if or loop node (backend/control.h); longer scopes than the format has make the plan too long as well.
static void LowerControl(const ir::Node& node, StepBuilder& step) {
  const auto count = static_cast<uint16_t>(std::min<int64_t>(node.Int("count"), UINT16_MAX));
  if (node.op == Op::kSkipIf) return step.Set(node.op, Numerics::kAny, schema::SkipIfParams(count), node.inputs, {});
  const auto trips = static_cast<uint32_t>(std::min<int64_t>(node.Int("max_trips"), UINT32_MAX));
  step.Set(node.op, Numerics::kAny, schema::LoopParams(count, trips), node.inputs, {});
}

std::vector<StepSpec> LowerGraph(ir::Graph& graph, Numerics numerics, Diagnostics& diagnostics) {
  std::vector<StepSpec> steps;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    StepBuilder step(graph, static_cast<int>(i), numerics, diagnostics);
    if (graph.nodes[i].op == Op::kSkipIf || graph.nodes[i].op == Op::kLoop) {
      LowerControl(ir::Node(graph.nodes[i]), step);
      steps.push_back(step.spec());
      continue;
    }
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

namespace {

/// Whether `step` makes the next value of `state` and may write it over the value.
bool MayUpdate(const StepSpec& step, const ir::State& state) {
  const OpInfo* info = FindOpInfo(step.op);
  for (size_t k = 0; info != nullptr && k < step.outputs.size(); ++k) {
    if (step.outputs[k] != state.next) continue;
    for (size_t i = 0; i < step.inputs.size(); ++i)
      if (step.inputs[i] == state.tensor) return MayShareMemory(info->traits, i, step.inputs.size(), k);
  }
  return false;
}

}  // namespace

void UpdateStatesInPlace(ir::Graph& graph, const std::vector<StepSpec>& steps, Diagnostics& diagnostics) {
  int64_t bytes = 0;
  for (ir::State& state : graph.states) {
    const bool bound = std::count(graph.outputs.begin(), graph.outputs.end(), state.next) != 0;
    int readers = 0;
    bool allowed = false;
    for (const StepSpec& step : steps) {
      readers += std::count(step.inputs.begin(), step.inputs.end(), state.tensor) != 0 ? 1 : 0;
      allowed = allowed || MayUpdate(step, state);
    }
    state.in_place = allowed && readers == 1 && !bound;
    if (state.in_place) bytes += graph.tensor(state.next).byte_size();
  }
  if (bytes == 0) return;
  diagnostics.Note({graph.name, -1, "", ""},
                   "updates states in place: saves " + std::to_string(bytes) +
                       " bytes of next values; a run that is cut short loses the state until ResetState");
}

std::vector<StepSpec> LowerStates(const ir::Graph& graph) {
  std::vector<StepSpec> steps;
  for (const ir::State& state : graph.states) {
    if (state.in_place) continue;
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
