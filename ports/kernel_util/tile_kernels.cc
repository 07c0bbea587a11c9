#include "ports/kernel_util/tile_kernels.h"

#include "ports/kernel_util/tile_loops.h"

namespace takt {

const TileKernels kPortableTiles = {&Contract, &Depthwise};

}  // namespace takt
