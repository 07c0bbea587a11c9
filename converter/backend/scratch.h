// Scratch memory of kernels, planned like tensors.
#ifndef TAKT_CONVERTER_BACKEND_SCRATCH_H_
#define TAKT_CONVERTER_BACKEND_SCRATCH_H_

#include <vector>

#include "converter/backend/step_builder.h"
#include "converter/base/diagnostics.h"
#include "converter/ir/graph.h"
#include "engine/core/kernel.h"

namespace takt::backend {

/// Asks each step's row of `kernels` what it needs and gives the step a scratch tensor of that size. A step that no row
/// can run is an error at its node.
void AddScratch(ir::Graph& graph, std::vector<StepSpec>& steps, KernelTable kernels, Diagnostics& diagnostics);

}  // namespace takt::backend

#endif  // TAKT_CONVERTER_BACKEND_SCRATCH_H_
