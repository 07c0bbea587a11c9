// The part of converting that is about NPUs: the machine, what-if changes, reports.
#ifndef TAKT_CONVERTER_CLI_NPU_OPTIONS_H_
#define TAKT_CONVERTER_CLI_NPU_OPTIONS_H_

#include <optional>
#include <string>
#include <vector>

#include "converter/backend/convert.h"
#include "converter/cli/files.h"
#include "converter/cli/verbs.h"
#include "converter/npu/machine_json.h"
#include "engine/plan/plan.h"

namespace takt::cli {

struct NpuOptions {
  std::string machine;
  std::vector<std::string> overrides;
};

/// --machine, --set; the verb has --target.
void AddMachineOptions(CLI::App& verb, NpuOptions& options);
/// --disassembly.
void AddDisassemblyOption(CLI::App& verb, std::string& file);
/// The machine that `target` or --machine names; none for other targets. Throws InputError.
std::optional<npu::MachineDescription> ResolveMachine(const NpuOptions& options, const std::string& target);
/// Job by job the offset and the fields of each command: what a fault's detail names. Throws InputError if `plan` has
/// no jobs.
OutputFile DisassemblyFile(const std::string& path, const Plan& plan);

}  // namespace takt::cli

#endif  // TAKT_CONVERTER_CLI_NPU_OPTIONS_H_
