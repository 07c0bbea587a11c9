#include "converter/npu/tiling_cache.h"

namespace takt::npu {

TilingCache::Key TilingCache::KeyOf(const Layer& l) {
  const uint32_t operands = (l.weights != ir::kNoTensor ? 1u : 0u) | (l.skip != ir::kNoTensor ? 2u : 0u);
  return {static_cast<uint32_t>(l.kind),
          static_cast<uint32_t>(l.type),
          static_cast<uint32_t>(l.stage),
          l.height,
          l.width,
          l.channels,
          l.out_height,
          l.out_width,
          l.out_channels,
          l.kernel_h,
          l.kernel_w,
          l.stride_h,
          l.stride_w,
          l.dilation_h,
          l.dilation_w,
          l.x_memory,
          l.y_memory,
          l.skip_memory,
          operands};
}

bool TilingCache::Choose(const Machine& machine, const Layer& layer, uint64_t most_cycles, Tiling& tiling,
                         std::string& reason) {
  if (layer.kind == LayerKind::kMove) return ChooseTiling(machine, layer, tiling, reason, most_cycles);
  const auto [at, fresh] = choices_.try_emplace(KeyOf(layer));
  Choice& choice = at->second;
  if (fresh) choice.found = ChooseTiling(machine, layer, choice.tiling, choice.reason, most_cycles);
  tiling = choice.tiling;
  if (!choice.found) reason = choice.reason;
  return choice.found;
}

}  // namespace takt::npu
