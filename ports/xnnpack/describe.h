// Bytes that XNNPACK takes for an operator: bounds that hold for its micro-kernels on every CPU.
#ifndef TAKT_PORTS_XNNPACK_DESCRIBE_H_
#define TAKT_PORTS_XNNPACK_DESCRIBE_H_

#include <cstdint>

namespace takt::xnnpack {

inline constexpr uint32_t kOverRead = 16;          ///< XNN_EXTRA_BYTES.
inline constexpr uint64_t kOperatorBytes = 2304;   ///< The object (2,112 bytes in 2022) at its alignment.
inline constexpr uint64_t kBlockAlignment = 64;    ///< Of each block, at most.
inline constexpr uint64_t kMaxBytes = 1ull << 30;  ///< Larger operators are left to the next port.
inline constexpr uint64_t kRowsAtOnce = 8;         ///< Output pixels of a convolution's tile (mr).
inline constexpr uint64_t kChannelsAtOnce = 16;    ///< Output channels of a convolution's tile (nr).
inline constexpr uint64_t kDepthAtOnce = 8;        ///< Input channels are padded to this (kr * sr).
inline constexpr uint64_t kDepthwiseAtOnce = 32;   ///< Channels of a depthwise tile.
inline constexpr uint64_t kPooledAtOnce = 9;       ///< Cells of a pooling kernel's first pass.

constexpr uint64_t RoundUp(uint64_t n, uint64_t multiple) {
  return (n + multiple - 1) / multiple * multiple;
}

/// A window over rows and columns of an image.
struct WindowShape {
  uint64_t out_h, out_w, kernel_h, kernel_w, stride_w, dilation_w;

  uint64_t cells() const { return kernel_h * kernel_w; }
  /// Pointers to a window's cells for each output pixel, where neighbours share columns.
  uint64_t shared_pointers() const {
    const uint64_t step = dilation_w == 1 ? stride_w : kernel_w;
    return out_h * (cells() + (out_w - 1) * step * kernel_h);
  }
};

struct ConvolutionShape {
  WindowShape window;
  uint64_t groups, depth, outputs;  ///< Of a group: input and output channels.
  uint64_t element;                 ///< Bytes.
  uint64_t channel_extra;           ///< Bytes of an output channel beside its bias: its scale.
};

/// Cells for which every version and CPU has a depthwise micro-kernel. With others, XNNPACK may take a convolution's.
constexpr bool HasDepthwiseKernel(uint64_t cells) {
  return cells == 9 || cells == 25;
}

/// Packed weights, pointers to cells, and a pixel of zeros.
inline uint64_t DepthwiseBlocks(const ConvolutionShape& s) {
  const uint64_t channels = RoundUp(s.groups, kDepthwiseAtOnce), cells = s.window.cells();
  return channels * (cells * s.element + 4 + s.channel_extra) + (cells + s.window.shared_pointers()) * sizeof(void*) +
         channels * s.element;
}
inline uint64_t ConvolutionBlocks(const ConvolutionShape& s) {
  const uint64_t depth = RoundUp(s.depth, kDepthAtOnce), cells = s.window.cells();
  return s.groups * RoundUp(s.outputs, kChannelsAtOnce) * (cells * depth * s.element + 4 + s.channel_extra) +
         cells * RoundUp(s.window.out_h * s.window.out_w, kRowsAtOnce) * sizeof(void*) + depth * s.element;
}

inline uint64_t ConvolutionBytes(const ConvolutionShape& s) {
  const bool depthwise = s.depth == 1 && s.outputs == 1 && HasDepthwiseKernel(s.window.cells());
  return kOperatorBytes + (depthwise ? DepthwiseBlocks(s) : ConvolutionBlocks(s)) + kOverRead + 4 * kBlockAlignment;
}

/// `element`: bytes. Average pooling has a factor for each output pixel, too.
inline uint64_t PoolBytes(const WindowShape& window, uint64_t channels, uint64_t element) {
  const uint64_t pointers = kPooledAtOnce + window.cells() + window.shared_pointers();
  return kOperatorBytes + pointers * sizeof(void*) + window.out_h * window.out_w * 4 + channels * element + kOverRead +
         4 * kBlockAlignment;
}

}  // namespace takt::xnnpack

#endif  // TAKT_PORTS_XNNPACK_DESCRIBE_H_
