// Cycles of one micro-operation by itself, as the machine's table gives them. Pure functions.
#ifndef TAKT_PORTS_NPU_EMU_MODEL_COST_H_
#define TAKT_PORTS_NPU_EMU_MODEL_COST_H_

#include "ports/npu_emu/model/machine.h"

namespace takt::npu {

/// Time in 1 / 2^tick_shift cycles.
using Ticks = uint64_t;
inline constexpr Ticks kOverflow = UINT64_MAX;

/// ceil(n * per * 2^shift); kOverflow if that does not fit.
Ticks ScaleUp(uint64_t n, Ratio per, uint32_t shift);
constexpr uint64_t CeilDiv(uint64_t a, uint64_t b) {
  return (a + b - 1) / b;
}

/// What the MAC array computes in one command.
struct Contraction {
  uint32_t out_height = 1, out_width = 1, out_channels = 1;
  uint32_t kernel_h = 1, kernel_w = 1, channels = 1;
  bool depthwise = false;
  uint64_t box_bytes = 0;  ///< Of the input that the outputs read.

  uint64_t pixels() const { return uint64_t{out_height} * out_width; }
  uint64_t weights() const { return uint64_t{out_channels} * kernel_h * kernel_w * (depthwise ? 1 : channels); }
  uint64_t macs() const { return pixels() * weights(); }
};
/// What one core computes: an equal share, rounded up, of the channels or rows.
Contraction ShareOf(const Array& array, Contraction c);
/// Cycles of the array, i.e. of one core's share.
/// ublock (Ethos-U-like): per pass (UblockPasses) the slower of weight supply and 4 cycles a ublock, 32 / reduction of
/// a depthwise layer. cube: ceil(M/M0) * ceil(N/N0) * ceil(K/K0) + fill. Systolic: SCALE-Sim's closed forms. These two
/// are not done before the share's weights are decoded.
uint64_t ArrayCycles(const Array& array, const Contraction& c);
/// How often a ublock machine adds to each output: per subkernel of at most 8 x 8 taps passes of 4 * reduction channels
/// of a tap, or of 8 channels of reduction / 2 taps if that keeps it busier; of a depthwise layer 4 taps.
uint64_t UblockPasses(const Array& array, const Contraction& c);
/// MACs that all cores do in a cycle.
uint64_t PeakMacs(const Array& array);
template <typename T>
Contraction ContractionOf(const T& op, Type type) {
  return {op.out_height,
          op.out_width,
          op.out_channels,
          op.kernel_h,
          op.kernel_w,
          op.channels,
          T::kOp == MicroOp::kDepthwise,
          uint64_t{op.height} * op.width * op.channels * FeatureBytes(type)};
}

/// Ticks of a command of the MAC or vector pipe, the link left out; 0 for any other.
Ticks ComputeTicks(const Machine& machine, const Command& command);

/// Ticks of a contraction beyond the `array`'s, for what every core needs: it comes on their one link, while they
/// compute. With channels split these are the features (none of a depthwise layer), with rows split the weights.
Ticks LinkTicks(const Machine& machine, const Contraction& c, Ticks array);
/// Of a command; 0 if it is no contraction.
Ticks LinkTicks(const Machine& machine, const Command& command, Ticks array);

/// A Copy as the memory sees it: bursts of its external side, or one block on chip. On chip a run of bytes takes whole
/// cycles of the pipe's port, once there are several.
struct Traffic {
  int memory = -1;  ///< -1: on chip.
  bool write = false;
  uint64_t bytes = 0;
  uint64_t bursts = 1;
  uint64_t runs = 1, run_bytes = 0;  ///< On chip.
};
Traffic TrafficOf(const Machine& machine, const StreamHeader& header, const Copy& op);

/// Ticks from one burst to the next while `sharing` transfers use the memory: the slowest of the memory's share, the
/// pipe's port, and latency / outstanding (Little's law).
Ticks BurstTicks(const Machine& machine, Pipe pipe, const Traffic& traffic, uint32_t sharing);
/// Whether latency / outstanding is the slowest of them, for a transfer alone.
bool LatencyBound(const Machine& machine, Pipe pipe, const Traffic& traffic);
/// Ticks of a transfer alone, its latency left out.
Ticks TransferTicks(const Machine& machine, Pipe pipe, const Traffic& traffic);
/// Ticks from the last burst's issue to its data.
Ticks LatencyTicks(const Machine& machine, const Traffic& traffic);

}  // namespace takt::npu

#endif  // TAKT_PORTS_NPU_EMU_MODEL_COST_H_
