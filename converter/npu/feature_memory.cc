#include "converter/npu/feature_memory.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "converter/memory/arenas.h"
#include "converter/npu/memory_search.h"
#include "converter/npu/step_profile.h"

namespace takt::npu {
namespace {

/// The op at the peak: of a step of the host, or of the layer at which a job's workspace is fullest.
ModelLocation PeakOp(const ir::Graph& graph, const Compilation& made, int32_t step) {
  const backend::StepSpec& at = made.steps[static_cast<size_t>(step)];
  int node = at.node;
  if (at.op == Op::kSubmit || at.op == Op::kWait) {
    size_t job = 0;
    for (int32_t s = 0; s < step; ++s) job += made.steps[static_cast<size_t>(s)].op == Op::kWait;
    node = made.jobs[job].peak_node;
  }
  const ir::Node& source = graph.nodes[static_cast<size_t>(node)];
  return {graph.name, source.sources.empty() ? -1 : source.sources[0], source.name, ""};
}

void Move(const Diagnostics& from, Diagnostics& to) {
  for (const Diagnostic& d : from.all()) {
    d.severity == Severity::kError     ? to.Error(d.where, d.message)
    : d.severity == Severity::kWarning ? to.Warning(d.where, d.message)
                                       : to.Note(d.where, d.message);
  }
}

/// A compilation with a plan for the memories, and what it needs of the feature memory.
struct Attempt {
  ir::Graph graph;
  Machine machine;
  MemoryPlan plan;
  Diagnostics found;
  Compilation made;
  int64_t bytes = 0;
  ModelLocation peak;

  bool fits() const {
    const uint64_t limit = machine.memories[machine.feature_memory].bytes;
    return limit == 0 || static_cast<uint64_t>(bytes) <= limit;
  }
};

class FitSearch {
 public:
  FitSearch(const ir::Graph& graph, const std::vector<backend::StepSpec>& steps, const Machine& machine,
            uint64_t max_step_cycles)
      : graph_(graph), steps_(steps), machine_(machine), max_step_cycles_(max_step_cycles) {}

  Attempt Try(const Machine& machine, MemoryPlan plan) const;
  /// The fastest of those that fit: tensors in the spill memory one by one, few or many cascades before, all tensors.
  /// Otherwise the one that needs least.
  Attempt Best(Attempt whole) const;

 private:
  bool can_spill() const { return machine_.spill_memory != machine_.feature_memory; }
  std::optional<Attempt> Plan(const MemorySearch& search, int64_t relief) const;

  const ir::Graph& graph_;
  const std::vector<backend::StepSpec>& steps_;
  const Machine& machine_;
  const uint64_t max_step_cycles_;
};

Attempt FitSearch::Try(const Machine& machine, MemoryPlan plan) const {
  Attempt a = {graph_, machine, std::move(plan), {}, {}, 0, {}};
  a.made = Compile(a.graph, steps_, a.machine, a.found, max_step_cycles_, a.plan);
  const memory::Liveness liveness = memory::ComputeLiveness(a.graph, a.made.steps);
  const memory::ArenaPlacement placed = memory::PlaceInArenas(liveness, a.made.device.second);
  a.bytes = placed.arenas[0].bytes;
  std::vector<memory::Buffer> here;
  for (size_t i = 0; i < liveness.buffers.size(); ++i) {
    if (placed.arenas.size() == 1 || placed.all.offsets[i] < placed.arenas[1].begin)
      here.push_back(liveness.buffers[i]);
  }
  if (!a.made.steps.empty()) a.peak = PeakOp(a.graph, a.made, memory::FindPeakLoad(here, memory::kArenaAlignment).step);
  return a;
}

/// Cascades down to `relief` times the limit (0: none), then tensors in the spill memory. What a compilation needs
/// beyond its estimate lowers the limit of the next one.
std::optional<Attempt> FitSearch::Plan(const MemorySearch& search, int64_t relief) const {
  constexpr int kTries = 4;
  const auto bytes = static_cast<int64_t>(machine_.memories[machine_.feature_memory].bytes);
  std::optional<Attempt> least;
  int64_t limit = bytes;
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
    if (auto a = Plan(search, relief)) attempts.push_back(std::move(*a));
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

Compilation CompileToFit(ir::Graph& graph, const std::vector<backend::StepSpec>& steps, Machine& machine,
                         Diagnostics& diagnostics, uint64_t max_step_cycles) {
  const FitSearch search(graph, steps, machine, max_step_cycles);
  Attempt made = search.Try(machine, {});
  if (!made.fits() && made.found.ok()) {
    const Memory& limit = machine.memories[machine.feature_memory];
    const auto missing = [&](const Attempt& a) {
      return absl::StrCat("activations need ", a.bytes, " bytes here, ", limit.name, " of ", machine.name, " has ",
                          limit.bytes, ": ", static_cast<uint64_t>(a.bytes) - limit.bytes, " bytes are missing; ");
    };
    const ModelLocation where = made.peak;
    const std::string text = missing(made);
    made = search.Best(std::move(made));
    if (made.fits()) {
      made.found.Warning(where, text + RemedyText(made, machine));
    } else {
      made.found.Error(made.peak, missing(made) + "use a machine with more, or name a larger memory as its spill");
    }
  }
  Move(made.found, diagnostics);
  graph = std::move(made.graph);
  machine = made.machine;
  return std::move(made.made);
}

}  // namespace takt::npu
