// What every pipe does when: JSON for Chrome's tracing or Perfetto.
#ifndef TAKT_CONVERTER_NPU_TRACE_H_
#define TAKT_CONVERTER_NPU_TRACE_H_

#include <string>

#include "converter/npu/compiler.h"

namespace takt::npu {

/// A track a pipe, one for layers and one for the host, commands as slices, waits with their reason, an arrow from each
/// Set to the Wait that takes it; the command pipe's commands are one slice a job. Counters for bytes in use of every
/// buffer and for bytes a cycle of every memory. 1 µs of the picture is one cycle.
std::string TraceJson(const ir::Graph& graph, const Compilation& compilation, const Machine& machine);

}  // namespace takt::npu

#endif  // TAKT_CONVERTER_NPU_TRACE_H_
