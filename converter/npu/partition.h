// Which layers of a run go to the NPU.
#ifndef TAKT_CONVERTER_NPU_PARTITION_H_
#define TAKT_CONVERTER_NPU_PARTITION_H_

#include <vector>

#include "converter/npu/compiler.h"

namespace takt::npu {

/// Cycles of one of a run's layers. `start`: what a job that begins with it takes longer, as nothing is fetched ahead.
struct LayerCost {
  uint64_t host = 0, npu = 0, start = 0;
};

/// The start of a job: its submission, then the first tile's features or weights.
uint64_t StartCycles(const Layer& layer, const Tiling& tiling, const Machine& machine);
/// The end of a job: its last store. Layouts are the host's own, hence no copies.
uint64_t EndCycles(const Machine& machine);

/// true for each layer that is better on the NPU, with the fewest cycles for all of the run; `end` is what a job's end
/// takes. Dynamic programming over the layers; of ties the NPU.
std::vector<bool> CheapestSides(const std::vector<LayerCost>& run, uint64_t end);

}  // namespace takt::npu

#endif  // TAKT_CONVERTER_NPU_PARTITION_H_
