// Proofs of a memory plan that share no code with what made it.
#ifndef TAKT_CONVERTER_MEMORY_CHECKER_H_
#define TAKT_CONVERTER_MEMORY_CHECKER_H_

#include <string>
#include <vector>

#include "converter/backend/step_builder.h"
#include "converter/ir/graph.h"
#include "converter/memory/liveness.h"
#include "converter/memory/planner.h"

namespace takt::memory {

/// Empty if every buffer is aligned and inside the peak, no two that live together overlap, and the peak is not below
/// the bound; otherwise what is wrong.
std::string CheckPlacement(const std::vector<Buffer>& buffers, const Placement& placement, int64_t alignment);

/// Replays the steps on an arena that knows whose value each byte holds: empty if every step reads what was written for
/// it and writes over its own inputs only as its op's row allows, and a job's memory stays its own until it is waited
/// for. So no view, in-place step or lifetime was declared wrongly.
std::string CheckSharing(const ir::Graph& graph, const std::vector<backend::StepSpec>& steps, const Liveness& liveness,
                         const Placement& placement);

}  // namespace takt::memory

#endif  // TAKT_CONVERTER_MEMORY_CHECKER_H_
