#include "converter/npu/emitter.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <utility>

#include "converter/npu/event_allocation.h"
#include "converter/npu/loop_rolling.h"
#include "converter/npu/moves.h"
#include "ports/npu_emu/model/access.h"
#include "ports/npu_emu/model/cost.h"

namespace takt::npu {
namespace {

constexpr size_t kConstantAlignment = 16;
constexpr int64_t kPadding = INT64_MIN;  ///< Key of packed padding.

Add AddOf(const schema::AddParams& p, Stage stage) {
  Add op;
  op.numerics = static_cast<uint32_t>(stage);
  op.a_multiplier = p.a_multiplier(), op.b_multiplier = p.b_multiplier(), op.output_multiplier = p.output_multiplier();
  op.a_shift = p.a_shift(), op.b_shift = p.b_shift(), op.output_shift = p.output_shift(),
  op.left_shift = p.left_shift();
  op.a_zero_point = p.a_zero_point(), op.b_zero_point = p.b_zero_point(), op.output_zero_point = p.output_zero_point();
  op.function = static_cast<uint32_t>(p.function());
  op.low = static_cast<int32_t>(p.clamp().min()), op.high = static_cast<int32_t>(p.clamp().max());
  return op;
}

}  // namespace

Address Channel::Acquire(StreamWriter& w) {
  if (acquired_ >= kSlots) w.EmitWait(producer_, free_);
  return Slot(acquired_++);
}
Address Channel::Take(StreamWriter& w) {
  w.EmitWait(consumer_, ready_);
  return Slot(taken_++);
}

/// One layer of a job: a visit for every tile and part of the sum; operands stay while the next visit reads them again.
class LayerEmitter {
 public:
  LayerEmitter(Emitter& e, const Layer& layer, const Tiling& tiling, const LayerPlace& place, const ir::Graph& graph)
      : e_(e), w_(e.w_), l_(layer), t_(tiling), place_(place), graph_(graph) {}

  void Run(const LayerPart& part);

 private:
  struct Tile {
    Part y, x, c;
  };
  void RunContractionTile(const Tile& tile);
  void RunVectorTile(const Tile& tile);
  void RunMoveTile(const Tile& tile);
  void Pad(Address slot, uint64_t bytes);
  void LoadWeights(const Tile& tile, Part in);
  void LoadParameters(Part c);
  void LoadFeatures(const Tile& tile, Part in);
  void Compute(const Tile& tile, Part in, Address acc, bool accumulate);
  void Finish(const Tile& tile, Address acc, std::optional<Address> skip);
  void Store(const Tile& tile, Address slot);
  void BeforeFeatures();
  void ReleaseAll();
  bool depthwise() const { return l_.kind == LayerKind::kDepthwise; }
  uint64_t Bytes(uint64_t features) const { return features * FeatureBytes(l_.type); }
  Channel& MacFeatures() { return e_.m_.two_level() ? e_.a_ : e_.x_; }
  Channel& MacWeights() { return e_.m_.two_level() ? e_.b_ : e_.weight_; }
  std::vector<uint8_t> PackWeights(Part out, Part in) const;
  std::vector<uint8_t> PackParameters(Part c) const;
  Address AddConstants(const std::vector<uint8_t>& bytes);
  template <typename Pack>
  Address Packed(std::array<int64_t, 2> what, Part c, Part in, const Pack& pack);
  Part BoxRows(Part y, uint32_t& pad) const {
    return InputOf(y, l_.stride_h, l_.kernel_h, l_.dilation_h, l_.pad_top, l_.height, pad);
  }
  Part BoxColumns(Part x, uint32_t& pad) const {
    return InputOf(x, l_.stride_w, l_.kernel_w, l_.dilation_w, l_.pad_left, l_.width, pad);
  }
  template <typename T>
  void SetWindow(T& op, const Tile& tile, uint32_t channels) const;

