#include "ports/npu_emu/model/cost.h"

namespace takt::npu {
namespace {

constexpr uint32_t kSubkernel = 8;                   // a kernel is walked in parts of at most 8 x 8 taps
constexpr uint32_t kPassCycles = 4;                  // of a ublock
constexpr uint32_t kDecodedBlock = 32;               // weights of an output that are decoded for a pass
constexpr uint32_t kPartChannels = 8;                // input channels a pass, part-kernel first
constexpr uint32_t kDepthwiseTaps = 4;               // taps a pass, depthwise
constexpr uint32_t kFullReduction = 8;               // with which a depthwise pass or a pool takes a cycle for each tap
constexpr uint64_t kMostCycles = uint64_t{1} << 40;  // of the runs of one copy; in ticks they fit 64 bits

/// Calls f(taps) for every subkernel.
template <typename F>
void ForEachSubkernel(uint32_t h, uint32_t w, F f) {
  for (uint32_t y = 0; y < h; y += kSubkernel) {
    for (uint32_t x = 0; x < w; x += kSubkernel) {
      const uint32_t rows = h - y < kSubkernel ? h - y : kSubkernel;
      const uint32_t columns = w - x < kSubkernel ? w - x : kSubkernel;
      f(uint64_t{rows} * columns);
    }
  }
}

constexpr uint64_t Max(uint64_t a, uint64_t b) {
  return a > b ? a : b;
}
constexpr uint64_t RoundUp(uint64_t n, uint64_t to) {
  return CeilDiv(n, to) * to;
}

/// What a pass adds to an output: channels of one tap, or taps of kPartChannels channels.
uint64_t PassChannels(const Array& a) {
  return uint64_t{kPassCycles} * a.reduction;
}
uint64_t PassTaps(const Array& a) {
  return Max(1, PassChannels(a) / kPartChannels);
}

/// Part-kernel first keeps the array busier when channels are few: of 8-bit utilisation k * C / (round8(C) * round4(k))
/// against C / round32(C), of 16-bit blocks are half as large.
bool PartKernelFirst(const Array& a, uint64_t taps, uint64_t channels) {
  if (channels <= kPartChannels) return true;
  return taps * RoundUp(channels, PassChannels(a)) > RoundUp(channels, kPartChannels) * RoundUp(taps, PassTaps(a));
}

uint64_t DecoderCycles(const Array& a, uint64_t weights) {
  return a.weights_per_cycle == 0 ? 0 : CeilDiv(weights, a.weights_per_cycle);
}

uint64_t UblockCycles(const Array& a, const Contraction& c) {
  const uint64_t n_xy = CeilDiv(c.out_width, a.width) * CeilDiv(c.out_height, a.height);
  const uint64_t n_z = CeilDiv(c.out_channels, a.depth);
  const uint64_t pass = c.depthwise ? CeilDiv(kDepthwiseTaps * kFullReduction, a.reduction) : kPassCycles;
  return Max(DecoderCycles(a, uint64_t{kDecodedBlock} * a.depth), pass * n_xy) * UblockPasses(a, c) * n_z;
}

/// Depthwise runs as blocks of N0 channels whose weights form a diagonal.
uint64_t CubeCycles(const Array& a, const Contraction& c) {
  const uint64_t taps = uint64_t{c.kernel_h} * c.kernel_w;
  const uint64_t k = c.depthwise ? taps * a.depth : taps * c.channels;
  return CeilDiv(c.pixels(), a.width) * CeilDiv(c.out_channels, a.depth) * CeilDiv(k, a.reduction);
}

/// A depthwise layer is one small product a channel.
uint64_t SystolicCycles(const Array& a, const Contraction& c) {
  const uint64_t rows = a.height, columns = a.width, pixels = c.pixels();
  const uint64_t k = uint64_t{c.kernel_h} * c.kernel_w * (c.depthwise ? 1 : c.channels);
  const uint64_t m = c.depthwise ? 1 : c.out_channels;
  uint64_t cycles = 0;
  switch (a.kind) {
    case ArrayKind::kOutputStationary:
      cycles = CeilDiv(pixels, rows) * CeilDiv(m, columns) * (k + rows + columns - 2);
      break;
    case ArrayKind::kWeightStationary:
      cycles = CeilDiv(k, rows) * CeilDiv(m, columns) * (pixels + 2 * rows + columns - 2);
      break;
    default:
      cycles = CeilDiv(k, rows) * CeilDiv(pixels, columns) * (m + 2 * rows + columns - 2);
      break;
  }
  return (cycles - 1) * (c.depthwise ? c.out_channels : 1);
}

uint64_t CoreCycles(const Array& a, const Contraction& share) {
  switch (a.kind) {
    case ArrayKind::kUblock:
      return UblockCycles(a, share) + a.fill;
    case ArrayKind::kCube:
      return Max(CubeCycles(a, share), DecoderCycles(a, share.weights())) + a.fill;
    default:
      return Max(SystolicCycles(a, share), DecoderCycles(a, share.weights())) + a.fill;
  }
}

Ticks FromCycles(uint64_t cycles, uint32_t shift) {
  return ScaleUp(cycles, {1, 1}, shift);
}

Ticks PoolTicks(const Machine& m, const Pool& op, Type type) {
  const uint64_t taps = uint64_t{op.kernel_h} * op.kernel_w;
  if (m.pool_pipe == Pipe::kMac && m.array.kind == ArrayKind::kUblock) {
    const Array a = m.ArrayOf(type);
    const uint64_t n_xy = CeilDiv(op.out_width, a.width) * CeilDiv(op.out_height, a.height);
    const uint64_t ublock = CeilDiv(Max(kPassCycles, taps) * kFullReduction, a.reduction);
    return FromCycles(ublock * n_xy * CeilDiv(op.channels, a.depth), m.tick_shift);
  }
  const uint64_t elements = uint64_t{op.out_height} * op.out_width * op.channels;
  return ScaleUp(elements * taps, m.VectorCycles(VectorFunction::kPool, type), m.tick_shift);
}

/// What `bytes` of a transfer take, and an equal share of its runs on chip for each burst.
Ticks PortTicks(const Machine& m, Pipe pipe, const Traffic& traffic, uint64_t bytes) {
  const Ratio port = m.port[static_cast<int>(pipe)];
  const Ticks dense = ScaleUp(bytes, {port.den, port.num}, m.tick_shift);
  if (traffic.runs == 1) return dense;
  const uint64_t cycles = ScaleUp(traffic.run_bytes, {port.den, port.num}, 0);
  if (cycles > kMostCycles / traffic.runs) return kOverflow;
  return Max(dense, CeilDiv(cycles * traffic.runs << m.tick_shift, traffic.bursts));
}

/// Bytes that follow each other on one side of a copy, and how often there are so many.
struct Runs {
  uint64_t count, bytes;
};
Runs RunsOf(const Copy& op, uint64_t row, uint64_t plane) {
  Runs runs = {uint64_t{op.planes} * op.rows, op.row_bytes};
  if (row == runs.bytes || op.rows == 1) {
    runs = {op.planes, runs.bytes * op.rows};
    if (plane == runs.bytes || op.planes == 1) runs = {1, runs.bytes * op.planes};
  }
  return runs;
}

/// From one burst to the next if all that may be outstanding are.
Ticks WindowTicks(const Machine& machine, const Traffic& traffic) {
  const Memory& m = machine.memories[traffic.memory];
  return ScaleUp(traffic.write ? m.write_latency : m.read_latency, {1, m.outstanding}, machine.tick_shift);
}

}  // namespace

Ticks ScaleUp(uint64_t n, Ratio per, uint32_t shift) {
  uint64_t scaled = 0;
  if (__builtin_mul_overflow(n << shift, uint64_t{per.num}, &scaled) || scaled > UINT64_MAX - per.den ||
      n << shift >> shift != n)
    return kOverflow;
  return per.den == 1 ? scaled : CeilDiv(scaled, per.den);  // Most ratios are whole, and a division is slow.
}

uint64_t UblockPasses(const Array& a, const Contraction& c) {
  uint64_t passes = 0;
  ForEachSubkernel(c.kernel_h, c.kernel_w, [&](uint64_t taps) {
    if (c.depthwise) {
      passes += CeilDiv(taps, kDepthwiseTaps);
    } else if (PartKernelFirst(a, taps, c.channels)) {
      passes += CeilDiv(taps, PassTaps(a)) * CeilDiv(c.channels, kPartChannels);
    } else {
      passes += taps * CeilDiv(c.channels, PassChannels(a));
    }
  });
  return passes;
}

Contraction ShareOf(const Array& array, Contraction c) {
  if (array.cores == 1) return c;
  uint32_t& split = array.split == CoreSplit::kRows ? c.out_height : c.out_channels;
  split = static_cast<uint32_t>(CeilDiv(split, array.cores));
  return c;
}

uint64_t ArrayCycles(const Array& array, const Contraction& c) {
  return array.cores == 1 ? CoreCycles(array, c) : CoreCycles(array, ShareOf(array, c));
}

uint64_t PeakMacs(const Array& a) {
  const bool systolic = a.kind != ArrayKind::kUblock && a.kind != ArrayKind::kCube;
  const uint64_t products = uint64_t{a.width} * a.height * a.cores;
  return systolic ? products : products * a.depth * a.reduction;
}

Ticks ComputeTicks(const Machine& m, const Command& command) {
  const Type type = command.type;
  const auto array = [&](const auto& op) {
    return FromCycles(ArrayCycles(m.ArrayOf(type), ContractionOf(op, type)), m.tick_shift);
  };
  const auto vector = [&](VectorFunction f, uint64_t n) { return ScaleUp(n, m.VectorCycles(f, type), m.tick_shift); };
  switch (command.op) {
    case MicroOp::kContract:
      return array(command.as<Contract>());
    case MicroOp::kDepthwise:
      return array(command.as<Depthwise>());
    case MicroOp::kPool:
      return PoolTicks(m, command.as<Pool>(), type);
    case MicroOp::kRequantize: {
      const auto op = command.as<Requantize>();
      return vector(VectorFunction::kRequantize, uint64_t{op.pixels} * op.channels);
    }
    case MicroOp::kAdd: {
      const auto op = command.as<Add>();
      return vector(VectorFunction::kAdd, uint64_t{op.rows} * op.columns);
    }
    default:
      return 0;
  }
}

Ticks LinkTicks(const Machine& m, const Contraction& c, Ticks array) {
  const Array& a = m.array;
  if (a.cores == 1) return 0;
  const uint64_t bytes = a.split == CoreSplit::kRows ? c.weights() : c.depthwise ? 0 : c.box_bytes;
  if (bytes == 0) return 0;
  const Ratio link = a.link_bytes_per_cycle;
  const Ticks latency = Ticks{a.link_latency} << m.tick_shift;
  const Ticks moving = link.num == 0 ? 0 : ScaleUp(bytes, {link.den, link.num}, m.tick_shift);
  const Ticks wait = moving > array ? moving - array : 0;
  return wait > kOverflow - latency ? kOverflow : wait + latency;
}

Ticks LinkTicks(const Machine& m, const Command& command, Ticks array) {
  const Type type = command.type;
  if (command.op == MicroOp::kContract) return LinkTicks(m, ContractionOf(command.as<Contract>(), type), array);
  if (command.op == MicroOp::kDepthwise) return LinkTicks(m, ContractionOf(command.as<Depthwise>(), type), array);
  return 0;
}

Traffic TrafficOf(const Machine& machine, const StreamHeader& header, const Copy& op) {
  Traffic t;
  t.bytes = uint64_t{op.planes} * op.rows * op.row_bytes;
  t.write = op.to.external();
  const bool external = t.write || op.from.external();
  const Runs from = RunsOf(op, op.from_row, op.from_plane), to = RunsOf(op, op.to_row, op.to_plane);
  const bool finer_to = external ? !t.write : to.count > from.count;
  t.runs = finer_to ? to.count : from.count, t.run_bytes = finer_to ? to.bytes : from.bytes;
  if (!external) return t;
  t.memory = header.base_memory[(t.write ? op.to : op.from).space - kFirstBase];
  const Runs& there = t.write ? to : from;
  t.bursts = there.count * CeilDiv(there.bytes, machine.memories[t.memory].burst_bytes);
  return t;
}

Ticks BurstTicks(const Machine& machine, Pipe pipe, const Traffic& traffic, uint32_t sharing) {
  if (traffic.memory < 0) return PortTicks(machine, pipe, traffic, traffic.bytes);
  const Memory& m = machine.memories[traffic.memory];
  const Ticks own = ScaleUp(m.burst_bytes, {m.bytes_per_cycle.den, m.bytes_per_cycle.num}, machine.tick_shift);
  return Max(Max(own * sharing, PortTicks(machine, pipe, traffic, m.burst_bytes)), WindowTicks(machine, traffic));
}

bool LatencyBound(const Machine& machine, Pipe pipe, const Traffic& traffic) {
  const Ticks window = WindowTicks(machine, traffic);
  return window != 0 && window == BurstTicks(machine, pipe, traffic, 1);
}

Ticks TransferTicks(const Machine& machine, Pipe pipe, const Traffic& traffic) {
  const Ticks burst = BurstTicks(machine, pipe, traffic, 1);
  return burst != 0 && traffic.bursts > kOverflow / burst ? kOverflow : traffic.bursts * burst;
}

Ticks LatencyTicks(const Machine& machine, const Traffic& traffic) {
  if (traffic.memory < 0) return 0;
  const Memory& m = machine.memories[traffic.memory];
  return Ticks{traffic.write ? m.write_latency : m.read_latency} << machine.tick_shift;
}

}  // namespace takt::npu
