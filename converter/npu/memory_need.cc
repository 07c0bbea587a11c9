#include "converter/npu/memory_need.h"

#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "converter/npu/step_times.h"
#include "engine/core/interpreter.h"
#include "engine/plan/trailer.h"

namespace takt::npu {
namespace {

using backend::StepSpec;

/// Of a step of the host, or of the layer at which a job's workspace is fullest.
ModelLocation OpOf(const ir::Graph& graph, const StepSpec& step, const Compilation& made) {
  int node = step.node;
  if (IsDeviceStep(step)) node = made.jobs[JobOf(step)].peak_node;
  const ir::Node& source = graph.nodes[static_cast<size_t>(node)];
  return {graph.name, source.sources.empty() ? -1 : source.sources[0], source.name, ""};
}

void AddActivations(const ir::Graph& graph, const std::vector<StepSpec>& steps, const Compilation& made,
                    const memory::Liveness& liveness, const memory::ArenaPlacement& placed, const Machine& machine,
                    MemoryNeeds& needs) {
  for (size_t arena = placed.arenas.size(); arena-- > 0;) {
    MemoryNeed& need = needs[arena == 0 ? machine.feature_memory : machine.spill_memory];
    const memory::Arena& at = placed.arenas[arena];
    std::vector<memory::Buffer> buffers;
    for (size_t i = 0; i < liveness.buffers.size(); ++i) {
      const int64_t offset = placed.all.offsets[i];
      if (offset >= at.begin && (arena + 1 == placed.arenas.size() || offset < placed.arenas[arena + 1].begin))
        buffers.push_back(liveness.buffers[i]);
    }
    need.activations += at.bytes;
    if (steps.empty()) continue;
    const auto peak = static_cast<size_t>(memory::FindPeakLoad(buffers, memory::kArenaAlignment).step);
    need.peak = OpOf(graph, steps[peak], made);
  }
}

void AddConstants(const ir::Graph& graph, const std::vector<StepSpec>& steps, const Compilation& made,
                  MemoryNeed& need) {
  std::set<ir::TensorId> seen;
  int64_t most = 0;
  for (const StepSpec& step : steps) {
    int64_t bytes = 0;
    for (const ir::TensorId id : step.inputs) {
      if (id != ir::kNoTensor && graph.tensor(id).is_constant() && seen.insert(id).second)
        bytes += graph.tensor(id).byte_size();
    }
    need.plan += memory::Aligned(bytes, kConstantAlignment);
    if (bytes > most && need.activations == 0) need.peak = OpOf(graph, step, made);
    most = std::max(most, bytes);
  }
  for (const backend::JobSpec& job : made.device.jobs)
    need.plan += memory::Aligned(static_cast<int64_t>(job.stream.size()), kConstantAlignment);
}

}  // namespace

MemoryNeeds NeedsOf(const ir::Graph& graph, const std::vector<StepSpec>& steps, const Compilation& made,
                    const memory::Liveness& liveness, const memory::ArenaPlacement& placed, const Machine& machine) {
  MemoryNeeds needs;
  AddActivations(graph, steps, made, liveness, placed, machine, needs);
  AddConstants(graph, steps, made, needs[machine.constant_memory]);
  MemoryNeed& features = needs[machine.feature_memory];
  features.states = liveness.state_bytes;
  features.records = static_cast<int64_t>(steps.size() * sizeof(StepRecord));
  return needs;
}

bool Fits(const MemoryNeeds& needs, const Machine& machine, size_t memory) {
  const uint64_t bytes = machine.memories[memory].bytes;
  return bytes == 0 || static_cast<uint64_t>(needs[memory].bytes()) <= bytes;
}

std::string MissingText(const MemoryNeeds& needs, const Machine& machine, size_t memory) {
  const MemoryNeed& need = needs[memory];
  const Memory& has = machine.memories[memory];
  const std::pair<const char*, int64_t> parts[] = {{"activations", need.activations},
                                                   {"states", need.states},
                                                   {"records of steps", need.records},
                                                   {"plan", need.plan}};
  std::vector<std::string> texts;
  for (const auto& [name, bytes] : parts) {
    if (bytes != 0) texts.push_back(absl::StrCat(name, " ", bytes));
  }
  return absl::StrCat(has.name, " of ", machine.name, " has ", has.bytes, " bytes, and needs ", need.bytes(), " (",
                      absl::StrJoin(texts, ", "), "): ", static_cast<uint64_t>(need.bytes()) - has.bytes,
                      " bytes are missing");
}

void CheckMemories(const MemoryNeeds& needs, const Machine& machine, Diagnostics& diagnostics) {
  for (size_t m = 0; m < machine.memory_count; ++m) {
    if (Fits(needs, machine, m)) continue;
    const bool may_spill = m == machine.feature_memory && machine.spill_memory == m && m != machine.constant_memory;
    diagnostics.Error(needs[m].peak, absl::StrCat(MissingText(needs, machine, m), "; use a machine with more",
                                                  may_spill ? ", or name a larger memory as its spill" : ""));
  }
}

}  // namespace takt::npu
