// Cuts long steps of a CPU into parts, so that a run can be stopped or preempted between them.
#ifndef TAKT_CONVERTER_BACKEND_STEP_SPLIT_H_
#define TAKT_CONVERTER_BACKEND_STEP_SPLIT_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "converter/backend/step_builder.h"
#include "converter/base/diagnostics.h"
#include "converter/ir/graph.h"
#include "engine/core/kernel.h"

namespace takt::backend {

/// Ticks of a step.
using StepCost = std::function<uint64_t(const StepSpec& step)>;

struct StepBound {
  uint64_t ticks = UINT64_MAX;  ///< Of one step.
  uint64_t clock_hz = 1;        ///< For messages.

  double Microseconds(uint64_t of) const { return 1e6 * static_cast<double>(of) / static_cast<double>(clock_hz); }
};

/// Cuts each step of a kernel that costs more than the bound in halves along the outermost axis of its output that its
/// op's rule (step_cuts.h) allows, and those again: rows of an image, then its columns, then channels. Parts read and
/// write views; where these are not dense, such as columns under a tall kernel, the part runs on copies, which are
/// within the bound too. Outputs keep their bytes; constants are cut with the parts. `costs` has one entry a step. A
/// step that stays too long is an error. Steps of devices stay as they are; control steps keep their scopes.
void SplitSteps(ir::Graph& graph, std::vector<StepSpec>& steps, std::vector<uint64_t>& costs, const StepBound& bound,
                const StepCost& cost, KernelTable kernels, Diagnostics& diagnostics);

}  // namespace takt::backend

#endif  // TAKT_CONVERTER_BACKEND_STEP_SPLIT_H_
