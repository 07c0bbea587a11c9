#include "converter/npu/moves.h"

#include <algorithm>

namespace takt::npu {
namespace {

constexpr size_t kLeastAxes = 3;  // rows, columns, channels
constexpr uint64_t kMaxDim = 0xFFFF;

template <typename T>
const T* ParamsIf(const backend::StepSpec& step, Op op) {
  return step.op == op ? reinterpret_cast<const T*>(step.params.data()) : nullptr;
}

/// Whether both axes are one: the inner one has no padding, and each of the outer one's steps goes over all of it.
bool Follows(const MoveAxis& outer, const MoveAxis& inner) {
  return !inner.padded() && outer.x == uint64_t{inner.x} * inner.size && outer.y == uint64_t{inner.y} * inner.size;
}

/// The part of x behind a part of y.
Part InsideOf(Part y, const MoveAxis& axis) {
  const uint32_t first = std::max(y.first, axis.before), end = std::min(y.first + y.size, axis.before + axis.inner);
  return {first - axis.before, end > first ? end - first : 0};
}

/// Joins axes, the innermost first, of which one goes on where the other ends.
void Merge(CopyAxes& axes) {
  for (size_t i = 0; i + 1 < axes.size();) {
    CopyAxis &inner = axes[i], &outer = axes[i + 1];
    const uint64_t size = uint64_t{inner.size} * outer.size;
    const bool follow = outer.from == uint64_t{inner.from} * inner.size && outer.to == uint64_t{inner.to} * inner.size;
    if (!follow || size > kMaxDim) {
      ++i;
      continue;
    }
    inner.size = static_cast<uint32_t>(size);
    axes.erase(axes.begin() + static_cast<ptrdiff_t>(i) + 1);
  }
}

}  // namespace

std::vector<uint32_t> ByteStrides(const ir::Tensor& t) {
  if (t.view && !t.view->strides.empty()) return {t.view->strides.begin(), t.view->strides.end()};
  std::vector<uint32_t> strides(t.dims.size());
  uint32_t stride = BitWidth(t.type) / 8;
  for (size_t i = strides.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= static_cast<uint32_t>(t.dims[i]);
  }
  return strides;
}

bool IsMove(Op op) {
  return op == Op::kCopy || op == Op::kTranspose || op == Op::kPad;
}

std::vector<MoveAxis> AxesOf(const ir::Graph& graph, const backend::StepSpec& step) {
  const ir::Tensor &x = graph.tensor(step.inputs[0]), &y = graph.tensor(step.outputs[0]);
  const std::vector<uint32_t> from = ByteStrides(x), to = ByteStrides(y);
  const auto* transpose = ParamsIf<schema::TransposeParams>(step, Op::kTranspose);
  const auto* pad = ParamsIf<schema::PadParams>(step, Op::kPad);
  std::vector<MoveAxis> axes;
  for (uint32_t i = 0; i < y.dims.size(); ++i) {
    if (y.dims[i] == 1) continue;
    const uint32_t source = transpose != nullptr ? transpose->permutation()->Get(i) : i;
    MoveAxis axis = {static_cast<uint32_t>(y.dims[i]), from[source], to[i], 0, static_cast<uint32_t>(x.dims[source])};
    if (pad != nullptr) axis.before = static_cast<uint32_t>(pad->before()->Get(i));
    if (!axes.empty() && Follows(axes.back(), axis)) {
      MoveAxis& outer = axes.back();
      outer = {outer.size * axis.size, axis.x, axis.y, outer.before * axis.size, outer.inner * axis.size};
    } else {
      axes.push_back(axis);
    }
  }
  std::vector<MoveAxis> filled(kLeastAxes - std::min(kLeastAxes, axes.size()));
  filled.insert(filled.end(), axes.begin(), axes.end());
  return filled;
}

uint64_t Copies::count() const {
  uint64_t n = 1;
  for (const CopyAxis& axis : repeats) n *= axis.size;
  return n;
}

void Copies::Emit(StreamWriter& w, Pipe pipe) const {
  const uint64_t n = count();
  for (uint64_t i = 0; i < n; ++i) {
    Copy op = copy;
    uint64_t rest = i;
    for (const CopyAxis& axis : repeats) {
      op.from = Plus(op.from, rest % axis.size * axis.from);
      op.to = Plus(op.to, rest % axis.size * axis.to);
      rest /= axis.size;
    }
    w.Emit(pipe, op);
  }
}

Copies CopiesOf(Address from, Address to, uint32_t element, CopyAxes axes, bool store) {
  const bool none = std::ranges::any_of(axes, [](const CopyAxis& a) { return a.size == 0; });
  axes.erase(std::remove_if(axes.begin(), axes.end(), [](const CopyAxis& a) { return a.size == 1; }), axes.end());
  std::stable_sort(axes.begin(), axes.end(),
                   [&](const CopyAxis& a, const CopyAxis& b) { return store ? a.to < b.to : a.from < b.from; });
  Merge(axes);
  Copies made{{.from = from, .to = to, .row_bytes = element}, {}};
  if (none) {
    made.repeats = {{0, 0, 0}};
    return made;
  }
  Copy& op = made.copy;
  const auto first = axes.begin();
  if (first != axes.end() && first->from == element && first->to == element &&
      uint64_t{element} * first->size <= kMaxDim) {
    op.row_bytes *= first->size;
    axes.erase(first);
  }
  if (!axes.empty()) op.rows = axes[0].size, op.from_row = axes[0].from, op.to_row = axes[0].to;
  if (axes.size() > 1) op.planes = axes[1].size, op.from_plane = axes[1].from, op.to_plane = axes[1].to;
  if (axes.size() > 2) made.repeats.assign(axes.begin() + 2, axes.end());
  return made;
}

Copies ApartCopies(Address image, Pitch pitch, Part y, Part x, Part c, Address tile) {
  const uint64_t at =
      uint64_t{y.first} * pitch.row + uint64_t{x.first} * pitch.pixel + uint64_t{c.first} * pitch.channel;
  const CopyAxes axes = {
      {c.size, pitch.channel, 1}, {x.size, pitch.pixel, c.size}, {y.size, pitch.row, x.size * c.size}};
  return CopiesOf(Plus(image, at), tile, 1, axes, false);
}

std::vector<Part> PartsOf(const Layer& layer, Part y, Part x, Part c) {
  const size_t rows = layer.axes.size() - 2;
  std::vector<Part> parts(rows);
  parts[0] = y;
  if (rows > 1) {
    uint32_t row = y.first;
    for (size_t i = rows; i-- > 0; row /= layer.axes[i].size) parts[i] = {row % layer.axes[i].size, 1};
  }
  parts.push_back(x);
  parts.push_back(c);
  return parts;
}

uint32_t RowsAtOnce(const Layer& layer, uint32_t rows) {
  return layer.axes.size() == kLeastAxes ? rows : 1;
}

Copies LoadCopies(const Layer& layer, const std::vector<Part>& parts, Address memory, Address tile) {
  CopyAxes axes;
  uint64_t at = 0, slot = 0;
  uint32_t bytes = layer.element_bytes;
  for (size_t i = parts.size(); i-- > 0;) {
    const MoveAxis& axis = layer.axes[i];
    const Part inside = InsideOf(parts[i], axis);
    axes.push_back({inside.size, axis.x, bytes});
    at += uint64_t{inside.first} * axis.x;
    slot += uint64_t{inside.first + axis.before - parts[i].first} * bytes;
    bytes *= parts[i].size;
  }
  return CopiesOf(Plus(memory, at), Plus(tile, slot), layer.element_bytes, axes, false);
}

Copies StoreCopies(const Layer& layer, const std::vector<Part>& parts, Address tile, Address memory) {
  CopyAxes axes;
  uint64_t at = 0;
  uint32_t bytes = layer.element_bytes;
  for (size_t i = parts.size(); i-- > 0;) {
    axes.push_back({parts[i].size, bytes, layer.axes[i].y});
    at += uint64_t{parts[i].first} * layer.axes[i].y;
    bytes *= parts[i].size;
  }
  return CopiesOf(tile, Plus(memory, at), layer.element_bytes, axes, true);
}

TileMove WholeTile(const Layer& layer, uint32_t rows, uint32_t columns, uint32_t channels) {
  constexpr Address kMemory{kFirstBase};
  Layer whole = layer;
  for (MoveAxis& axis : whole.axes) axis.before = 0, axis.inner = axis.size;
  const uint32_t at_once = RowsAtOnce(layer, rows);
  const std::vector<Part> parts = PartsOf(whole, {0, at_once}, {0, columns}, {0, channels});
  return {LoadCopies(whole, parts, kMemory, {}), StoreCopies(whole, parts, {}, kMemory), rows / at_once};
}

uint64_t CommandsOf(const Layer& layer, uint32_t rows, uint32_t columns, uint32_t channels) {
  const TileMove tile = WholeTile(layer, rows, columns, channels);
  const bool padded = std::ranges::any_of(layer.axes, &MoveAxis::padded);
  return tile.times * (std::max(tile.load.count(), tile.store.count()) + (padded ? 2 : 0));
}

std::vector<uint8_t> PackPadding(const Layer& layer, uint32_t bytes) {
  std::vector<uint8_t> packed(bytes);
  for (uint32_t i = 0; i < bytes; ++i) packed[i] = static_cast<uint8_t>(layer.pad_value >> i % layer.element_bytes * 8);
  return packed;
}

bool HasPadding(const Layer& layer, const std::vector<Part>& parts) {
  for (size_t i = 0; i < parts.size(); ++i) {
    if (InsideOf(parts[i], layer.axes[i]).size != parts[i].size) return true;
  }
  return false;
}

}  // namespace takt::npu
