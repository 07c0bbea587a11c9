#include "ports/kernel_util/tile_kernels.h"

namespace takt {

extern const TileKernels kAvx2Tiles;

const TileKernels& BestTileKernels() {
  return __builtin_cpu_supports("avx2") ? kAvx2Tiles : kPortableTiles;
}

}  // namespace takt
