// A plan read back as the compilation that made it, as far as a plan tells.
#ifndef TAKT_CONVERTER_NPU_PLAN_COMPILATION_H_
#define TAKT_CONVERTER_NPU_PLAN_COMPILATION_H_

#include <optional>
#include <string>

#include "converter/npu/compiler.h"
#include "converter/npu/machine_json.h"
#include "engine/plan/plan.h"

namespace takt::npu {

struct PlanCompilation {
  ir::Graph graph;  ///< Nodes with ops and names.
  Compilation compilation;
  MachineDescription machine;  ///< The table; sources and validation say that a plan does not tell them.
};

/// Layers of a job are where its stream says that all results are stored; their geometry and tiling are not known.
/// Nothing, and `reason`, if the plan is for no emulated NPU, or a job does not run.
std::optional<PlanCompilation> ReadCompilation(const Plan& plan, const std::string& name, std::string& reason);

}  // namespace takt::npu

#endif  // TAKT_CONVERTER_NPU_PLAN_COMPILATION_H_
