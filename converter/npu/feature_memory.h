// Compilation for the memory that activations lie in.
#ifndef TAKT_CONVERTER_NPU_FEATURE_MEMORY_H_
#define TAKT_CONVERTER_NPU_FEATURE_MEMORY_H_

#include "converter/npu/compiler.h"

namespace takt::npu {

/// As Compile, for a machine whose memories are finite: if activations, states and the interpreter's records do not fit
/// its feature memory, layers become cascades, and tensors move to the memory that it spills to, with a warning, or
/// that is an error; both name the limit, the op at the peak and the missing bytes. `commits` run after the steps, on
/// the host. `machine.feature_memory` is where activations lie in the end, but for DevicePart::second.
Compilation CompileToFit(ir::Graph& graph, const std::vector<backend::StepSpec>& steps,
                         const std::vector<backend::StepSpec>& commits, Machine& machine, Diagnostics& diagnostics,
                         uint64_t max_step_cycles = UINT64_MAX);

}  // namespace takt::npu

#endif  // TAKT_CONVERTER_NPU_FEATURE_MEMORY_H_
