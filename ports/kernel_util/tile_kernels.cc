#include "ports/kernel_util/tile_kernels.h"

#include "engine/base/requantize.h"
#include "ports/kernel_util/tile_loops.h"

namespace takt {
namespace {

void Requantize(const TileOutput& out, const uint32_t* acc, const uint32_t* bias, const float* scales, int8_t* y) {
  for (int32_t p = 0; p < out.pixels; ++p, acc += out.channels, y += out.channels) {
    for (int32_t c = 0; c < out.channels; ++c) {
      y[c] = static_cast<int8_t>(RequantizeFp32Rne(acc[c] + bias[c], scales[c], out.low, out.high, out.zero_point));
    }
  }
}

}  // namespace

const TileKernels kPortableTiles = {&Contract<int8_t>, &Depthwise<int8_t>, &Contract<int16_t>, &Depthwise<int16_t>,
                                    &Requantize};

}  // namespace takt
