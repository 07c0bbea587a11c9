// How a layer is cut into tiles that fit the machine's buffers.
#ifndef TAKT_CONVERTER_NPU_TILING_H_
#define TAKT_CONVERTER_NPU_TILING_H_

#include <string>

#include "converter/npu/layer.h"

namespace takt::npu {

/// Sizes of a whole tile; those at the edges are smaller. `in_channels` is a part of the sum that one command adds.
struct Tiling {
  uint32_t out_height = 1, out_width = 1, out_channels = 1, in_channels = 1;
  /// Output channels in the outer loop: weights stay while the image passes. Otherwise the image stays.
  bool channels_outer = true;
  uint64_t estimate = 0;  ///< Ticks, by which the search chose.
};

/// Rows or columns of input that `n` outputs read.
constexpr uint64_t InputExtent(uint32_t n, uint32_t stride, uint32_t kernel, uint32_t dilation) {
  return uint64_t{n - 1} * stride + uint64_t{kernel - 1} * dilation + 1;
}

/// Tiles of so many rows of outputs; of the whole layer.
uint32_t TileCount(const Layer& layer, const Tiling& tiling, uint32_t rows);
inline uint32_t TileCount(const Layer& layer, const Tiling& tiling) {
  return TileCount(layer, tiling, layer.out_height);
}

/// The tiling whose tile takes no more than `most_cycles` as a job by itself, or the least more; then the one that
/// breaks the machine's rule on tiles least, then the one with the smallest estimate; ties by fewer tiles, then by
/// larger sizes, so that the order is total. False if no tile fits: `reason` names the buffer and the missing bytes.
bool ChooseTiling(const Machine& machine, const Layer& layer, Tiling& tiling, std::string& reason,
                  uint64_t most_cycles = UINT64_MAX);

}  // namespace takt::npu

#endif  // TAKT_CONVERTER_NPU_TILING_H_
