// Which steps the host runs while a job is in flight.
#ifndef TAKT_CONVERTER_NPU_OVERLAP_H_
#define TAKT_CONVERTER_NPU_OVERLAP_H_

#include "converter/npu/compiler.h"

namespace takt::npu {

/// Reorders the steps of a compilation, of which the last `commits` copy states, if that takes fewer cycles: what does
/// not need a job's results runs between its Submit and its Wait, which then costs what is left of the job. One job is
/// in flight at a time, so a device needs no queue; its Wait stands where its results are first read, the next job
/// begins or it has ended. From Submit to Wait takes `max_step_cycles` at most, unless the job does not. The order
/// stays if the new one does not fit the memories. Jobs are numbered in the order of their Submits. A note says what it
/// saves, or why not.
void OverlapJobs(const ir::Graph& graph, const Machine& machine, size_t commits, uint64_t max_step_cycles,
                 Compilation& made, Diagnostics& diagnostics);

}  // namespace takt::npu

#endif  // TAKT_CONVERTER_NPU_OVERLAP_H_
