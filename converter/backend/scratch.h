// Scratch memory of kernels, planned like tensors.
#ifndef TAKT_CONVERTER_BACKEND_SCRATCH_H_
#define TAKT_CONVERTER_BACKEND_SCRATCH_H_

#include <vector>

#include "converter/backend/step_builder.h"
#include "converter/ir/graph.h"
#include "engine/core/kernel.h"

namespace takt::backend {

/// Asks each step's row of `kernels` what it needs and gives the step a scratch tensor of that size.
void AddScratch(ir::Graph& graph, std::vector<StepSpec>& steps, KernelTable kernels);

}  // namespace takt::backend

#endif  // TAKT_CONVERTER_BACKEND_SCRATCH_H_
