#include "converter/npu/feature_memory.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "converter/npu/memory_need.h"
#include "converter/npu/memory_search.h"
#include "converter/npu/step_profile.h"

namespace takt::npu {
namespace {

void Move(const Diagnostics& from, Diagnostics& to) {
  for (const Diagnostic& d : from.all()) {
    d.severity == Severity::kError     ? to.Error(d.where, d.message)
    : d.severity == Severity::kWarning ? to.Warning(d.where, d.message)
                                       : to.Note(d.where, d.message);
  }
}

/// A compilation with a plan for the memories, and what it needs of them; `bytes`: of the feature memory.
struct Attempt {
  ir::Graph graph;
  Machine machine;
  MemoryPlan plan;
  Diagnostics found;
  Compilation made;
  MemoryNeeds needs{};
  int64_t bytes = 0;

  /// Of the feature memory, what no plan for the activations changes much.
  int64_t reserve() const { return bytes - needs[machine.feature_memory].activations; }
  bool fits() const {
    return Fits(needs, machine, machine.feature_memory) && Fits(needs, machine, machine.spill_memory);
  }
};

class FitSearch {
 public:
  FitSearch(const ir::Graph& graph, const std::vector<backend::StepSpec>& steps,
            const std::vector<backend::StepSpec>& commits, const Machine& machine, uint64_t max_step_cycles)
      : graph_(graph), steps_(steps), commits_(commits), machine_(machine), max_step_cycles_(max_step_cycles) {}

  Attempt Try(const Machine& machine, MemoryPlan plan) const;
  /// The fastest of those that fit: tensors in the spill memory one by one, few or many cascades before, all tensors.
  /// Otherwise the one that needs least.
  Attempt Best(Attempt whole) const;

 private:
  bool can_spill() const { return machine_.spill_memory != machine_.feature_memory; }
  std::optional<Attempt> Plan(const MemorySearch& search, int64_t reserve, int64_t relief) const;

  const ir::Graph& graph_;
  const std::vector<backend::StepSpec>& steps_;
  const std::vector<backend::StepSpec>& commits_;
  const Machine& machine_;
  const uint64_t max_step_cycles_;
};

Attempt FitSearch::Try(const Machine& machine, MemoryPlan plan) const {
  Attempt a = {graph_, machine, std::move(plan), {}, {}, {}, 0};
  a.made = Compile(a.graph, steps_, a.machine, a.found, max_step_cycles_, a.plan);
  std::vector<backend::StepSpec> all = a.made.steps;
  all.insert(all.end(), commits_.begin(), commits_.end());
  const memory::Liveness liveness = memory::ComputeLiveness(a.graph, all);
  const memory::ArenaPlacement placed = memory::PlaceInArenas(liveness, a.made.device.second);
  a.needs = NeedsOf(a.graph, all, a.made, liveness, placed, a.machine);
  a.bytes = a.needs[a.machine.feature_memory].bytes();
  return a;
}

/// Cascades down to `relief` times the limit (0: none), then tensors in the spill memory. What a compilation needs
/// beyond its estimate lowers the limit of the next one.
std::optional<Attempt> FitSearch::Plan(const MemorySearch& search, int64_t reserve, int64_t relief) const {
  constexpr int kTries = 4;
  const auto bytes = static_cast<int64_t>(machine_.memories[machine_.feature_memory].bytes);
  std::optional<Attempt> least;
  int64_t limit = bytes - reserve;
  for (int i = 0; i < kTries && limit > 0; ++i) {
    MemoryPlan plan;
    if (relief > 0) search.AddCascades(limit * relief, plan);
    if (can_spill()) search.Spill(limit, plan);
    Attempt a = Try(machine_, std::move(plan));
    limit -= a.bytes - bytes;
    if (!least || a.bytes < least->bytes) least = std::move(a);
    if (least->fits()) break;
  }
  return least;
}

Attempt FitSearch::Best(Attempt whole) const {
  std::vector<Attempt> attempts;
  const MemorySearch search(graph_, steps_, machine_);
  for (const int64_t relief : {0, 1, 2, 4, 8}) {
    const bool possible = (relief == 0 || max_step_cycles_ == UINT64_MAX) && (relief == 1 || can_spill());
    if (!possible) continue;
    if (auto a = Plan(search, whole.reserve(), relief)) attempts.push_back(std::move(*a));
  }
  if (can_spill()) {
    Machine machine = machine_;
    machine.feature_memory = machine.spill_memory;
    attempts.push_back(Try(machine, {}));
  }
  Attempt* best = &whole;
  for (Attempt& a : attempts) {
    const auto key = [](const Attempt& x) { return x.fits() ? TotalCycles(x.made) : static_cast<uint64_t>(x.bytes); };
    if (a.fits() != best->fits() ? a.fits() : key(a) < key(*best)) best = &a;
  }
  return std::move(*best);
}

/// How activations were made to fit.
std::string RemedyText(const Attempt& a, const Machine& machine) {
  if (a.machine.feature_memory != machine.feature_memory)
    return absl::StrCat("all lie in ", machine.memories[machine.spill_memory].name);
  std::vector<std::string> parts;
  if (!a.plan.cascades.empty())
    parts.push_back(absl::StrCat(a.plan.cascades.size(), " cascades keep only the rows in use between their layers"));
  if (!a.plan.spilled.empty())
    parts.push_back(
        absl::StrCat(a.plan.spilled.size(), " tensors lie in ", machine.memories[machine.spill_memory].name));
  return absl::StrJoin(parts, ", ");
}

}  // namespace

Compilation CompileToFit(ir::Graph& graph, const std::vector<backend::StepSpec>& steps,
                         const std::vector<backend::StepSpec>& commits, Machine& machine, Diagnostics& diagnostics,
                         uint64_t max_step_cycles) {
  const FitSearch search(graph, steps, commits, machine, max_step_cycles);
  Attempt made = search.Try(machine, {});
  if (!made.fits() && made.found.ok()) {
    const ModelLocation where = made.needs[machine.feature_memory].peak;
    const std::string text = MissingText(made.needs, machine, machine.feature_memory);
    made = search.Best(std::move(made));
    if (made.fits()) {
      made.found.Warning(where, absl::StrCat(text, "; ", RemedyText(made, machine)));
    } else {
      CheckMemories(made.needs, made.machine, made.found);
    }
  }
  Move(made.found, diagnostics);
  graph = std::move(made.graph);
  machine = made.machine;
  return std::move(made.made);
}

}  // namespace takt::npu
