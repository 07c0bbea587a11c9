#include "converter/memory/schedule.h"

#include <algorithm>
#include <map>
#include <utility>

#include "converter/memory/liveness.h"
#include "converter/memory/order_search.h"

namespace takt::memory {
namespace {

using ir::TensorId;

/// Tensors that share memory through views are one value.
class ProblemBuilder {
 public:
  explicit ProblemBuilder(const ir::Graph& graph) : graph_(graph) {}

  OrderProblem Build(const std::vector<backend::StepSpec>& steps) {
    for (TensorId id : graph_.inputs) problem_.values[static_cast<size_t>(Value(id))].input = true;
    for (const ir::State& state : graph_.states) {  // no bytes of this arena
      OrderProblem::Value& value = problem_.values[static_cast<size_t>(Value(state.tensor))];
      value.input = true;
      value.bytes = 0;
    }
    for (size_t s = 0; s < steps.size(); ++s) AddTask(static_cast<int>(s), steps[s]);
    for (TensorId id : graph_.outputs) problem_.values[static_cast<size_t>(Value(id))].output = true;
    for (const ir::State& state : graph_.states) problem_.values[static_cast<size_t>(Value(state.next))].output = true;
    return std::move(problem_);
  }

 private:
  int Value(TensorId id) {
    while (graph_.tensor(id).view) id = graph_.tensor(id).view->base;
    const auto [it, fresh] = value_.try_emplace(id, static_cast<int>(problem_.values.size()));
    if (fresh)
      problem_.values.push_back({graph_.tensor(id).byte_size()}), readers_.emplace_back(), writers_.emplace_back();
    return it->second;
  }

  void AddTask(int index, const backend::StepSpec& step) {
    OrderProblem::Task task;
    for (TensorId id : step.inputs) {
      if (id == ir::kNoTensor || graph_.tensor(id).is_constant()) continue;
      const int value = Value(id);
      if (std::find(task.reads.begin(), task.reads.end(), value) != task.reads.end()) continue;
      task.reads.push_back(value);
      Append(task.after, writers_[static_cast<size_t>(value)]);
    }
    for (TensorId id : step.outputs) {
      const int value = Value(id);
      task.writes.push_back(value);
      Append(task.after, readers_[static_cast<size_t>(value)]);
    }
    for (TensorId id : InPlaceInputs(graph_, step)) task.in_place.push_back(Value(id));
    if (step.scratch != ir::kNoTensor) task.scratch = graph_.tensor(step.scratch).byte_size();
    for (int value : task.reads) readers_[static_cast<size_t>(value)].push_back(index);
    for (int value : task.writes) writers_[static_cast<size_t>(value)].push_back(index);
    problem_.tasks.push_back(std::move(task));
  }

  static void Append(std::vector<int>& to, const std::vector<int>& from) {
    to.insert(to.end(), from.begin(), from.end());
  }

  const ir::Graph& graph_;
  OrderProblem problem_;
  std::map<TensorId, int> value_;
  std::vector<std::vector<int>> readers_, writers_;  ///< Tasks so far, by value.
};

}  // namespace

std::vector<backend::StepSpec> ScheduleSteps(const ir::Graph& graph, std::vector<backend::StepSpec> steps) {
  const auto is_control = [](const backend::StepSpec& step) { return backend::ScopeLength(step) != 0; };
  if (std::any_of(steps.begin(), steps.end(), is_control)) return steps;
  const std::vector<int> order = LowestPeakOrder(ProblemBuilder(graph).Build(steps));
  std::vector<backend::StepSpec> scheduled;
  for (int s : order) scheduled.push_back(std::move(steps[static_cast<size_t>(s)]));
  return scheduled;
}

}  // namespace takt::memory
