// Parts of images, and the copies that bring them on chip and back.
#ifndef TAKT_CONVERTER_NPU_BOXES_H_
#define TAKT_CONVERTER_NPU_BOXES_H_

#include <algorithm>
#include <cstdint>
#include <utility>

#include "converter/npu/stream_writer.h"
#include "converter/npu/tiling.h"

namespace takt::npu {

/// Part [first, first + size) of an axis.
struct Part {
  uint32_t first = 0, size = 0;
  friend bool operator==(const Part&, const Part&) = default;
};

/// Rows of a layer's output, and their tiles, in the order in which the tiling visits them.
struct LayerPart {
  Part rows, tiles;
};

inline Part PartOf(uint32_t i, uint32_t tile, uint32_t whole) {
  return {i * tile, std::min(tile, whole - i * tile)};
}

/// The input cells that outputs `out` read, inside the image, and the padding before them.
inline Part InputOf(Part out, uint32_t stride, uint32_t kernel, uint32_t dilation, uint32_t pad, uint32_t size,
                    uint32_t& pad_before) {
  const int64_t start = int64_t{out.first} * stride - pad;
  const int64_t end = start + static_cast<int64_t>(InputExtent(out.size, stride, kernel, dilation));
  const int64_t first = std::clamp<int64_t>(start, 0, size - 1), last = std::clamp<int64_t>(end, first + 1, size);
  // Windows that lie wholly behind the input must not see the row that stands in for none: before it they see none
  // either.
  pad_before = static_cast<uint32_t>(start >= size ? end - start : first - start);
  return {static_cast<uint32_t>(first), static_cast<uint32_t>(last - first)};
}

inline Address Plus(Address a, uint64_t bytes) {
  a.offset += static_cast<uint32_t>(bytes);
  return a;
}

/// An image in memory. One that keeps only its last rows has row y at y % ring_rows.
struct Image {
  Address at;
  uint32_t ring_rows = 0;  ///< 0: all rows.
  uint32_t element_bytes = 1;
};

/// A box of an NHWC image against a dense tile, in either direction.
inline Copy BoxCopy(const Image& image, Pitch pitch, Part y, Part x, Part c, Address tile, bool store) {
  const uint64_t offset = uint64_t{y.first} * pitch.row + uint64_t{x.first} * pitch.pixel + c.first;
  const uint32_t bytes = image.element_bytes, tile_pixel = c.size * bytes;
  Copy op{.from = Plus(image.at, offset * bytes),
          .to = tile,
          .planes = y.size,
          .rows = x.size,
          .row_bytes = tile_pixel,
          .from_row = pitch.pixel * bytes,
          .to_row = tile_pixel,
          .from_plane = pitch.row * bytes,
          .to_plane = x.size * tile_pixel};
  if (c.size == pitch.pixel && uint64_t{x.size} * tile_pixel <= 0xFFFF) {  // rows of pixels are dense
    op.planes = 1, op.rows = y.size, op.row_bytes = x.size * tile_pixel;
    op.from_row = pitch.row * bytes, op.to_row = op.row_bytes, op.from_plane = op.to_plane = 0;
  }
  if (store) {
    std::swap(op.from, op.to);
    std::swap(op.from_row, op.to_row);
    std::swap(op.from_plane, op.to_plane);
  }
  return op;
}

/// BoxCopy in one command, or in two where the box goes over the ring's end.
inline void EmitBox(StreamWriter& w, Pipe pipe, const Image& image, Pitch pitch, Part y, Part x, Part c, Address tile,
                    bool store) {
  const uint32_t ring = image.ring_rows == 0 ? y.first + y.size : image.ring_rows;
  const Part low = {y.first % ring, std::min(y.size, ring - y.first % ring)};
  w.Emit(pipe, BoxCopy(image, pitch, low, x, c, tile, store));
  if (low.size == y.size) return;
  const Address rest = Plus(tile, uint64_t{low.size} * x.size * c.size * image.element_bytes);
  w.Emit(pipe, BoxCopy(image, pitch, {0, y.size - low.size}, x, c, rest, store));
}

/// A dense run of any length, in one copy or two.
inline void EmitRun(StreamWriter& w, Pipe pipe, Address from, Address to, uint64_t bytes) {
  constexpr uint32_t kRow = 0x4000;
  if (bytes <= 0xFFFF) return w.Emit(pipe, Copy{.from = from, .to = to, .row_bytes = static_cast<uint32_t>(bytes)});
  const uint64_t rows = bytes / kRow, rest = bytes % kRow;
  w.Emit(pipe, Copy{.from = from,
                    .to = to,
                    .rows = static_cast<uint32_t>(rows),
                    .row_bytes = kRow,
                    .from_row = kRow,
                    .to_row = kRow});
  if (rest != 0) EmitRun(w, pipe, Plus(from, rows * kRow), Plus(to, rows * kRow), rest);
}

/// The `run` bytes at `from`, again and again.
inline void EmitFill(StreamWriter& w, Pipe pipe, Address from, uint32_t run, Address to, uint64_t bytes) {
  for (uint64_t rows = bytes / run; rows > 0;) {
    const auto some = static_cast<uint32_t>(std::min<uint64_t>(rows, 0xFFFF));
    w.Emit(pipe, Copy{.from = from, .to = to, .rows = some, .row_bytes = run, .to_row = run});
    to = Plus(to, uint64_t{some} * run);
    rows -= some;
  }
  if (bytes % run != 0) EmitRun(w, pipe, from, to, bytes % run);
}

}  // namespace takt::npu

#endif  // TAKT_CONVERTER_NPU_BOXES_H_
