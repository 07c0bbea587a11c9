#include "converter/npu/feature_memory.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "converter/npu/memory_need.h"
#include "converter/npu/memory_search.h"
#include "converter/npu/step_profile.h"

namespace takt::npu {
namespace {

/// Of all attempts together, after which one that fits will do: what half a second compiles on a laptop of 2020.
constexpr uint64_t kEnoughCommands = 1'000'000;

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

/// Whether `a` fits, and faster; where neither fits, whether it needs less.
bool IsBetter(const Attempt& a, const Attempt& b) {
  if (a.fits() != b.fits()) return a.fits();
  return a.fits() ? TotalCycles(a.made) < TotalCycles(b.made) : a.bytes < b.bytes;
}

uint64_t CommandsOf(const Compilation& made) {
  uint64_t commands = 0;
  for (const CompiledJob& job : made.jobs) commands += job.timing.commands;
  return commands;
}

class FitSearch {
 public:
  FitSearch(const ir::Graph& graph, const std::vector<backend::StepSpec>& steps,
            const std::vector<backend::StepSpec>& commits, const Machine& machine, uint64_t max_step_cycles)
      : graph_(graph), steps_(steps), commits_(commits), machine_(machine), max_step_cycles_(max_step_cycles) {}

  /// All activations in the feature memory.
  Attempt Whole() { return Try(machine_, {}); }
  /// The fastest of those that fit: many, few or no cascades and tensors in the spill memory one by one, or all there.
  /// Otherwise the one that needs least.
  Attempt Best(Attempt best);

 private:
  Attempt Try(const Machine& machine, MemoryPlan plan);
  void TryPlans(const MemorySearch& search, uint32_t price, Attempt& best);
  bool can_spill() const { return machine_.spill_memory != machine_.feature_memory; }
  bool done(const Attempt& best) const { return best.fits() && commands_ > kEnoughCommands; }

  const ir::Graph& graph_;
  const std::vector<backend::StepSpec>& steps_;
  const std::vector<backend::StepSpec>& commits_;
  const Machine& machine_;
  const uint64_t max_step_cycles_;
  TilingCache tilings_[kMaxMemories];                  ///< By feature memory.
  uint64_t commands_ = 0;                              ///< Of all attempts.
  int64_t reserve_ = 0;                                ///< Attempt::reserve.
  std::vector<std::pair<MemoryPlan, int64_t>> tried_;  ///< With the bytes that they need.
};

Attempt FitSearch::Try(const Machine& machine, MemoryPlan plan) {
  Attempt a = {graph_, machine, std::move(plan), {}, {}, {}, 0};
  a.made = Compile(a.graph, steps_, a.machine, a.found, max_step_cycles_, a.plan, tilings_[machine.feature_memory]);
  commands_ += CommandsOf(a.made);
  std::vector<backend::StepSpec> all = a.made.steps;
  all.insert(all.end(), commits_.begin(), commits_.end());
  const memory::Liveness liveness = memory::ComputeLiveness(a.graph, all);
  const memory::ArenaPlacement placed = memory::PlaceInArenas(liveness, a.made.device.second);
  a.needs = NeedsOf(a.graph, all, a.made, liveness, placed, a.machine);
  a.bytes = a.needs[a.machine.feature_memory].bytes();
  return a;
}

/// Cascades for the limit (none at price 0), then tensors in the spill memory. What a compilation needs beyond its
/// estimate lowers the limit of the next one.
void FitSearch::TryPlans(const MemorySearch& search, uint32_t price, Attempt& best) {
  constexpr int kTries = 4;
  const auto bytes = static_cast<int64_t>(machine_.memories[machine_.feature_memory].bytes);
  const int64_t least = can_spill() ? 0 : search.LeastBytes();  // what an error tells is the least that it takes
  int64_t limit = bytes - reserve_;
  for (int i = 0; i < kTries && limit > 0 && !done(best); ++i) {
    MemoryPlan plan;
    if (price != 0) plan.cascades = search.FindCascades(std::max(limit, least), price);
    if (can_spill()) search.Spill(limit, plan);
    auto known = std::ranges::find(tried_, plan, &std::pair<MemoryPlan, int64_t>::first);
    if (known == tried_.end()) {
      Attempt a = Try(machine_, plan);
      known = tried_.insert(known, {std::move(plan), a.bytes});
      if (IsBetter(a, best)) best = std::move(a);
    }
    if (known->second <= bytes || limit < least) return;
    limit -= known->second - bytes;
  }
}

Attempt FitSearch::Best(Attempt best) {
  reserve_ = best.reserve();
  const MemorySearch search(graph_, steps_, machine_);
  const bool cascades = max_step_cycles_ == UINT64_MAX;
  if (!can_spill()) {
    if (cascades) TryPlans(search, MemorySearch::kAnyPrice, best);
    return best;
  }
  for (const uint32_t price : {4u, 0u, MemorySearch::kAnyPrice, 1u, 16u}) {
    if (cascades || price == 0) TryPlans(search, price, best);
  }
  if (done(best)) return best;
  Machine machine = machine_;
  machine.feature_memory = machine.spill_memory;
  Attempt all = Try(machine, {});
  return IsBetter(all, best) ? std::move(all) : std::move(best);
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
  FitSearch search(graph, steps, commits, machine, max_step_cycles);
  Attempt made = search.Whole();
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
