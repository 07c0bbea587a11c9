#include "converter/npu/tiling.h"

#include <algorithm>
#include <array>
#include <bit>
#include <set>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "converter/npu/moves.h"
#include "ports/npu_emu/model/access.h"
#include "ports/npu_emu/model/cost.h"

namespace takt::npu {
namespace {

/// Blocks of outputs that a ublock machine computes at once.
constexpr uint32_t kBlockHeight = 32, kBlockWidth = 64, kBlockDepth = 128;
/// Commands of a move's tile on one pipe: the proof of a stream remembers those of two tiles one by one.
constexpr uint64_t kMostMoves = 12;

struct Need {
  Buffer buffer;
  const char* name;
  uint64_t bytes;
};

std::vector<Need> NeedsOf(const Machine& m, const Layer& l, const Tiling& t) {
  const uint64_t h = std::min<uint64_t>(l.height, InputExtent(t.out_height, l.stride_h, l.kernel_h, l.dilation_h));
  const uint64_t w = std::min<uint64_t>(l.width, InputExtent(t.out_width, l.stride_w, l.kernel_w, l.dilation_w));
  const uint64_t outputs = uint64_t{t.out_height} * t.out_width * t.out_channels;
  const uint64_t out = outputs * FeatureBytes(l.type), box = h * w * t.in_channels * FeatureBytes(l.type);
  if (l.kind == LayerKind::kMove) return {{Buffer::kOutput, "output", outputs * l.element_bytes}};
  if (l.kind == LayerKind::kAdd) return {{Buffer::kSkip, "skip", 2 * out}, {Buffer::kOutput, "output", out}};
  if (l.kind == LayerKind::kPool) return {{Buffer::kSkip, "skip", box}, {Buffer::kOutput, "output", out}};
  const uint64_t taps = uint64_t{l.kernel_h} * l.kernel_w;
  const uint64_t weights = taps * t.in_channels * (l.kind == LayerKind::kDepthwise ? 1 : t.out_channels);
  std::vector<Need> needs = {{Buffer::kFeature, "feature", box},
                             {Buffer::kWeight, "weight", weights},
                             {Buffer::kAccumulator, "accumulator", SumBytes(l.type) * outputs},
                             {Buffer::kOutput, "output", out},
                             {Buffer::kParameter, "parameter", l.parameter_bytes() * t.out_channels}};
  if (l.add) needs.push_back({Buffer::kSkip, "skip", out});
  if (m.two_level()) {
    needs.push_back({Buffer::kFeatureA, "feature_a", box});
    needs.push_back({Buffer::kWeightB, "weight_b", weights});
  }
  return needs;
}

const Need* FirstThatDoesNotFit(const Machine& m, const std::vector<Need>& needs) {
  for (const Need& need : needs) {
    if (need.bytes > m.slot(need.buffer)) return &need;
  }
  return nullptr;
}

/// n, its parts by 2, 3, 4, …, rounded up, and 1; nothing above `limit`.
std::vector<uint32_t> Parts(uint32_t n, uint32_t limit, uint32_t most) {
  std::set<uint32_t> parts = {1};
  for (uint32_t k = 1; k <= most && k <= n; ++k) parts.insert((n + k - 1) / k);
  std::vector<uint32_t> list;
  for (const uint32_t p : parts) {
    if (p <= limit) list.push_back(p);
  }
  return list;
}

/// n itself, the powers of two below it from `granule` up, and its parts by 2, 3, … rounded up to the granule.
std::vector<uint32_t> ChannelParts(uint32_t n, uint32_t granule, uint32_t limit) {
  constexpr uint32_t kMostParts = 8;
  std::set<uint32_t> list;
  const auto add = [&](uint64_t part) {
    if (part <= n && part <= limit) list.insert(static_cast<uint32_t>(part));
  };
  add(n);
  for (uint64_t p = granule; p < n; p *= 2) add(p);
  for (uint32_t k = 2; k <= kMostParts; ++k) add(CeilDiv(CeilDiv(n, k), granule) * granule);
  if (list.empty()) list.insert(std::min(n, limit));
  return {list.begin(), list.end()};
}

/// An axis cut into `count` parts of `size`.
struct Cut {
  uint32_t size;
  uint64_t count;
};
/// The whole parts of an axis and what is left at its end, if anything is.
std::array<Cut, 2> CutsOf(uint32_t whole, uint32_t part) {
  return {{{part, whole / part}, {whole % part, whole % part != 0 ? 1u : 0u}}};
}

/// How long a layer takes with a tiling, in ticks. Pipes overlap, so the slowest one decides: a pipe, a memory that
/// several share, or the round between two pipes that hand two slots to each other. The pipeline's filling with the
/// first tile comes on top.
class Estimator {
 public:
  Estimator(const Machine& machine, const Layer& layer) : m_(machine), l_(layer), array_(machine.ArrayOf(layer.type)) {}