  Emitter& e_;
  StreamWriter& w_;
  const Layer& l_;
  const Tiling& t_;
  const LayerPlace& place_;
  const ir::Graph& graph_;
  // What the consumers hold: the operand's key and its slot.
  std::optional<std::array<Part, 3>> held_features_;
  std::optional<std::array<Part, 2>> held_weights_;
  std::optional<Part> held_parameters_;
  Address features_, weights_, parameters_;
  uint32_t padding_ = 0;  ///< Bytes of it that the skip buffer holds.
};

Address LayerEmitter::AddConstants(const std::vector<uint8_t>& bytes) {
  std::vector<uint8_t>& all = e_.constants_;
  const auto offset = static_cast<uint32_t>(all.size());
  all.insert(all.end(), bytes.begin(), bytes.end());
  all.resize(CeilDiv(all.size(), kConstantAlignment) * kConstantAlignment);
  return {place_.constants, 0, 0, offset};
}

/// What `pack` makes, unless the job has it already.
template <typename Pack>
Address LayerEmitter::Packed(std::array<int64_t, 2> what, Part c, Part in, const Pack& pack) {
  const std::array<int64_t, 6> key = {what[0], what[1], c.first, c.size, in.first, in.size};
  auto at = e_.packed_.find(key);
  if (at == e_.packed_.end()) at = e_.packed_.emplace(key, AddConstants(pack())).first;
  return at->second;
}

/// [oc][ky][kx][c] of OHWI, or of a depthwise step's 1HWO if there is one c; [ky][kx][c] of 1HWO for depthwise.
std::vector<uint8_t> LayerEmitter::PackWeights(Part out, Part in) const {
  const ir::Bytes& w = *graph_.tensor(l_.weights).data;
  const size_t taps = size_t{l_.kernel_h} * l_.kernel_w;
  std::vector<uint8_t> packed;
  const auto append = [&](size_t at, uint32_t n) {
    packed.insert(packed.end(), w.begin() + static_cast<ptrdiff_t>(at), w.begin() + static_cast<ptrdiff_t>(at + n));
  };
  if (depthwise()) {
    for (size_t tap = 0; tap < taps; ++tap) append(tap * l_.out_channels + out.first, out.size);
    return packed;
  }
  const bool by_tap = graph_.tensor(l_.weights).dims[0] != static_cast<int32_t>(l_.out_channels);
  for (uint32_t oc = out.first; oc < out.first + out.size; ++oc) {
    for (size_t tap = 0; tap < taps; ++tap)
      append(by_tap ? tap * l_.out_channels + oc : (oc * taps + tap) * l_.channels + in.first, in.size);
  }
  return packed;
}

/// Bias, then the requantization table.
std::vector<uint8_t> LayerEmitter::PackParameters(Part c) const {
  const ir::Bytes &bias = *graph_.tensor(l_.bias).data, &table = *graph_.tensor(l_.table).data;
  const auto bias_bytes = static_cast<ptrdiff_t>(BiasBytes(l_.type, l_.stage));
  const auto entry = static_cast<ptrdiff_t>(TableEntryBytes(l_.stage));
  const ptrdiff_t first = c.first, last = first + c.size;
  std::vector<uint8_t> packed(bias.begin() + bias_bytes * first, bias.begin() + bias_bytes * last);
  packed.insert(packed.end(), table.begin() + entry * first, table.begin() + entry * last);
  return packed;
}

void LayerEmitter::LoadWeights(const Tile& tile, Part in) {
  const std::array<Part, 2> key = {tile.c, in};
  if (held_weights_ == key) return;
  if (held_weights_) MacWeights().Release(w_);
  const Address packed =
      Packed({l_.weights, -1 - static_cast<int>(l_.kind)}, tile.c, in, [&] { return PackWeights(tile.c, in); });
  const uint64_t bytes =
      uint64_t{l_.kernel_h} * l_.kernel_w * (depthwise() ? tile.c.size : uint64_t{tile.c.size} * in.size);
  const Address slot = e_.weight_.Acquire(w_);
  EmitRun(w_, Pipe::kLoad, packed, slot, bytes);
  e_.weight_.Publish(w_);
  if (e_.m_.two_level()) {
    const Address from = e_.weight_.Take(w_);
    EmitRun(w_, Pipe::kOperand, from, e_.b_.Acquire(w_), bytes);
    e_.b_.Publish(w_);
    e_.weight_.Release(w_);
  }
  weights_ = MacWeights().Take(w_);
  held_weights_ = key;
}

void LayerEmitter::LoadParameters(Part c) {
  if (held_parameters_ == c) return;
  if (held_parameters_) e_.parameter_.Release(w_);
  const Address from = Packed({l_.bias, l_.table}, c, {}, [&] { return PackParameters(c); });
  EmitRun(w_, Pipe::kLoad, from, e_.parameter_.Acquire(w_), c.size * l_.parameter_bytes());
  e_.parameter_.Publish(w_);
  parameters_ = e_.parameter_.Take(w_);
  held_parameters_ = c;
}

/// Features that layers before stored may be read once their stores are done.
void LayerEmitter::BeforeFeatures() {
  if (!place_.reads_stored && e_.stored_ < kMaxEventCount / 2) return;
  for (; e_.stored_ > 0; --e_.stored_) w_.EmitWait(e_.m_.feature_pipe, kStoredEvent);
}

void LayerEmitter::LoadFeatures(const Tile& tile, Part in) {
  uint32_t pad = 0;
  const Part rows = BoxRows(tile.y, pad), columns = BoxColumns(tile.x, pad);
  const std::array<Part, 3> key = {rows, columns, in};
  if (held_features_ == key) return;
  if (held_features_) MacFeatures().Release(w_);
  BeforeFeatures();
  const Address slot = e_.x_.Acquire(w_);
  if (l_.XPitch().channel == 1) {
    EmitBox(w_, e_.m_.feature_pipe, place_.x, l_.XPitch(), rows, columns, in, slot, false);
  } else {
    ApartCopies(place_.x.at, l_.XPitch(), rows, columns, in, slot).Emit(w_, e_.m_.feature_pipe);
  }
  e_.x_.Publish(w_);
  if (e_.m_.two_level()) {
    const Address from = e_.x_.Take(w_);
    EmitRun(w_, Pipe::kOperand, from, e_.a_.Acquire(w_), Bytes(uint64_t{rows.size} * columns.size * in.size));
    e_.a_.Publish(w_);
    e_.x_.Release(w_);
  }
  features_ = MacFeatures().Take(w_);
  held_features_ = key;
}

template <typename T>
void LayerEmitter::SetWindow(T& op, const Tile& tile, uint32_t channels) const {
  const Part rows = BoxRows(tile.y, op.pad_top), columns = BoxColumns(tile.x, op.pad_left);
  op.height = rows.size, op.width = columns.size, op.channels = channels;
  op.x_pixel = channels * FeatureBytes(l_.type), op.x_row = columns.size * op.x_pixel;
  op.kernel_h = l_.kernel_h, op.kernel_w = l_.kernel_w, op.stride_h = l_.stride_h, op.stride_w = l_.stride_w;
  op.dilation_h = l_.dilation_h, op.dilation_w = l_.dilation_w;
  op.out_height = tile.y.size, op.out_width = tile.x.size;
}

void LayerEmitter::Compute(const Tile& tile, Part in, Address acc, bool accumulate) {
  const auto emit = [&](auto op) {
    op.x = features_, op.w = weights_, op.acc = acc;
    SetWindow(op, tile, in.size);
    op.out_channels = tile.c.size;
    op.x_zero_point = l_.x_zero_point, op.w_zero_point = l_.w_zero_point, op.accumulate = accumulate;
    w_.Emit(Pipe::kMac, op, l_.type);
  };
  depthwise() ? emit(Depthwise{}) : emit(Contract{});
}

void LayerEmitter::RunContractionTile(const Tile& tile) {
  const uint32_t chunks = depthwise() ? 1 : static_cast<uint32_t>(CeilDiv(l_.channels, t_.in_channels));
  Address acc;
  for (uint32_t k = 0; k < chunks; ++k) {
    const Part in = depthwise() ? tile.c : PartOf(k, t_.in_channels, l_.channels);
    LoadWeights(tile, in);
    if (k == 0) LoadParameters(tile.c);
    LoadFeatures(tile, in);
    if (k == 0) acc = e_.acc_.Acquire(w_);
    Compute(tile, in, acc, k != 0);
  }
  e_.acc_.Publish(w_);
  std::optional<Address> skip;
  if (l_.skip != ir::kNoTensor) {
    const Address slot = e_.skip_.Acquire(w_);
    EmitBox(w_, e_.m_.feature_pipe, place_.skip, l_.SkipPitch(), tile.y, tile.x, tile.c, slot, false);
    e_.skip_.Publish(w_);
    skip = slot;
  }
  Finish(tile, e_.acc_.Take(w_), skip);
}

void LayerEmitter::Finish(const Tile& tile, Address acc, std::optional<Address> skip) {
  const Address y = e_.out_.Acquire(w_);
  const Requantize stage{.acc = acc,
                         .bias = parameters_,
                         .table = Plus(parameters_, tile.c.size * BiasBytes(l_.type, l_.stage)),
                         .y = y,
                         .pixels = tile.y.size * tile.x.size,
                         .channels = tile.c.size,
                         .numerics = static_cast<uint32_t>(l_.stage),
                         .zero_point = l_.y_zero_point,
                         .low = l_.low,
                         .high = l_.high};
  w_.Emit(Pipe::kVector, stage, l_.type);
  e_.acc_.Release(w_);
  if (skip) {
    Add add = AddOf(*l_.add, l_.stage);
    add.a = e_.skip_.Take(w_), add.b = add.y = y;
    add.rows = tile.y.size * tile.x.size, add.columns = tile.c.size;
    w_.Emit(Pipe::kVector, add, l_.type);
    e_.skip_.Release(w_);
  }
  e_.out_.Publish(w_);
  Store(tile, e_.out_.Take(w_));
}

void LayerEmitter::Store(const Tile& tile, Address slot) {
  EmitBox(w_, Pipe::kStore, place_.y, l_.YPitch(), tile.y, tile.x, tile.c, slot, true);
  e_.out_.Release(w_);
}

/// Pools and additions: features come to the vector unit through the skip buffer.
void LayerEmitter::RunVectorTile(const Tile& tile) {
  BeforeFeatures();
  const Address x = e_.skip_.Acquire(w_);
  if (l_.kind == LayerKind::kAdd) {
    const Address b = Plus(x, Bytes(uint64_t{tile.y.size} * tile.x.size));
    EmitBox(w_, e_.m_.feature_pipe, place_.x, l_.XPitch(), tile.y, tile.x, tile.c, x, false);
    EmitBox(w_, e_.m_.feature_pipe, place_.skip, l_.SkipPitch(), tile.y, tile.x, tile.c, b, false);
    e_.skip_.Publish(w_);
    Add add = AddOf(*l_.add, l_.stage);
    add.a = e_.skip_.Take(w_), add.b = b, add.y = e_.out_.Acquire(w_);
    add.rows = tile.y.size, add.columns = tile.x.size;
    w_.Emit(Pipe::kVector, add, l_.type);
  } else {
    Pool pool;
    SetWindow(pool, tile, tile.c.size);
    uint32_t pad = 0;
    const Part rows = BoxRows(tile.y, pad), columns = BoxColumns(tile.x, pad);
    EmitBox(w_, e_.m_.feature_pipe, place_.x, l_.XPitch(), rows, columns, tile.c, x, false);
    e_.skip_.Publish(w_);
    pool.x = e_.skip_.Take(w_), pool.y = e_.out_.Acquire(w_);
    pool.function = l_.pool_function, pool.low = l_.low, pool.high = l_.high;
    w_.Emit(Pipe::kVector, pool, l_.type);
  }
  e_.skip_.Release(w_);
  e_.out_.Publish(w_);
  Store(tile, e_.out_.Take(w_));
}

/// Fills a slot. Padding is kept once in the skip buffer, which only the feature pipe uses until the move is done.
void LayerEmitter::Pad(Address slot, uint64_t bytes) {
  constexpr uint32_t kMost = 1024;
  const Pipe pipe = e_.m_.feature_pipe;
  const Address from = {static_cast<uint8_t>(Buffer::kSkip), 0, 0, 0};
  if (padding_ == 0) {
    padding_ = std::min(kMost, std::bit_floor(e_.m_.slot(Buffer::kSkip)));
    const Address packed = Packed({static_cast<int64_t>(l_.pad_value), kPadding}, {l_.element_bytes, padding_}, {},
                                  [&] { return PackPadding(l_, padding_); });
    EmitRun(w_, pipe, packed, from, padding_);
  }
  EmitFill(w_, pipe, from, padding_, slot, bytes);
}

/// Elements come on chip in the order in which they leave.
void LayerEmitter::RunMoveTile(const Tile& tile) {
  BeforeFeatures();
  const uint32_t rows = RowsAtOnce(l_, tile.y.size);
  const uint64_t bytes = uint64_t{rows} * tile.x.size * tile.c.size * l_.element_bytes;
  const auto for_each = [&](Address slot, const auto& move) {
    for (uint32_t row = 0; row < tile.y.size; row += rows, slot = Plus(slot, bytes))
      move(PartsOf(l_, {tile.y.first + row, rows}, tile.x, tile.c), slot);
  };
  for_each(e_.move_.Acquire(w_), [&](const std::vector<Part>& parts, Address slot) {
    if (HasPadding(l_, parts)) Pad(slot, bytes);
    LoadCopies(l_, parts, place_.x.at, slot).Emit(w_, e_.m_.feature_pipe);
  });
  e_.move_.Publish(w_);
  for_each(e_.move_.Take(w_), [&](const std::vector<Part>& parts, Address slot) {
    StoreCopies(l_, parts, slot, place_.y.at).Emit(w_, Pipe::kStore);
  });
  e_.move_.Release(w_);
}

void LayerEmitter::ReleaseAll() {
  if (held_features_) MacFeatures().Release(w_);
  if (held_weights_) MacWeights().Release(w_);
  if (held_parameters_) e_.parameter_.Release(w_);
}

void LayerEmitter::Run(const LayerPart& part) {
  if (part.tiles.size == 0) return;
  const auto rows = static_cast<uint32_t>(CeilDiv(part.rows.size, t_.out_height));
  const auto columns = static_cast<uint32_t>(CeilDiv(l_.out_width, t_.out_width));
  const uint32_t spatial = rows * columns;
  const auto depth = static_cast<uint32_t>(CeilDiv(l_.out_channels, t_.out_channels));
  for (uint32_t n = part.tiles.first; n < part.tiles.first + part.tiles.size; ++n) {
    const uint32_t s = t_.channels_outer ? n % spatial : n / depth, d = t_.channels_outer ? n / spatial : n % depth;
    Part y = PartOf(s / columns, t_.out_height, part.rows.size);
    y.first += part.rows.first;
    const Tile tile = {y, PartOf(s % columns, t_.out_width, l_.out_width), PartOf(d, t_.out_channels, l_.out_channels)};
    l_.kind == LayerKind::kMove   ? RunMoveTile(tile)
    : l_.weights != ir::kNoTensor ? RunContractionTile(tile)
                                  : RunVectorTile(tile);
  }
  ReleaseAll();
  w_.EmitSet(Pipe::kStore, kStoredEvent);
  ++e_.stored_;
}

Emitter::Emitter(const Machine& machine)
    : m_(machine),
      x_(machine, 0, machine.feature_pipe, machine.two_level() ? Pipe::kOperand : Pipe::kMac),
      weight_(machine, 1, Pipe::kLoad, machine.two_level() ? Pipe::kOperand : Pipe::kMac),
      a_(machine, 2, Pipe::kOperand, Pipe::kMac),
      b_(machine, 3, Pipe::kOperand, Pipe::kMac),
      acc_(machine, 4, Pipe::kMac, Pipe::kVector),
      out_(machine, 5, Pipe::kVector, Pipe::kStore),
      parameter_(machine, 6, Pipe::kLoad, Pipe::kVector),
      skip_(machine, 7, machine.feature_pipe, Pipe::kVector),
      move_(machine, 8, machine.feature_pipe, Pipe::kStore) {}

void Emitter::Emit(const Layer& layer, const Tiling& tiling, const LayerPart& part, const LayerPlace& place,
                   const ir::Graph& graph) {
  LayerEmitter(*this, layer, tiling, place, graph).Run(part);
}

void Emitter::Close(std::span<uint32_t> positions) {
  for (;;) {  // Waits on both sides of a spare Set become neighbours.
    const std::vector<uint32_t> spare = SpareEvents(std::as_bytes(std::span(w_.bytes())));
    if (spare.empty()) break;
    for (uint32_t& at : positions) {
      at -= kEventBytes * static_cast<uint32_t>(std::ranges::lower_bound(spare, at) - spare.begin());
    }
    w_.RemoveEvents(spare);
  }
  w_ = RollLoops(w_, positions);
}

}  // namespace takt::npu
