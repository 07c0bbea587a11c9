#include "converter/npu/presets.h"

#include "converter/npu/machine_json.h"

namespace takt::npu {

std::vector<std::string> PresetNames() {
  std::vector<std::string> names;
  for (size_t i = 0; i < kPresetCount; ++i) names.emplace_back(kPresets[i].name);
  return names;
}

std::optional<std::string_view> PresetJson(std::string_view name) {
  for (size_t i = 0; i < kPresetCount; ++i) {
    if (kPresets[i].name == name) return kPresets[i].json;
  }
  return std::nullopt;
}

}  // namespace takt::npu
