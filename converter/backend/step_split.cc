#include "converter/backend/step_split.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "converter/backend/scratch.h"
#include "converter/backend/step_call.h"
#include "converter/backend/step_cuts.h"
#include "schema/plan_generated.h"

namespace takt::backend {
namespace {

using ir::TensorId;

constexpr size_t kMostParts = 4096;
constexpr uint64_t kTooMany = UINT64_MAX;

/// Of one step, in the order in which they run.
struct Parts {
  std::vector<StepSpec> steps;
  std::vector<uint64_t> costs;
  uint64_t shortest = 0;  ///< Cost of the part that stays too long; kTooMany if there are too many.
};

using Halves = std::optional<std::pair<StepSpec, StepSpec>>;

/// Halves steps until they are within the bound. Parts whose operands are not dense run on copies.
class Splitter {
 public:
  Splitter(ir::Graph& graph, const StepBound& bound, const StepCost& cost, KernelTable kernels)
      : graph_(graph), cutter_(graph), bound_(bound), cost_(cost), kernels_(kernels) {}

  /// Appends parts within the bound; false if there are none.
  bool Split(const StepSpec& step, uint64_t ticks, Parts& parts);

 private:
  bool Split(const StepSpec& step, Parts& parts) { return Split(step, cost_(OnCopies(step)), parts); }
  bool Append(const StepSpec& step, uint64_t ticks, Parts& parts);
  Halves HalvesOf(const StepSpec& step);
  bool Runs(const StepSpec& part);
  StepSpec OnCopies(StepSpec step);
  StepSpec Copy(const StepSpec& step, TensorId from, TensorId to) const;
  bool IsStrided(TensorId id) const {
    const auto& view = graph_.tensor(id).view;
    return view && !view->strides.empty();
  }

  ir::Graph& graph_;
  StepCutter cutter_;
  const StepBound& bound_;
  const StepCost& cost_;
  const KernelTable kernels_;
  std::map<TensorId, TensorId> copies_;  ///< Dense tensors for strided views.
  std::set<TensorId> filled_;            ///< Those that a part before has copied.
};

bool TakesStrides(Op op) {
  return (FindOpInfo(op)->traits & kStrided) != 0;
}

/// The step with dense tensors for its strided operands.
StepSpec Splitter::OnCopies(StepSpec step) {
  if (TakesStrides(step.op)) return step;
  for (std::vector<TensorId>* operands : {&step.inputs, &step.outputs}) {
    for (TensorId& id : *operands) {
      if (!IsStrided(id)) continue;
      TensorId& copy = copies_.try_emplace(id, ir::kNoTensor).first->second;
      if (copy == ir::kNoTensor) {
        ir::Tensor dense = graph_.tensor(id);
        dense.name += "/copy";
        dense.view.reset();
        copy = graph_.AddTensor(std::move(dense));
      }
      id = copy;
    }
  }
  return step;
}

StepSpec Splitter::Copy(const StepSpec& step, TensorId from, TensorId to) const {
  StepSpec copy;
  copy.op = Op::kCopy;
  copy.params.resize(sizeof(schema::CopyParams));
  copy.inputs = {from};
  copy.outputs = {to};
  copy.node = step.node;
  return copy;
}

bool Splitter::Runs(const StepSpec& part) {
  const StepSpec dense = OnCopies(part);
  const Kernel* kernel = FindKernel(graph_, dense, kernels_);
  uint64_t work = 1;
  return kernel != nullptr && kernel->check(StepCall(graph_, dense).call(), work).ok();
}

/// Along the outermost axis that can be cut, whose ranges are dense if those of any are.
Halves Splitter::HalvesOf(const StepSpec& step) {
  if (step.outputs.empty()) return std::nullopt;
  const std::vector<int32_t> dims = graph_.tensor(step.outputs[0]).dims;
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis] == 1) continue;
    Halves halves = cutter_.Halves(step, axis);
    if (halves && Runs(halves->first) && Runs(halves->second)) return halves;
  }
  return std::nullopt;
}

