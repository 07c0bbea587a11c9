#include "converter/npu/move_fusion.h"

#include <algorithm>
#include <optional>

#include "converter/npu/moves.h"

namespace takt::npu {
namespace {

using ir::TensorId;

/// A part of memory as an image of one byte a channel.
struct ImagePart {
  uint32_t height = 1, width = 1, channels = 1;
  Pitch pitch;

  bool dense() const { return pitch.pixel == channels && pitch.row == width * channels; }
};

/// Nothing if its channels do not follow each other, or there are several images.
std::optional<ImagePart> PartIn(const ir::Tensor& t) {
  constexpr size_t kRank = 4;
  const size_t rank = t.dims.size();
  if (rank > kRank || BitWidth(t.type) != 8) return std::nullopt;
  uint32_t dims[kRank] = {1, 1, 1, 1};
  uint32_t strides[kRank] = {};
  const std::vector<uint32_t> bytes = ByteStrides(t);
  for (size_t i = 0; i < rank; ++i) {
    dims[kRank - rank + i] = static_cast<uint32_t>(t.dims[i]);
    strides[kRank - rank + i] = bytes[i];
  }
  ImagePart part{dims[1], dims[2], dims[3], {}};
  if (dims[0] != 1 || (part.channels > 1 && strides[3] != 1)) return std::nullopt;
  part.pitch.pixel = part.width > 1 ? strides[2] : part.channels;
  part.pitch.row = part.height > 1 ? strides[1] : part.width * part.pitch.pixel;
  return part;
}

class Fusion {
 public:
  Fusion(const ir::Graph& graph, const std::vector<backend::StepSpec>& steps, std::vector<CompiledLayer>& layers)
      : graph_(graph), steps_(steps), layers_(layers) {}

  bool StoreInPlace(CompiledLayer& move);
  bool LoadFromPlace(CompiledLayer& move);
  bool LoadTransposed(CompiledLayer& move);

 private:
  /// Steps' operands, and what is bound from outside, that lie in the memory of `root`.
  size_t UsesOf(TensorId root) const;
  bool InMemoryOf(TensorId id, TensorId root) const { return id != ir::kNoTensor && Root(graph_, id).root == root; }
  static bool IsImage(const CompiledLayer& l) { return l.cascade < 0 && l.whole() && l.layer.kind != LayerKind::kMove; }
  /// Whether a layer can have an operand of these sizes in `part`.
  static bool Fits(const Layer& l, const ImagePart& part, uint32_t height, uint32_t width, uint32_t channels) {
    return part.dense() ||
           (l.kind != LayerKind::kAdd && part.height == height && part.width == width && part.channels == channels);
  }
  static void Vanish(CompiledLayer& move, TensorId kept) {
    move.layer.x = move.layer.y = kept;
    move.part.tiles.size = 0;
  }

  const ir::Graph& graph_;
  const std::vector<backend::StepSpec>& steps_;
  std::vector<CompiledLayer>& layers_;
};

size_t Fusion::UsesOf(TensorId root) const {
  size_t uses = 0;
  const auto count = [&](TensorId id) { uses += InMemoryOf(id, root); };
  std::ranges::for_each(graph_.inputs, count);
  std::ranges::for_each(graph_.outputs, count);
  for (const ir::State& state : graph_.states) count(state.tensor), count(state.next);
  for (const backend::StepSpec& step : steps_) {
    std::ranges::for_each(step.inputs, count);
    std::ranges::for_each(step.outputs, count);
  }
  return uses;
}

bool Fusion::StoreInPlace(CompiledLayer& move) {
  const TensorId x = move.layer.x, y = move.layer.y, root = Root(graph_, y).root;
  const std::optional<ImagePart> part = PartIn(graph_.tensor(y));
  if (!part || graph_.tensor(x).view || UsesOf(x) != 2) return false;
  const auto writer = std::ranges::find_if(layers_, [&](const CompiledLayer& l) { return l.layer.y == x; });
  if (writer == layers_.end() || !IsImage(*writer)) return false;
  Layer& l = writer->layer;
  if (!Fits(l, *part, l.out_height, l.out_width, l.out_channels)) return false;
  if (InMemoryOf(l.x, root) || InMemoryOf(l.skip, root)) return false;
  l.y = y;
  l.y_memory = move.layer.y_memory;
  if (!part->dense()) l.y_pitch = part->pitch;
  Vanish(move, y);
  return true;
}

bool Fusion::LoadFromPlace(CompiledLayer& move) {
  const TensorId x = move.layer.x, y = move.layer.y;
  const std::optional<ImagePart> part = PartIn(graph_.tensor(x));
  if (!part || graph_.tensor(y).view) return false;
  const auto reads = [&](const CompiledLayer& l) {
    return IsImage(l) && l.layer.x == y && l.layer.skip != y && !InMemoryOf(l.layer.y, Root(graph_, x).root) &&
           Fits(l.layer, *part, l.layer.height, l.layer.width, l.layer.channels);
  };
  const auto readers = static_cast<size_t>(std::ranges::count_if(layers_, reads));
  if (readers == 0 || UsesOf(y) != readers + 1) return false;
  for (CompiledLayer& l : layers_) {
    if (!reads(l)) continue;
    l.layer.x = x;
    l.layer.x_memory = move.layer.x_memory;
    if (!part->dense()) l.layer.x_pitch = part->pitch;
  }
  Vanish(move, x);
  return true;
}

/// Every element that comes on chip by itself takes a cycle: only where it comes once.
bool Fusion::LoadTransposed(CompiledLayer& move) {
  constexpr uint32_t kMostChannels = 4;  // a command each
  const TensorId x = move.layer.x, y = move.layer.y;
  const std::optional<ImagePart> part = PartIn(graph_.tensor(y));
  if (!part || graph_.tensor(y).view || graph_.tensor(y).dims.size() != 4 || UsesOf(y) != 2) return false;
  const auto reader = std::ranges::find_if(layers_, [&](const CompiledLayer& l) { return l.layer.x == y; });
  if (reader == layers_.end() || !IsImage(*reader) || reader->layer.kind != LayerKind::kConvolution) return false;
  Layer& l = reader->layer;
  const bool once = reader->tiling.out_channels >= l.out_channels && l.channels <= kMostChannels;
  if (!once || part->height != l.height || part->width != l.width || part->channels != l.channels) return false;
  const auto& permutation =
      *reinterpret_cast<const schema::TransposeParams*>(steps_[move.step].params.data())->permutation();
  const std::vector<uint32_t> strides = ByteStrides(graph_.tensor(x));
  l.x = x;
  l.x_memory = move.layer.x_memory;
  l.x_pitch = Pitch{strides[permutation[1]], strides[permutation[2]], strides[permutation[3]]};
  Vanish(move, x);
  return true;
}

}  // namespace

void FuseMoves(const ir::Graph& graph, const std::vector<backend::StepSpec>& steps,
               std::vector<CompiledLayer>& layers) {
  Fusion fusion(graph, steps, layers);
  for (CompiledLayer& l : layers) {
    if (l.layer.kind != LayerKind::kMove || !l.whole()) continue;
    if (steps[l.step].op == Op::kTranspose) fusion.LoadTransposed(l);
    if (steps[l.step].op == Op::kCopy && !fusion.StoreInPlace(l)) fusion.LoadFromPlace(l);
  }
}

}  // namespace takt::npu
