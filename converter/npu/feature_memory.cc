#include "converter/npu/feature_memory.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "converter/memory/liveness.h"
#include "converter/memory/planner.h"

namespace takt::npu {
namespace {

constexpr int64_t kArenaAlignment = 16;

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

}  // namespace

Compilation CompileToFit(ir::Graph& graph, const std::vector<backend::StepSpec>& steps, Machine& machine,
                         Diagnostics& diagnostics, uint64_t max_step_cycles) {
  const ir::Graph before = graph;
  for (;;) {
    Diagnostics found;
    Compilation made = Compile(graph, steps, machine, found, max_step_cycles);
    const Memory& limit = machine.memories[machine.feature_memory];
    const std::vector<memory::Buffer> buffers = memory::ComputeLiveness(graph, made.steps).buffers;
    const memory::PeakLoad peak = memory::FindPeakLoad(buffers, kArenaAlignment);
    const bool fits = limit.bytes == 0 || static_cast<uint64_t>(peak.bytes) <= limit.bytes;
    if (fits || !found.ok()) {
      Move(found, diagnostics);
      return made;
    }
    const std::string missing =
        absl::StrCat("activations need ", peak.bytes, " bytes here, ", limit.name, " of ", machine.name, " has ",
                     limit.bytes, ": ", static_cast<uint64_t>(peak.bytes) - limit.bytes, " bytes are missing");
    if (machine.spill_memory == machine.feature_memory) {
      diagnostics.Error(PeakOp(graph, made, peak.step),
                        absl::StrCat(missing, "; use a machine with more, or name a larger memory as its spill"));
      return made;
    }
    diagnostics.Warning(PeakOp(graph, made, peak.step),
                        absl::StrCat(missing, "; all lie in ", machine.memories[machine.spill_memory].name));
    machine.feature_memory = machine.spill_memory;
    graph = before;
  }
}

}  // namespace takt::npu