  uint64_t operator()(const Tiling& t) const { return l_.kind == LayerKind::kMove ? Moving(t) : Computing(t); }

 private:
  uint64_t Computing(const Tiling& t) const {
    const bool sums = l_.kind == LayerKind::kConvolution;
    const uint64_t spatial = CeilDiv(l_.out_height, t.out_height) * CeilDiv(l_.out_width, t.out_width);
    const uint64_t depth = CeilDiv(l_.out_channels, t.out_channels), tiles = spatial * depth;
    const uint64_t chunks = sums ? CeilDiv(l_.channels, t.in_channels) : 1;
    const bool x_stays = sums && chunks == 1 && (!t.channels_outer || spatial == 1);
    const bool w_stays = chunks == 1 ? t.channels_outer || depth == 1 : spatial == 1;
    const uint64_t w_loads = l_.weights == ir::kNoTensor ? 0 : depth * chunks * (w_stays ? 1 : spatial);
    const Ticks latency = Ticks{m_.memories[l_.x_memory].read_latency} << m_.tick_shift;
    const Ticks w_latency = Ticks{m_.memories[m_.constant_memory].read_latency} << m_.tick_shift;
    Ticks x = 0, w = 0, mac = 0, vector = 0, store = 0, skip = 0;
    for (const Cut& c : CutsOf(l_.out_channels, t.out_channels)) {
      for (const Cut& k : sums ? CutsOf(l_.channels, t.in_channels) : std::array<Cut, 2>{{{c.size, 1}, {0, 0}}}) {
        if (c.count * k.count == 0) continue;
        w += c.count * k.count * (w_stays ? 1 : spatial) * Weights(c.size, k.size);
        for (const Cut& oh : CutsOf(l_.out_height, t.out_height)) {
          for (const Cut& ow : CutsOf(l_.out_width, t.out_width)) {
            const uint64_t n = c.count * k.count * oh.count * ow.count;
            if (n == 0) continue;
            mac += n * Array(oh.size, ow.size, c.size, k.size);
            if (!x_stays || c.size == t.out_channels)
              x += (x_stays ? k.count * oh.count * ow.count : n) * Box(oh.size, ow.size, k.size);
            if (k.size != (sums ? t.in_channels : c.size)) continue;
            const uint64_t outs = c.count * oh.count * ow.count;
            vector += outs * Vector(uint64_t{oh.size} * ow.size * c.size);
            store += outs * Store(oh.size, ow.size, c.size);
            if (l_.skip != ir::kNoTensor)
              skip += outs * Move(Pipe::kStore, l_.skip_memory, oh.size, ow.size, c.size, l_.out_channels);
          }
        }
      }
    }
    Ticks moved[kMaxMemories] = {};
    moved[l_.x_memory] += x, moved[l_.y_memory] += store, moved[l_.skip_memory] += skip, moved[m_.constant_memory] += w;
    const Ticks memory = *std::max_element(moved, moved + kMaxMemories);
    x += skip;
    const Ticks load = m_.feature_pipe == Pipe::kLoad ? x + w : std::max(x, w);
    const Ticks rounds =
        std::max({Round(Buffer::kFeature, x_stays ? 0 : x + tiles * chunks * latency + mac),
                  Round(Buffer::kWeight, w + w_loads * w_latency + mac), Round(Buffer::kAccumulator, mac + vector),
                  Round(Buffer::kOutput, vector + store + tiles * latency)});
    const Ticks filling = (x + mac + vector + store) / (tiles * chunks);
    return std::max({load, memory, mac, vector, store, rounds}) + filling;
  }
  /// Of whole tiles, which those at the edges are taken for; padding is moved like the rest.
  uint64_t Moving(const Tiling& t) const {
    const uint64_t tiles = TileCount(l_, t);
    const TileMove tile = WholeTile(l_, t.out_height, t.out_width, t.out_channels);
    const auto ticks = [&](Pipe pipe, uint8_t memory, const Copies& copies) {
      const StreamHeader header{.base_memory = {memory}};
      return tiles * tile.times * copies.count() * TransferTicks(m_, pipe, TrafficOf(m_, header, copies.copy));
    };
    const Ticks load = ticks(m_.feature_pipe, l_.x_memory, tile.load);
    const Ticks store = ticks(Pipe::kStore, l_.y_memory, tile.store);
    const Ticks latency =
        LatencyTicks(m_, {.memory = l_.x_memory}) + LatencyTicks(m_, {.memory = l_.y_memory, .write = true});
    return std::max({load, store, Round(Buffer::kOutput, load + store + tiles * latency)}) + (load + store) / tiles;
  }

