// L4: whole networks on machines whose makers publish a figure.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "ports/npu_emu/model/cost.h"
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

/// A state of the machine and its software, as its pull request (ucb-bar/gemmini) gives cycles or utilisation.
struct GemminiState {
  const char* name;
  double utilisation;
  bool host_averages;
};

/// Average of `pixels` x `channels` by the host, channel by channel (imagenet/resnet50.c of gemmini-rocc-tests): its
/// reads are 2048 bytes apart and fall into 2 of the 64 sets of 4 ways of Rocket Chip's default cache, so that each of
/// them takes the memory's latency.
uint64_t HostAverage(const Machine& m, uint64_t pixels, uint64_t channels) {
  const uint64_t values = pixels * channels;
  return m.host.cycles_per_step + ScaleUp(values, m.host.cycles_per_element, 0) +
         values * m.memories[m.feature_memory].read_latency;
}

Level GemminiLevel() {
  Level level{"L4: Gemmini 16x16, weight-stationary, ResNet-50, batch 4 (four frames here)", {}, {}};
  constexpr double kReference = 153709356, kUtilisation = 0.40;  // of pull request 69
  const GemminiState states[] = {{"pull request 69, average on the host", kUtilisation, true},
                                 {"pull request 87, average on the host", 0.46, true},
                                 {"pull request 90, average on the accelerator", 0.51, false}};
  const Machine machine = Preset("gemmini-16x16");
  for (const GemminiState& state : states) {
    uint64_t cycles = Cycles(machine, ResNet50(!state.host_averages));
    if (state.host_averages) cycles += HostAverage(machine, 7 * 7, 2048);
    level.rows.push_back(
        {state.name, 4.0 * static_cast<double>(cycles), kReference * kUtilisation / state.utilisation});
    level.gates.push_back({absl::StrCat(state.name, ", absolute error"), std::fabs(level.rows.back().Error()), 0.30});
  }
  return level;
}

}  // namespace takt::npu::validation
