// What a compilation costs on its machine: per layer, per pipe, and as a timeline.
#ifndef TAKT_CONVERTER_NPU_REPORT_H_
#define TAKT_CONVERTER_NPU_REPORT_H_

#include <nlohmann/json.hpp>
#include <string>

#include "converter/npu/compiler.h"
#include "converter/npu/machine_json.h"

namespace takt::npu {

/// One line a layer (cycles, bound by, utilisation, bytes), stalls of every pipe, what the figures were validated
/// against.
std::string ReportText(const ir::Graph& graph, const Compilation& compilation, const MachineDescription& machine);
nlohmann::ordered_json ReportJson(const ir::Graph& graph, const Compilation& compilation,
                                  const MachineDescription& machine);

/// Every command's stay on its pipe, one track a pipe, jobs after each other: JSON for Chrome's tracing or Perfetto;
/// 1 µs of the picture is one cycle.
std::string TimelineJson(const Compilation& compilation, const Machine& machine);

}  // namespace takt::npu

#endif  // TAKT_CONVERTER_NPU_REPORT_H_
