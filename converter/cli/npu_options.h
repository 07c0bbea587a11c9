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

namespace takt::cli {

struct NpuOptions {
  std::string machine, disassembly;
  std::vector<std::string> overrides;
};

/// --machine, --set.
void AddMachineOptions(CLI::App& verb, NpuOptions& options);
/// --disassembly.
void AddNpuOptions(CLI::App& verb, NpuOptions& options);
/// The machine that `target` or --machine names; none for other targets. Throws InputError.
std::optional<npu::MachineDescription> ResolveMachine(const NpuOptions& options, const std::string& target);
/// The disassembly, where wanted.
std::vector<OutputFile> NpuFiles(const NpuOptions& options, const Conversion& made);

}  // namespace takt::cli

#endif  // TAKT_CONVERTER_CLI_NPU_OPTIONS_H_
