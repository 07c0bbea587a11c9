// What a compilation costs on its machine, as text and as JSON.
#ifndef TAKT_CONVERTER_NPU_REPORT_H_
#define TAKT_CONVERTER_NPU_REPORT_H_

#include <nlohmann/json.hpp>
#include <string>

#include "converter/npu/compiler.h"
#include "converter/npu/machine_json.h"

namespace takt::npu {

/// A line a step: cycles, bound by, utilisation, bytes of each memory, energy, why it stays on the host; what the
/// figures were validated against; energy and area by their parts.
std::string ReportText(const ir::Graph& graph, const Compilation& compilation, const MachineDescription& machine);
/// The same, with bytes by memory, and for each job its exposed round trips and the stalls of every pipe by cause. A
/// part of energy or area that the machine does not state is null.
nlohmann::ordered_json ReportJson(const ir::Graph& graph, const Compilation& compilation,
                                  const MachineDescription& machine);

/// In nJ: "array 330, vector 52, buffers not stated, memories 430".
std::string EnergyParts(const Activity& activity, const Machine& machine);
/// In square millimetres: "array 0.058, buffers 0.113". Empty if neither is stated.
std::string AreaParts(const Machine& machine);

/// "unvalidated: …", or what the machine was validated against.
std::string ValidationText(const MachineDescription& machine);

}  // namespace takt::npu

#endif  // TAKT_CONVERTER_NPU_REPORT_H_
