// What a plan puts in the memories of its machine, against what they have.
#ifndef TAKT_CONVERTER_NPU_MEMORY_NEED_H_
#define TAKT_CONVERTER_NPU_MEMORY_NEED_H_

#include <array>
#include <string>
#include <vector>

#include "converter/memory/arenas.h"
#include "converter/npu/compiler.h"

namespace takt::npu {

/// Bytes in one memory. `records`: the interpreter's, one a step; `plan`: constants and streams, of a plan that is
/// written all of it, as it is read in place.
struct MemoryNeed {
  int64_t activations = 0, states = 0, records = 0, plan = 0;
  ModelLocation peak;  ///< The op at which activations are most, where there are none the one with most constants.

  int64_t bytes() const { return activations + states + records + plan; }
};

/// By memory of the machine.
using MemoryNeeds = std::array<MemoryNeed, kMaxMemories>;

/// Of all steps, those that commit states included. `made`: their jobs.
MemoryNeeds NeedsOf(const ir::Graph& graph, const std::vector<backend::StepSpec>& steps, const Compilation& made,
                    const memory::Liveness& liveness, const memory::ArenaPlacement& placed, const Machine& machine);

/// Whether a memory holds what it is to.
bool Fits(const MemoryNeeds& needs, const Machine& machine, size_t memory);

/// "sram of ethos-u55-128 has 5000 bytes, and needs 21408 (activations 10304, ...): 16408 bytes are missing"
std::string MissingText(const MemoryNeeds& needs, const Machine& machine, size_t memory);

/// An error at the op of the peak for each memory that is too small.
void CheckMemories(const MemoryNeeds& needs, const Machine& machine, Diagnostics& diagnostics);

}  // namespace takt::npu

#endif  // TAKT_CONVERTER_NPU_MEMORY_NEED_H_
