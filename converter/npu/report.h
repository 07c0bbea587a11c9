// What a compilation costs on its machine, as text and as JSON.
#ifndef TAKT_CONVERTER_NPU_REPORT_H_
#define TAKT_CONVERTER_NPU_REPORT_H_

#include <nlohmann/json.hpp>
#include <string>

#include "converter/npu/compiler.h"
#include "converter/npu/machine_json.h"

namespace takt::npu {

/// A line a step: cycles, bound by, utilisation, bytes, energy; what the figures were validated against.
std::string ReportText(const ir::Graph& graph, const Compilation& compilation, const MachineDescription& machine);
/// The same, with bytes by memory, and for each job its exposed round trips and the stalls of every pipe by cause.
nlohmann::ordered_json ReportJson(const ir::Graph& graph, const Compilation& compilation,
                                  const MachineDescription& machine);

/// "unvalidated: …", or what the machine was validated against.
std::string ValidationText(const MachineDescription& machine);

}  // namespace takt::npu

#endif  // TAKT_CONVERTER_NPU_REPORT_H_
