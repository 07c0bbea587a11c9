// Steps that only move bytes: as nested loops over elements, and those as copies of tiles.
#ifndef TAKT_CONVERTER_NPU_MOVES_H_
#define TAKT_CONVERTER_NPU_MOVES_H_

#include <vector>

#include "converter/npu/boxes.h"

namespace takt::npu {

/// Whether the op moves elements and leaves their values alone.
bool IsMove(Op op);
std::vector<uint32_t> ByteStrides(const ir::Tensor& t);
/// The loops of a move, y's outermost dimension first; those that stay together are one. At least three.
std::vector<MoveAxis> AxesOf(const ir::Graph& graph, const backend::StepSpec& step);

/// A loop over runs of bytes; how far apart they are on each side.
struct CopyAxis {
  uint32_t size = 1, from = 0, to = 0;
};
using CopyAxes = std::vector<CopyAxis>;
/// A copy that runs `count` times, with other addresses.
struct Copies {
  Copy copy;
  CopyAxes repeats;  ///< One of size 0: there is nothing to copy.

  uint64_t count() const;
  void Emit(StreamWriter& w, Pipe pipe) const;
};

/// Runs of `element` bytes along `axes` in the fewest commands; the memory's side, `to` of a store, in the order of its
/// bytes.
Copies CopiesOf(Address from, Address to, uint32_t element, CopyAxes axes, bool store);

/// A box of an image whose channels lie apart; on chip they are side by side.
Copies ApartCopies(Address image, Pitch pitch, Part y, Part x, Part c, Address tile);

/// Of a move's tile: the part of each loop. Where rows are nested loops `y` is a single one.
std::vector<Part> PartsOf(const Layer& layer, Part y, Part x, Part c);
/// Rows that may be in one tile's parts: all, or one where they are nested loops.
uint32_t RowsAtOnce(const Layer& layer, uint32_t rows);

/// What a tile takes of x, to its place on chip, where the tile is dense and in y's order; none of its padding.
Copies LoadCopies(const Layer& layer, const std::vector<Part>& parts, Address memory, Address tile);
Copies StoreCopies(const Layer& layer, const std::vector<Part>& parts, Address tile, Address memory);
/// How a whole tile goes from base 0 to a slot and back, padding moved like the rest: as often as `times`.
struct TileMove {
  Copies load, store;
  uint64_t times;
};
TileMove WholeTile(const Layer& layer, uint32_t rows, uint32_t columns, uint32_t channels);
/// Commands that a tile takes on the pipe that takes most.
uint64_t CommandsOf(const Layer& layer, uint32_t rows, uint32_t columns, uint32_t channels);
/// Elements of the layer's padding, side by side.
std::vector<uint8_t> PackPadding(const Layer& layer, uint32_t bytes);
bool HasPadding(const Layer& layer, const std::vector<Part>& parts);

}  // namespace takt::npu

#endif  // TAKT_CONVERTER_NPU_MOVES_H_