  /// Two pipes that fill and empty a buffer's slots: at the same time, or in turns.
  Ticks Round(Buffer buffer, Ticks both) const { return m_.slots_overlap(buffer) ? both / kSlots : both; }
  /// A part of an image, whose rows of pixels follow each other if it has all channels.
  Ticks Move(Pipe pipe, uint8_t in, uint64_t rows, uint64_t columns, uint64_t channels, uint64_t all_channels) const {
    const Memory& memory = m_.memories[in];
    const bool dense = channels == all_channels;
    const uint64_t pieces = dense ? rows : rows * columns;
    const uint64_t piece = (dense ? columns * channels : channels) * FeatureBytes(l_.type);
    return TransferTicks(m_, pipe,
                         {.memory = in,
                          .write = pipe == Pipe::kStore,
                          .bytes = pieces * piece,
                          .bursts = pieces * CeilDiv(piece, memory.burst_bytes)});
  }
  Ticks Box(uint32_t out_height, uint32_t out_width, uint32_t channels) const {
    const uint64_t h = std::min<uint64_t>(l_.height, InputExtent(out_height, l_.stride_h, l_.kernel_h, l_.dilation_h));
    const uint64_t w = std::min<uint64_t>(l_.width, InputExtent(out_width, l_.stride_w, l_.kernel_w, l_.dilation_w));
    return Move(m_.feature_pipe, l_.x_memory, h, w, channels, l_.channels);
  }
  Ticks Store(uint32_t out_height, uint32_t out_width, uint32_t channels) const {
    return Move(Pipe::kStore, l_.y_memory, out_height, out_width, channels, l_.out_channels);
  }
  Ticks Weights(uint32_t out_channels, uint32_t in_channels) const {
    if (l_.weights == ir::kNoTensor) return 0;
    const uint64_t bytes =
        uint64_t{l_.kernel_h} * l_.kernel_w * in_channels * (l_.kind == LayerKind::kDepthwise ? 1 : out_channels);
    const Memory& memory = m_.memories[m_.constant_memory];
    return TransferTicks(m_, Pipe::kLoad,
                         {.memory = m_.constant_memory, .bytes = bytes, .bursts = CeilDiv(bytes, memory.burst_bytes)});
  }
  Ticks Array(uint32_t out_height, uint32_t out_width, uint32_t out_channels, uint32_t in_channels) const {
    if (l_.weights == ir::kNoTensor) return 0;
    Contraction c{
        out_height, out_width, out_channels, l_.kernel_h, l_.kernel_w, in_channels, l_.kind == LayerKind::kDepthwise,
        0};
    const Ticks array = ArrayCycles(array_, c) << m_.tick_shift;
    if (array_.cores == 1) return array;
    const uint64_t h = std::min<uint64_t>(l_.height, InputExtent(out_height, l_.stride_h, l_.kernel_h, l_.dilation_h));
    const uint64_t w = std::min<uint64_t>(l_.width, InputExtent(out_width, l_.stride_w, l_.kernel_w, l_.dilation_w));
    c.box_bytes = h * w * in_channels * FeatureBytes(l_.type);
    return array + LinkTicks(m_, c, array);
  }
  Ticks Vector(uint64_t out) const {
    const auto cost = [&](VectorFunction f, uint64_t n) {
      return ScaleUp(n, m_.VectorCycles(f, l_.type), m_.tick_shift);
    };
    if (l_.kind == LayerKind::kPool) return cost(VectorFunction::kPool, out * l_.kernel_h * l_.kernel_w);
    const Ticks add = l_.add ? cost(VectorFunction::kAdd, out) : 0;
    return l_.kind == LayerKind::kAdd ? add : add + cost(VectorFunction::kRequantize, out);
  }

