// The portable loops behind tile_kernels.h. Compiled for every instruction set, so everything here has internal linkage
// and calls no inline function of other headers.
#ifndef TAKT_PORTS_KERNEL_UTIL_TILE_LOOPS_H_
#define TAKT_PORTS_KERNEL_UTIL_TILE_LOOPS_H_

#include "ports/kernel_util/tile_kernels.h"

namespace takt {
namespace {

/// What the loops are written over: a feature's type, the sum's, and how many products of centered values add up
/// exactly in int32: 16384 * 255 * 255 and 256 * 32768 * 255 are below 2^31.
template <typename E>
struct Tile;
template <>
struct Tile<int8_t> {
  using Sum = uint32_t;
  static constexpr int32_t kRun = 16384;
};
template <>
struct Tile<int16_t> {
  using Sum = uint64_t;
  static constexpr int32_t kRun = 256;
};

/// sums[i] += a . b[i] for four rows of b.
template <typename E, typename Sum = typename Tile<E>::Sum>
inline void DotFour(const int16_t* a, const int16_t* b, ptrdiff_t row, int32_t n, Sum* sums) {
  constexpr int32_t kRun = Tile<E>::kRun;
  const int16_t *b0 = b, *b1 = b + row, *b2 = b + 2 * row, *b3 = b + 3 * row;
  for (int32_t first = 0; first < n; first += kRun) {
    const int32_t last = n - first < kRun ? n : first + kRun;
    int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    for (int32_t i = first; i < last; ++i) {
      s0 += a[i] * b0[i];
      s1 += a[i] * b1[i];
      s2 += a[i] * b2[i];
      s3 += a[i] * b3[i];
    }
    sums[0] += static_cast<Sum>(s0);
    sums[1] += static_cast<Sum>(s1);
    sums[2] += static_cast<Sum>(s2);
    sums[3] += static_cast<Sum>(s3);
  }
}

template <typename E, typename Sum = typename Tile<E>::Sum>
inline Sum DotOne(const int16_t* a, const int16_t* b, int32_t n) {
  constexpr int32_t kRun = Tile<E>::kRun;
  Sum sum = 0;
  for (int32_t first = 0; first < n; first += kRun) {
    const int32_t last = n - first < kRun ? n : first + kRun;
    int32_t s = 0;
    for (int32_t i = first; i < last; ++i) s += a[i] * b[i];
    sum += static_cast<Sum>(s);
  }
  return sum;
}

template <typename E>
inline void Center(const E* from, int32_t n, int32_t zero_point, int16_t* to) {
  for (int32_t i = 0; i < n; ++i) to[i] = static_cast<int16_t>(from[i] - zero_point);
}

/// The cells under the window of output (oy, ox), less their zero point; 0 outside the box.
template <typename E>
inline void GatherColumn(const TileWindow& t, const E* x, int32_t oy, int32_t ox, int16_t* column) {
  for (int32_t ky = 0; ky < t.kernel_h; ++ky) {
    const int64_t y = int64_t{oy} * t.stride_h - t.pad_top + int64_t{ky} * t.dilation_h;
    for (int32_t kx = 0; kx < t.kernel_w; ++kx, column += t.channels) {
      const int64_t at = int64_t{ox} * t.stride_w - t.pad_left + int64_t{kx} * t.dilation_w;
      if (y >= 0 && y < t.height && at >= 0 && at < t.width) {
        Center(x + static_cast<ptrdiff_t>(y) * t.x_row + static_cast<ptrdiff_t>(at) * t.x_pixel, t.channels,
               t.x_zero_point, column);
      } else {
        for (int32_t c = 0; c < t.channels; ++c) column[c] = 0;
      }
    }
  }
}

template <typename E>
inline void Contract(const TileWindow& t, const E* x, const int8_t* w, typename Tile<E>::Sum* acc,
                     TileScratch scratch) {
  const int32_t k = t.kernel_h * t.kernel_w * t.channels;
  for (int32_t oc = 0; oc < t.out_channels; ++oc) {
    Center(w + static_cast<ptrdiff_t>(oc) * k, k, t.w_zero_point, scratch.weights + static_cast<ptrdiff_t>(oc) * k);
  }
  for (int32_t oy = 0; oy < t.out_height; ++oy) {
    for (int32_t ox = 0; ox < t.out_width; ++ox, acc += t.out_channels) {
      GatherColumn(t, x, oy, ox, scratch.column);
      if (!t.accumulate) {
        for (int32_t oc = 0; oc < t.out_channels; ++oc) acc[oc] = 0;
      }
      int32_t oc = 0;
      for (; oc + 4 <= t.out_channels; oc += 4) {
        DotFour<E>(scratch.column, scratch.weights + static_cast<ptrdiff_t>(oc) * k, k, k, acc + oc);
      }
      for (; oc < t.out_channels; ++oc)
        acc[oc] += DotOne<E>(scratch.column, scratch.weights + static_cast<ptrdiff_t>(oc) * k, k);
    }
  }
}

/// Channels from `first` on of one output; (y, at) is the first tap's cell, in the box or not.
template <typename E>
inline void DepthwisePixel(const TileWindow& t, const E* x, const int8_t* w, int64_t y, int64_t at, int32_t first,
                           typename Tile<E>::Sum* acc) {
  if (!t.accumulate) {
    for (int32_t c = first; c < t.channels; ++c) acc[c] = 0;
  }
  for (int32_t ky = 0; ky < t.kernel_h; ++ky, y += t.dilation_h) {
    if (y < 0 || y >= t.height) continue;
    int64_t column = at;
    for (int32_t kx = 0; kx < t.kernel_w; ++kx, column += t.dilation_w) {
      if (column < 0 || column >= t.width) continue;
      const E* cell = x + static_cast<ptrdiff_t>(y) * t.x_row + static_cast<ptrdiff_t>(column) * t.x_pixel;
      const int8_t* tap = w + (static_cast<ptrdiff_t>(ky) * t.kernel_w + kx) * t.channels;
      for (int32_t c = first; c < t.channels; ++c) {
        acc[c] += static_cast<typename Tile<E>::Sum>((cell[c] - t.x_zero_point) * (tap[c] - t.w_zero_point));
      }
    }
  }
}

template <typename E>
inline void Depthwise(const TileWindow& t, const E* x, const int8_t* w, typename Tile<E>::Sum* acc) {
  for (int32_t oy = 0; oy < t.out_height; ++oy) {
    for (int32_t ox = 0; ox < t.out_width; ++ox, acc += t.channels) {
      DepthwisePixel(t, x, w, int64_t{oy} * t.stride_h - t.pad_top, int64_t{ox} * t.stride_w - t.pad_left, 0, acc);
    }
  }
}

}  // namespace
}  // namespace takt

#endif  // TAKT_PORTS_KERNEL_UTIL_TILE_LOOPS_H_
