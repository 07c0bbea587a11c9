// The same loops for AVX2: the compiler turns DotFour into vpmaddwd. Built with -mavx2 -O3 on x86-64 only.
#include "ports/kernel_util/tile_loops.h"

namespace takt {

extern const TileKernels kAvx2Tiles;
const TileKernels kAvx2Tiles = {&Contract, &Depthwise};

}  // namespace takt
