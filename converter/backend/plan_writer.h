// Plan bytes from lowered steps and their memory.
#ifndef TAKT_CONVERTER_BACKEND_PLAN_WRITER_H_
#define TAKT_CONVERTER_BACKEND_PLAN_WRITER_H_

#include <cstdint>
#include <span>
#include <vector>

#include "converter/backend/job_spec.h"
#include "converter/backend/step_builder.h"
#include "converter/backend/target.h"
#include "converter/base/diagnostics.h"
#include "converter/memory/arenas.h"

namespace takt::backend {

struct PlanInput {
  const ir::Graph& graph;
  const std::vector<StepSpec>& steps;
  const memory::Liveness& liveness;
  const memory::Placement& placement;
  std::span<const uint8_t> model;  ///< Whose hash the plan carries.
  const Target& target;
  uint64_t work = 0;  ///< Inner iterations of one invocation (CheckSteps).
  bool debug = false;
  DevicePart device = {};
  std::vector<memory::Arena> arenas = {};  ///< Of the placement; none: one of all. The second is in `device`'s memory.
};

/// The file: metadata, data segment, trailer. The same input gives the same bytes. Empty after an error: the format's
/// indices have 16 bits and its offsets 32, and the graph needs more.
std::vector<uint8_t> WritePlan(const PlanInput& input, Diagnostics& diagnostics);

}  // namespace takt::backend

#endif  // TAKT_CONVERTER_BACKEND_PLAN_WRITER_H_
