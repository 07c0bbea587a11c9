#include "ports/kernel_util/tile_kernels.h"

namespace takt {

const TileKernels& BestTileKernels() {
  return kPortableTiles;
}

}  // namespace takt