  const Machine& m_;
  const Layer& l_;
  const npu::Array array_;
};

/// Six leading bits: estimates that are that close count as equal, and fewer tiles, hence fewer commands, win.
uint64_t Coarse(uint64_t ticks) {
  const auto width = static_cast<uint32_t>(std::bit_width(ticks));
  const uint32_t drop = width > 5 ? width - 5 : 0;
  return ticks >> drop << drop;
}

/// How much of the machine's rule on tiles a tile breaks.
uint32_t Broken(const Machine& m, const Layer& l, const Tiling& t) {
  if (m.whole_rows == 0 || l.kind != LayerKind::kConvolution) return 0;
  return (t.out_width != l.out_width ? 1 : 0) + (t.in_channels != l.channels ? 1 : 0);
}

/// Ticks that a job of one tile takes above `most_cycles`, less an eighth, by which estimates may be short.
uint64_t Excess(const Machine& m, const Layer& l, const Tiling& t, uint64_t most_cycles) {
  if (most_cycles > UINT64_MAX >> m.tick_shift) return 0;
  Layer tile = l;
  tile.out_height = t.out_height, tile.out_width = t.out_width, tile.out_channels = t.out_channels;
  const uint64_t ticks = Estimator(m, tile)(t) + (uint64_t{m.job_cycles} << m.tick_shift);
  return ticks - std::min(ticks, (most_cycles - most_cycles / 8) << m.tick_shift);
}

uint32_t Granule(const Array& a) {
  switch (a.kind) {
    case ArrayKind::kUblock:
    case ArrayKind::kCube:
      return a.depth;
    default:
      return a.width;
  }
}

}  // namespace

uint32_t TileCount(const Layer& layer, const Tiling& tiling, uint32_t rows) {
  return static_cast<uint32_t>(CeilDiv(rows, tiling.out_height) * CeilDiv(layer.out_width, tiling.out_width) *
                               CeilDiv(layer.out_channels, tiling.out_channels));
}

bool ChooseTiling(const Machine& machine, const Layer& layer, Tiling& tiling, std::string& reason,
                  uint64_t most_cycles) {
  const uint32_t any = 0xFFFF / FeatureBytes(layer.type);  // a row of a copy
  const uint32_t granule = Granule(machine.ArrayOf(layer.type));
  const bool same_channels =
      layer.kind == LayerKind::kDepthwise || layer.kind == LayerKind::kPool || layer.kind == LayerKind::kMove;
  const bool flat = layer.kind == LayerKind::kAdd || layer.kind == LayerKind::kMove;
  const bool blocks = machine.array.kind == ArrayKind::kUblock && !flat;
  const Estimator estimate(machine, layer);
  const auto key = [&](const Tiling& t) {
    const uint64_t tiles = TileCount(layer, t) * CeilDiv(layer.channels, t.in_channels);
    return std::tuple(Excess(machine, layer, t, most_cycles), Broken(machine, layer, t), Coarse(t.estimate), tiles,
                      t.estimate, ~t.out_channels, ~t.out_height, ~t.out_width, ~t.in_channels, !t.channels_outer);
  };
  bool found = false;
  const auto widths =
      flat ? ChannelParts(layer.out_width, 1, any) : Parts(layer.out_width, blocks ? kBlockWidth : any, 8);
  for (const uint32_t oc : ChannelParts(layer.out_channels, granule, blocks ? kBlockDepth : any)) {
    for (const uint32_t ic : same_channels ? std::vector<uint32_t>{oc} : ChannelParts(layer.channels, 16, any)) {
      for (const uint32_t oh :
           Parts(layer.out_height, blocks ? kBlockHeight : any, layer.kind == LayerKind::kMove ? 8 : 32)) {
        for (const uint32_t ow : widths) {
          for (const bool outer : {true, false}) {
            Tiling t{oh, ow, oc, layer.kind == LayerKind::kAdd ? 1 : ic, outer, 0};
            if (FirstThatDoesNotFit(machine, NeedsOf(machine, layer, t)) != nullptr) break;
            if (layer.kind == LayerKind::kMove && CommandsOf(layer, oh, ow, oc) > kMostMoves) break;
            t.estimate = estimate(t);
            if (!found || key(t) < key(tiling)) tiling = t;
            found = true;
          }
        }
      }
    }
  }
  if (found) return true;
  const uint32_t c = std::min(layer.out_channels, granule);
  const Tiling least{1, 1, c, same_channels ? c : std::min(layer.channels, 16u), true, 0};
  const std::vector<Need> needs = NeedsOf(machine, layer, least);
  const Need* need = FirstThatDoesNotFit(machine, needs);
  if (need != nullptr) {
    reason = absl::StrCat("the smallest tile needs ", need->bytes, " bytes in a slot of the ", need->name,
                          " buffer, which has ", machine.slot(need->buffer), ": ",
                          need->bytes - machine.slot(need->buffer), " bytes are missing");
  } else {
    reason = "no tile fits the machine's buffers";
  }
  return false;
}

}  // namespace takt::npu