/// A copy of an input serves all parts that read it.
bool Splitter::Append(const StepSpec& step, uint64_t ticks, Parts& parts) {
  std::vector<StepSpec> made = {OnCopies(step)};
  const std::vector<TensorId> inputs = made[0].inputs, outputs = made[0].outputs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool is_copy = inputs[i] != step.inputs[i] && filled_.insert(inputs[i]).second;
    if (is_copy && !Split(Copy(step, step.inputs[i], inputs[i]), parts)) return false;
  }
  made[0].scratch = ir::kNoTensor;
  AddScratch(graph_, made, kernels_);
  parts.steps.push_back(made[0]);
  parts.costs.push_back(ticks);
  for (size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i] != step.outputs[i] && !Split(Copy(step, outputs[i], step.outputs[i]), parts)) return false;
  return true;
}

bool Splitter::Split(const StepSpec& step, uint64_t ticks, Parts& parts) {
  parts.shortest = parts.steps.size() == kMostParts ? kTooMany : ticks;
  if (parts.shortest == kTooMany) return false;
  if (ticks <= bound_.ticks) return Append(step, ticks, parts);
  const Halves halves = HalvesOf(step);
  return halves && Split(halves->first, parts) && Split(halves->second, parts);
}

void TooLong(const ir::Graph& graph, const StepSpec& step, const StepBound& bound, uint64_t ticks, uint64_t shortest,
             Diagnostics& diagnostics) {
  const std::string part = shortest == kTooMany ? absl::StrCat("would become more than ", kMostParts, " parts")
                           : shortest < ticks   ? absl::StrFormat("its parts %.1f us, the shortest it can be cut into",
                                                                  bound.Microseconds(shortest))
                                                : "it can't be cut";
  const ir::Node& node = graph.nodes[static_cast<size_t>(step.node)];
  diagnostics.Error(
      {graph.name, node.sources.empty() ? -1 : node.sources[0], node.name, ""},
      absl::StrFormat("%s takes %.1f us, %s, and --max-step-us allows %.0f: use a smaller layer, a faster kernel or a "
                      "longer bound",
                      OpName(step.op), bound.Microseconds(ticks), part, bound.Microseconds(bound.ticks)));
}

/// Scopes of the steps that `starts` has moved; one entry more than there were steps.
void MoveScopes(const std::vector<size_t>& starts, const std::vector<StepSpec>& before, std::vector<StepSpec>& steps) {
  for (size_t s = 0; s < before.size(); ++s)
    if (const uint32_t length = ScopeLength(before[s]); length != 0)
      SetScopeLength(steps[starts[s]], static_cast<uint32_t>(starts[s + 1 + length] - starts[s + 1]));
}

}  // namespace

void SplitSteps(ir::Graph& graph, std::vector<StepSpec>& steps, std::vector<uint64_t>& costs, const StepBound& bound,
                const StepCost& cost, KernelTable kernels, Diagnostics& diagnostics) {
  Splitter splitter(graph, bound, cost, kernels);
  std::vector<StepSpec> made;
  std::vector<uint64_t> made_costs;
  std::vector<size_t> starts;
  for (size_t s = 0; s < steps.size(); ++s) {
    starts.push_back(made.size());
    const bool device = steps[s].op == Op::kSubmit || steps[s].op == Op::kWait;
    Parts parts;
    const bool within = device || costs[s] <= bound.ticks;
    if (within || !splitter.Split(steps[s], costs[s], parts)) {
      if (!within) TooLong(graph, steps[s], bound, costs[s], parts.shortest, diagnostics);
      parts = {{steps[s]}, {costs[s]}};
    }
    made.insert(made.end(), parts.steps.begin(), parts.steps.end());
    made_costs.insert(made_costs.end(), parts.costs.begin(), parts.costs.end());
  }
  starts.push_back(made.size());
  MoveScopes(starts, steps, made);
  steps = std::move(made);
  costs = std::move(made_costs);
}

}  // namespace takt::backend
