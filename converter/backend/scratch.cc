#include "converter/backend/scratch.h"

#include <utility>

#include "converter/backend/step_call.h"

namespace takt::backend {

void AddScratch(ir::Graph& graph, std::vector<StepSpec>& steps, KernelTable kernels) {
  for (StepSpec& step : steps) {
    const Kernel* kernel = FindKernel(graph, step, kernels);
    if (kernel == nullptr || kernel->need == nullptr) continue;
    const uint32_t bytes = kernel->need(StepCall(graph, step).call()).scratch;
    if (bytes == 0) continue;
    ir::Tensor scratch;
    scratch.name = graph.nodes[static_cast<size_t>(step.node)].name + "/scratch";
    scratch.type = DataType::kUint8;
    scratch.dims = {static_cast<int32_t>(bytes)};
    step.scratch = graph.AddTensor(std::move(scratch));
  }
}

}  // namespace takt::backend
