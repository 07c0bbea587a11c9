#include "converter/cli/npu_options.h"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "converter/npu/disassembler.h"

namespace takt::cli {

void AddMachineOptions(CLI::App& verb, NpuOptions& options) {
  verb.add_option("--machine", options.machine, "JSON description of a machine (ports/npu_emu/machines), as the target")
      ->excludes(verb.get_option("--target"));
  verb.add_option("--set", options.overrides, "Changes the machine: array.width=4, memories.sram.read_latency=100")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void AddDisassemblyOption(CLI::App& verb, std::string& file) {
  verb.add_option("--disassembly", file, "File for the commands of the plan's jobs as text");
}

std::optional<npu::MachineDescription> ResolveMachine(const NpuOptions& options, const std::string& target) {
  std::string json;
  std::string origin = target;
  if (!options.machine.empty()) {
    origin = options.machine;
    const std::vector<uint8_t> bytes = ReadFile(origin);
    json.assign(bytes.begin(), bytes.end());
  } else if (const auto preset = npu::PresetJson(target)) {
    json = *preset;
  } else {
    if (!options.overrides.empty())
      throw InputError("--set changes a machine: give --machine or a machine as --target");
    return std::nullopt;
  }
  Diagnostics diagnostics;
  auto machine = npu::ParseMachine(json, origin, options.overrides, diagnostics);
  for (const Diagnostic& d : diagnostics.all()) std::fprintf(stderr, "%s\n", d.ToString().c_str());
  if (!machine) throw InputError(absl::StrCat(origin, ": no machine can be made of it"));
  return machine;
}

OutputFile DisassemblyFile(const std::string& path, const Plan& plan) {
  std::string text;
  for (uint32_t j = 0; j < plan.job_count(); ++j)
    absl::StrAppend(&text, "job ", j, "\n", npu::Disassemble(plan.constant(plan.job(j).stream).bytes));
  if (text.empty()) throw InputError("--disassembly shows the jobs of an NPU, and the plan has none of them");
  return TextFile(path, text);
}

}  // namespace takt::cli
