// Machine descriptions: JSON in, the compiled table out. converter/npu/README.md documents the form.
#ifndef TAKT_CONVERTER_NPU_MACHINE_JSON_H_
#define TAKT_CONVERTER_NPU_MACHINE_JSON_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "converter/base/diagnostics.h"
#include "ports/npu_emu/model/machine.h"

namespace takt::npu {

struct MachineDescription {
  Machine table;
  std::vector<std::string> sources;            ///< "section: where its figures come from", one for each section.
  std::vector<std::string> validated_against;  ///< Empty: unvalidated, and every report says so.

  bool validated() const { return !validated_against.empty(); }
};

/// Parses and checks. `origin` is named in errors; `overrides` ("array.width=4", "memories.sram.read_latency=100") are
/// applied first. Every unknown, missing or impossible value is an error that names its key, the rule and the remedy.
std::optional<MachineDescription> ParseMachine(std::string_view json, const std::string& origin,
                                               std::span<const std::string> overrides, Diagnostics& diagnostics);

/// Names of the descriptions built in (ports/npu_emu/machines), sorted.
std::vector<std::string> PresetNames();
/// The JSON of a preset, or nothing.
std::optional<std::string_view> PresetJson(std::string_view name);

}  // namespace takt::npu

#endif  // TAKT_CONVERTER_NPU_MACHINE_JSON_H_
