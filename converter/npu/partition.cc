#include "converter/npu/partition.h"

#include <algorithm>

namespace takt::npu {

uint64_t StartCycles(const Layer& layer, const Tiling& tiling, const Machine& machine) {
  const Memory& constants = machine.memories[machine.constant_memory];
  uint64_t first = machine.memories[machine.feature_memory].read_latency;
  if (layer.weights != ir::kNoTensor) {
    const uint64_t each = layer.kind == LayerKind::kDepthwise ? 1 : tiling.in_channels;
    const uint64_t bytes = uint64_t{layer.kernel_h} * layer.kernel_w * each * tiling.out_channels;
    const Ratio per_byte = {constants.bytes_per_cycle.den, constants.bytes_per_cycle.num};
    first = std::max(first, constants.read_latency + ScaleUp(bytes, per_byte, 0));
  }
  return machine.job_cycles + first;
}

uint64_t EndCycles(const Machine& machine) {
  return machine.memories[machine.feature_memory].write_latency;
}

std::vector<bool> CheapestSides(const std::vector<LayerCost>& run, uint64_t end) {
  struct Best {
    uint64_t host = 0, npu = 0;                          ///< Cycles of the layers so far if the last one runs there.
    bool host_after_npu = false, npu_after_npu = false;  ///< Where the one before runs then.
  };
  std::vector<Best> best(run.size());
  for (size_t i = 0; i < run.size(); ++i) {
    const LayerCost& layer = run[i];
    if (i == 0) {
      best[i] = {layer.host, layer.start + layer.npu, false, false};
      continue;
    }
    const Best& before = best[i - 1];
    const uint64_t leave = before.npu + end, enter = before.host + layer.start;
    best[i].host_after_npu = leave <= before.host;
    best[i].host = std::min(leave, before.host) + layer.host;
    best[i].npu_after_npu = before.npu <= enter;
    best[i].npu = std::min(before.npu, enter) + layer.npu;
  }
  std::vector<bool> on_npu(run.size());
  bool side = !run.empty() && best.back().npu + end <= best.back().host;
  for (size_t i = run.size(); i-- > 0;) {
    on_npu[i] = side;
    side = side ? best[i].npu_after_npu : best[i].host_after_npu;
  }
  return on_npu;
}

}  // namespace takt::npu
