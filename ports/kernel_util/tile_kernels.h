// Inner loops of contractions and their output stage on tiles: operands with strides of their own; sums of int8
// features accumulate modulo 2^32, those of int16 modulo 2^64. Weights are int8.
#ifndef TAKT_PORTS_KERNEL_UTIL_TILE_KERNELS_H_
#define TAKT_PORTS_KERNEL_UTIL_TILE_KERNELS_H_

#include <cstddef>
#include <cstdint>

namespace takt {

/// A kernel that slides over a box of x. Pads count the cells between the window of output (0, 0) and the box; cells
/// outside the box do not contribute.
struct TileWindow {
  int32_t height, width, channels;  ///< Of the box.
  ptrdiff_t x_row, x_pixel;         ///< Strides of the box in elements.
  int32_t kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w, pad_top, pad_left;
  int32_t out_height, out_width, out_channels;
  int32_t x_zero_point, w_zero_point;  ///< In int8's range; x_zero_point of int16 features is 0.
  bool accumulate;
};

/// With k = kernel_h * kernel_w * channels, `column` has k * out_channels values, `weights` (k + 1) * out_channels.
struct TileScratch {
  int16_t* column;
  int16_t* weights;
};

/// Of the output stage of numerics fp32_rne: limits less the zero point.
struct TileOutput {
  int32_t pixels, channels;
  float low, high;
  int32_t zero_point;
};

/// One implementation; all give the same results. acc: [out_height][out_width][out_channels].
struct TileKernels {
  /// w: [out_channels][kernel_h][kernel_w][channels]
  void (*contract)(const TileWindow& window, const int8_t* x, const int8_t* w, uint32_t* acc, TileScratch scratch);
  /// w: [kernel_h][kernel_w][channels], out_channels = channels.
  void (*depthwise)(const TileWindow& window, const int8_t* x, const int8_t* w, uint32_t* acc);
  void (*contract_int16)(const TileWindow& window, const int16_t* x, const int8_t* w, uint64_t* acc,
                         TileScratch scratch);
  void (*depthwise_int16)(const TileWindow& window, const int16_t* x, const int8_t* w, uint64_t* acc);
  /// y[pixel][channel] from acc[pixel][channel] + bias[channel] and scales[channel] (engine/base/requantize.h).
  void (*requantize)(const TileOutput& out, const uint32_t* acc, const uint32_t* bias, const float* scales, int8_t* y);
};

extern const TileKernels kPortableTiles;
/// The fastest that this machine runs.
const TileKernels& BestTileKernels();

}  // namespace takt

#endif  // TAKT_PORTS_KERNEL_UTIL_TILE_KERNELS_H_
