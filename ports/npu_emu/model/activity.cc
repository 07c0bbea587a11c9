#include "ports/npu_emu/model/activity.h"

#include "ports/npu_emu/model/access.h"

namespace takt::npu {
namespace {

uint64_t Plus(uint64_t a, uint64_t b) {
  return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}
uint64_t Times(uint64_t n, uint32_t each) {
  return each != 0 && n > UINT64_MAX / each ? UINT64_MAX : n * each;
}

/// How often the array takes each feature and each weight, and adds to each sum, in one command.
struct Reuse {
  uint64_t features = 1, weights = 1, sums = 1;
};
Reuse ReuseOf(const Array& a, const Contraction& c) {
  const uint64_t taps = uint64_t{c.kernel_h} * c.kernel_w, k = c.depthwise ? taps : taps * c.channels;
  const uint64_t outputs = c.depthwise ? 1 : c.out_channels;  // that read the same feature
  switch (a.kind) {
    case ArrayKind::kUblock:
      return {CeilDiv(outputs, a.depth), 1, UblockPasses(a, c)};
    case ArrayKind::kCube:
      return {CeilDiv(outputs, a.depth), CeilDiv(c.pixels(), a.width), CeilDiv(k, a.reduction)};
    case ArrayKind::kOutputStationary:
      return {CeilDiv(outputs, a.width), CeilDiv(c.pixels(), a.height), 1};
    case ArrayKind::kWeightStationary:
      return {CeilDiv(outputs, a.width), 1, CeilDiv(k, a.height)};
    default:
      return {1, CeilDiv(c.pixels(), a.width), CeilDiv(k, a.height)};
  }
}

/// The accesses of one command to buffers.
struct OnChip {
  uint64_t (&bytes)[kBuffers];

  void operator()(Address a, uint64_t n) const {
    if (a.space < kBuffers) bytes[a.space] = Plus(bytes[a.space], n);
  }
};

/// Features once for every tap that reads them; a sum is read and written.
template <typename T>
void CountContraction(const Machine& machine, const T& op, Type type, const OnChip& moved, Activity& activity) {
  const Contraction c = ContractionOf(op, type);
  const Array array = machine.ArrayOf(type);
  const Reuse reuse = ReuseOf(array, ShareOf(array, c));
  activity.macs = Plus(activity.macs, c.macs());
  if (type == Type::kInt16x8) activity.wide_macs = Plus(activity.wide_macs, c.macs());
  moved(op.x, c.pixels() * c.kernel_h * c.kernel_w * c.channels * FeatureBytes(type) * reuse.features);
  moved(op.w, c.weights() * reuse.weights);
  moved(op.acc, c.pixels() * c.out_channels * 2 * SumBytes(type) * reuse.sums);
}

void CountCopy(const Machine& machine, const StreamHeader& header, const Copy& op, const OnChip& moved,
               Activity& activity) {
  const Traffic traffic = TrafficOf(machine, header, op);
  moved(op.from, traffic.bytes);
  moved(op.to, traffic.bytes);
  if (traffic.memory < 0) return;
  uint64_t& bytes = (traffic.write ? activity.written_bytes : activity.read_bytes)[traffic.memory];
  bytes = Plus(bytes, traffic.bytes);
}

}  // namespace

void Activity::Count(const Machine& machine, const StreamHeader& header, const Command& command) {
  const OnChip moved{buffer_bytes};
  const Type type = command.type;
  const auto taken = [&](uint64_t n) {
    elements = Plus(elements, n);
    if (type == Type::kInt16x8) wide_elements = Plus(wide_elements, n);
  };
  switch (command.op) {
    case MicroOp::kCopy:
      return CountCopy(machine, header, command.as<Copy>(), moved, *this);
    case MicroOp::kContract:
      return CountContraction(machine, command.as<Contract>(), type, moved, *this);
    case MicroOp::kDepthwise:
      return CountContraction(machine, command.as<Depthwise>(), type, moved, *this);
    case MicroOp::kPool: {
      const auto op = command.as<Pool>();
      const uint64_t results = uint64_t{op.out_height} * op.out_width * op.channels;
      const uint64_t cells = results * op.kernel_h * op.kernel_w;
      taken(cells);
      moved(op.x, cells * FeatureBytes(type));
      return moved(op.y, results * FeatureBytes(type));
    }
    case MicroOp::kRequantize: {
      const auto op = command.as<Requantize>();
      const uint64_t results = uint64_t{op.pixels} * op.channels;
      const auto stage = static_cast<Stage>(op.numerics);
      taken(results);
      moved(op.acc, SumBytes(type) * results);
      moved(op.table, op.channels * (BiasBytes(type, stage) + TableEntryBytes(stage)));
      return moved(op.y, results * FeatureBytes(type));
    }
    case MicroOp::kAdd: {
      const auto op = command.as<Add>();
      const uint64_t results = uint64_t{op.rows} * op.columns;
      taken(results);
      for (const Address a : {op.a, op.b, op.y}) moved(a, results * FeatureBytes(type));
      return;
    }
    default:
      return;
  }
}

void Activity::Merge(const Activity& other) {
  macs = Plus(macs, other.macs);
  elements = Plus(elements, other.elements);
  wide_macs = Plus(wide_macs, other.wide_macs);
  wide_elements = Plus(wide_elements, other.wide_elements);
  for (int b = 0; b < kBuffers; ++b) buffer_bytes[b] = Plus(buffer_bytes[b], other.buffer_bytes[b]);
  for (int i = 0; i < kMaxMemories; ++i) {
    read_bytes[i] = Plus(read_bytes[i], other.read_bytes[i]);
    written_bytes[i] = Plus(written_bytes[i], other.written_bytes[i]);
  }
}

uint64_t Activity::Bytes() const {
  uint64_t sum = 0;
  for (int i = 0; i < kMaxMemories; ++i) sum = Plus(sum, Plus(read_bytes[i], written_bytes[i]));
  return sum;
}

uint64_t Energy::Sum() const {
  return Plus(Plus(array, vector), Plus(buffers, memories));
}

Energy EnergyOf(const Activity& activity, const Machine& m) {
  Energy e;
  e.array = Plus(Times(activity.macs - activity.wide_macs, m.array.femtojoule_per_mac),
                 Times(activity.wide_macs, m.int16x8.femtojoule_per_mac));
  e.vector = Plus(Times(activity.elements - activity.wide_elements, m.femtojoule_per_element),
                  Times(activity.wide_elements, m.int16x8.femtojoule_per_element));
  for (int b = 0; b < kBuffers; ++b) {
    e.buffers = Plus(e.buffers, Times(activity.buffer_bytes[b], m.buffers[b].femtojoule_per_byte));
  }
  for (uint32_t i = 0; i < m.memory_count; ++i) {
    const uint64_t bytes = Plus(activity.read_bytes[i], activity.written_bytes[i]);
    e.memories = Plus(e.memories, Times(bytes, m.memories[i].femtojoule_per_byte));
  }
  return e;
}

Area AreaOf(const Machine& m) {
  uint64_t bytes = 0;
  for (const BufferSpec& b : m.buffers) bytes += b.bytes;
  return {Times(PeakMacs(m.array), m.array.square_micrometre_per_mac),
          CeilDiv(bytes * m.square_micrometre_per_kib, 1024)};
}

}  // namespace takt::npu
