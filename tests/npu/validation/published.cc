// L4: whole networks on machines whose makers publish a figure.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "tests/npu/validation/networks.h"
#include "tests/npu/validation/residual.h"

namespace takt::npu::validation {

Level NvdlaLevel() {
  Level level{"L4: NVDLA primer, int8 ResNet-50 at 1 GHz, cycles a frame; untuned", {}, {}};
  const Network network = ResNet50();
  const struct {
    const char* preset;
    int atomic_c, atomic_k, buffer_kib;
    const char* bytes_per_cycle;
    double frames;
  } table[] = {
      {"nvdla-2048", 64, 32, 512, "20", 269}, {"nvdla-2048", 64, 16, 256, "15", 153},
      {"nvdla-2048", 32, 16, 256, "10", 93},  {"nvdla-256", 32, 8, 256, "5", 46},
      {"nvdla-256", 16, 8, 256, "2", 20},     {"nvdla-256", 8, 8, 128, "1", 7.3},
      {"nvdla-256", 8, 4, 128, "1/2", 3.6},
  };
  for (const auto& row : table) {
    const int half = row.buffer_kib * 512;
    const Machine machine =
        Preset(row.preset, {absl::StrCat("array.reduction=", row.atomic_c), absl::StrCat("array.depth=", row.atomic_k),
                            absl::StrCat("buffers.feature=", half), absl::StrCat("buffers.weight=", half),
                            absl::StrCat("memories.dram.bytes_per_cycle=", row.bytes_per_cycle)});
    const std::string name = absl::StrCat(row.atomic_c * row.atomic_k, " MACs");
    level.rows.push_back({name, static_cast<double>(Cycles(machine, network)), 1e9 / row.frames});
    level.gates.push_back({name + ", absolute error", std::fabs(level.rows.back().Error()), 0.20});
  }
  return level;
}

/// Two versions of the same software: of pull requests 69 and 90 of ucb-bar/gemmini, the second given as utilisation.
/// Between them global average moved from the host to the accelerator, where it is here.
Level GemminiLevel() {
  Level level{"L4: Gemmini 16x16, weight-stationary, ResNet-50, batch 4 (four frames here)", {}, {}};
  constexpr double kReference = 153709356, kUtilisation = 0.40, kLaterUtilisation = 0.51;
  const double cycles = 4.0 * static_cast<double>(Cycles(Preset("gemmini-16x16"), ResNet50()));
  level.rows.push_back({"cycles, global average on the host", cycles, kReference});
  level.rows.push_back({"cycles, global average on the array", cycles, kReference * kUtilisation / kLaterUtilisation});
  level.gates.push_back({"absolute error", std::fabs(level.rows[0].Error()), 0.30,
                         "the reference averages on its host, at a cost that is not published"});
  level.gates.push_back({"absolute error, both on the array", std::fabs(level.rows[1].Error()), 0.30});
  return level;
}

}  // namespace takt::npu::validation
