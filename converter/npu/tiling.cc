#include "converter/npu/tiling.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ports/npu_emu/model/access.h"
#include "ports/npu_emu/model/cost.h"

namespace takt::npu {
namespace {

/// Blocks of outputs that a ublock machine computes at once.
constexpr uint32_t kBlockHeight = 32, kBlockWidth = 64, kBlockDepth = 128;

struct Need {
  Buffer buffer;
  const char* name;
  uint64_t bytes;
};

std::vector<Need> NeedsOf(const Machine& m, const Layer& l, const Tiling& t) {
  const uint64_t h = std::min<uint64_t>(l.height, InputExtent(t.out_height, l.stride_h, l.kernel_h, l.dilation_h));
  const uint64_t w = std::min<uint64_t>(l.width, InputExtent(t.out_width, l.stride_w, l.kernel_w, l.dilation_w));
  const uint64_t out = uint64_t{t.out_height} * t.out_width * t.out_channels, box = h * w * t.in_channels;
  if (l.kind == LayerKind::kAdd) return {{Buffer::kSkip, "skip", 2 * out}, {Buffer::kOutput, "output", out}};
  if (l.kind == LayerKind::kPool) return {{Buffer::kSkip, "skip", box}, {Buffer::kOutput, "output", out}};
  const uint64_t taps = uint64_t{l.kernel_h} * l.kernel_w;
  const uint64_t weights = taps * t.in_channels * (l.kind == LayerKind::kDepthwise ? 1 : t.out_channels);
  const uint64_t entry = 4 + TableEntryBytes(static_cast<uint32_t>(l.numerics));
  std::vector<Need> needs = {{Buffer::kFeature, "feature", box},
                             {Buffer::kWeight, "weight", weights},
                             {Buffer::kAccumulator, "accumulator", 4 * out},
                             {Buffer::kOutput, "output", out},
                             {Buffer::kParameter, "parameter", entry * t.out_channels}};
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

/// n itself and the powers of two below it, from `granule` up.
std::vector<uint32_t> PowersBelow(uint32_t n, uint32_t granule, uint32_t limit) {
  std::set<uint32_t> list;
  if (n <= limit) list.insert(n);
  for (uint32_t p = granule; p < n && p <= limit; p *= 2) list.insert(p);
  if (list.empty()) list.insert(std::min(n, limit));
  return {list.begin(), list.end()};
}

class Estimator {
 public:
  Estimator(const Machine& machine, const Layer& layer) : m_(machine), l_(layer) {}

  /// Ticks: the slowest pipe over the whole layer, and the pipeline's filling with the first tile.
  uint64_t operator()(const Tiling& t) const {
    const uint64_t rows = CeilDiv(l_.out_height, t.out_height), columns = CeilDiv(l_.out_width, t.out_width);
    const uint64_t spatial = rows * columns, depth = CeilDiv(l_.out_channels, t.out_channels);
    const uint64_t chunks = Chunks(t);
    uint64_t x_loads = chunks * spatial * depth, w_loads = x_loads;
    if (t.channels_outer ? spatial == 1 && chunks == 1 : chunks == 1) x_loads = spatial;
    if (l_.kind == LayerKind::kDepthwise || l_.kind == LayerKind::kPool) x_loads = spatial * depth;
    if (t.channels_outer ? chunks == 1 : depth == 1 && chunks == 1) w_loads = depth;
    const uint64_t x = x_loads * BoxTicks(t), w = w_loads * WeightTicks(t);
    const uint64_t mac = MacTicks(t) * chunks * spatial * depth;
    const uint64_t out = uint64_t{t.out_height} * t.out_width * t.out_channels;
    const uint64_t vector = VectorTicks(out) * spatial * depth,
                   store = Move(m_.feature_memory, Pipe::kStore, out) * spatial * depth;
    const uint64_t load = m_.feature_pipe == Pipe::kLoad ? x + w : std::max(x, w);
    const uint64_t memory = m_.feature_memory == m_.constant_memory ? x + w + store : x + store;
    const uint64_t filling = BoxTicks(t) + MacTicks(t) + VectorTicks(out) + Move(m_.feature_memory, Pipe::kStore, out);
    return std::max({load, memory, mac, vector, store}) + filling;
  }

 private:
  uint64_t Chunks(const Tiling& t) const {
    return l_.kind == LayerKind::kConvolution ? CeilDiv(l_.channels, t.in_channels) : 1;
  }
  uint64_t Move(uint8_t memory, Pipe pipe, uint64_t bytes) const {
    const Traffic traffic{.memory = memory, .bytes = bytes, .bursts = CeilDiv(bytes, m_.memories[memory].burst_bytes)};
    return TransferTicks(m_, pipe, traffic);
  }
  uint64_t BoxTicks(const Tiling& t) const {
    const std::vector<Need> needs = NeedsOf(m_, l_, t);
    return Move(m_.feature_memory, m_.feature_pipe, needs[0].bytes);
  }
  uint64_t WeightTicks(const Tiling& t) const {
    if (l_.weights == ir::kNoTensor) return 0;
    const std::vector<Need> needs = NeedsOf(m_, l_, t);
    return Move(m_.constant_memory, Pipe::kLoad, needs[1].bytes);
  }
  uint64_t MacTicks(const Tiling& t) const {
    if (l_.weights == ir::kNoTensor) return 0;
    const Contraction c{t.out_height,
                        t.out_width,
                        t.out_channels,
                        l_.kernel_h,
                        l_.kernel_w,
                        t.in_channels,
                        l_.kind == LayerKind::kDepthwise};
    return ScaleUp(ArrayCycles(m_.array, c), {1, 1}, m_.tick_shift);
  }
  uint64_t VectorTicks(uint64_t out) const {
    const uint64_t taps = l_.kind == LayerKind::kPool ? uint64_t{l_.kernel_h} * l_.kernel_w : 1;
    return ScaleUp(out * taps, m_.vector[static_cast<int>(VectorFunction::kRequantize)], m_.tick_shift);
  }

  const Machine& m_;
  const Layer& l_;
};

uint32_t Granule(const Machine& m) {
  switch (m.array.kind) {
    case ArrayKind::kUblock:
      return m.array.depth;
    case ArrayKind::kCube:
      return m.array.depth;
    default:
      return m.array.width;
  }
}

}  // namespace

bool ChooseTiling(const Machine& machine, const Layer& layer, Tiling& tiling, std::string& reason) {
  const bool blocks = machine.array.kind == ArrayKind::kUblock && layer.kind != LayerKind::kAdd;
  const uint32_t any = 0xFFFF;
  const uint32_t granule = Granule(machine);
  const bool same_channels = layer.kind == LayerKind::kDepthwise || layer.kind == LayerKind::kPool;
  const Estimator estimate(machine, layer);
  const auto key = [&](const Tiling& t) {
    const uint64_t tiles = CeilDiv(layer.out_height, t.out_height) * CeilDiv(layer.out_width, t.out_width) *
                           CeilDiv(layer.out_channels, t.out_channels) * CeilDiv(layer.channels, t.in_channels);
    return std::tuple(t.estimate, tiles, ~t.out_channels, ~t.out_height, ~t.out_width, ~t.in_channels,
                      !t.channels_outer);
  };
  bool found = false;
  const auto widths = layer.kind == LayerKind::kAdd ? PowersBelow(layer.out_width, 1, any)
                                                    : Parts(layer.out_width, blocks ? kBlockWidth : any, 8);
  for (const uint32_t oc : PowersBelow(layer.out_channels, granule, blocks ? kBlockDepth : any)) {
    for (const uint32_t ic : same_channels ? std::vector<uint32_t>{oc} : PowersBelow(layer.channels, 16, any)) {
      for (const uint32_t oh : Parts(layer.out_height, blocks ? kBlockHeight : any, 32)) {
        for (const uint32_t ow : widths) {
          for (const bool outer : {true, false}) {
            Tiling t{oh, ow, oc, layer.kind == LayerKind::kAdd ? 1 : ic, outer, 0};
            if (FirstThatDoesNotFit(machine, NeedsOf(machine, layer, t)) != nullptr) break;
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
