#include "tests/npu/validation/blocks.h"

#include <algorithm>
#include <limits>

#include "ports/npu_emu/model/cost.h"

namespace takt::npu::validation {
namespace {

constexpr uint32_t kBank = 1024, kOutputBanks = 2, kMaxHeight = 32, kMaxWidth = 64, kMaxDepth = 128;
constexpr uint32_t kSplitDepth = 16, kSubkernel = 8;

/// Banks of the shared RAM, and how many features and accumulators take at once.
struct SharedRam {
  uint32_t banks, feature_granule, accumulator_granule;
};
SharedRam SharedRamOf(const Array& a) {
  switch (uint32_t{a.width} * a.height * a.depth) {
    case 4:
    case 8:
      return {16, 2, 4};
    case 16:
      return {24 - 2, 4, 8};  // two banks are not used
    default:
      return {48 - 2, 8, 16};
  }
}

uint32_t RoundUp(uint32_t n, uint32_t to) {
  return (n + to - 1) / to * to;
}

bool PartKernelFirst(const Layer& l) {
  const uint32_t taps = l.kernel_h * l.kernel_w;
  return l.channels <= 8 || taps * RoundUp(l.channels, 32) > RoundUp(l.channels, 8) * RoundUp(taps, 4);
}

/// The features that a block reads at once.
Block FeaturesOf(const Layer& l, const Array& a, const Block& b) {
  const auto extent = [](uint32_t n, uint32_t stride, uint32_t kernel) {
    return (n - 1) * stride + std::min(kernel, kSubkernel);
  };
  const bool same = l.kind == LayerKind::kDepthwise;
  return {RoundUp(extent(b.height, l.stride_h, (l.kernel_h - 1) * l.dilation_h + 1), a.height),
          RoundUp(extent(b.width, l.stride_w, (l.kernel_w - 1) * l.dilation_w + 1), a.width),
          same ? b.depth : RoundUp(std::min(l.channels, PartKernelFirst(l) ? 16u : 32u), 8)};
}

bool Fits(const SharedRam& ram, const Block& in, const Block& out) {
  const auto banks = [](uint64_t bytes, uint32_t granule) {
    return RoundUp(static_cast<uint32_t>(2 * CeilDiv(bytes, kBank)), granule);
  };
  return kOutputBanks + banks(uint64_t{in.height} * in.width * RoundUp(in.depth, 8), ram.feature_granule) +
             banks(uint64_t{4} * out.height * out.width * RoundUp(out.depth, 8), ram.accumulator_granule) <=
         ram.banks;
}

/// Bytes of features and weights that a layer reads with blocks of this size, per output.
double Fetch(const Layer& l, const Block& in, const Block& out) {
  const double taps = ((l.kernel_w - 1) * l.dilation_w + 1) * ((l.kernel_h - 1) * l.dilation_h + 1);
  const double repeats = static_cast<double>(CeilDiv(l.kernel_w, kSubkernel) * CeilDiv(l.kernel_h, kSubkernel));
  const bool same = l.kind == LayerKind::kDepthwise;
  const double whole = static_cast<double>(CeilDiv(l.out_height, out.height) * CeilDiv(l.out_width, out.width));
  const double exact = static_cast<double>(l.out_height) / out.height * l.out_width / out.width;
  const double weights = taps * l.channels * whole * (same ? 1 : l.out_channels);
  const double features = static_cast<double>(in.height) * in.width * l.channels * repeats * exact *
                          (same ? 1 : static_cast<double>(CeilDiv(l.out_channels, out.depth)));
  const double fetch = (weights + features) / static_cast<double>(l.out_elements());
  const double image = static_cast<double>(l.height) * l.width * l.channels;
  return image < 2.0 * in.height * in.width * in.depth ? fetch / 2 : fetch;
}

}  // namespace

Block ChooseBlock(const Machine& machine, const Layer& l) {
  const Array& a = machine.array;
  const SharedRam ram = SharedRamOf(a);
  const Block most = {RoundUp(std::min(l.out_height, kMaxHeight), a.height),
                      RoundUp(std::min(l.out_width, kMaxWidth), a.width),
                      RoundUp(std::min(l.out_channels, kMaxDepth), a.depth)};
  const auto next = [&](uint32_t depth) { return depth < l.out_channels ? RoundUp(depth, kSplitDepth) : depth; };
  Block best;
  double best_fetch = std::numeric_limits<double>::infinity(), best_coverage = best_fetch;
  for (Block b = {0, 0, next(std::max<uint32_t>(a.depth, std::min(most.depth, kSplitDepth)))}; b.depth <= most.depth;
       b.depth = next(b.depth + a.depth)) {
    for (b.height = a.height; b.height <= most.height; b.height += a.height) {
      for (b.width = a.width; b.width <= most.width; b.width += a.width) {
        const Block in = FeaturesOf(l, a, b);
        if (!Fits(ram, in, b)) continue;
        const double fetch = Fetch(l, in, b);
        if (fetch > best_fetch) continue;
        if (fetch == best_fetch) {
          const double coverage =
              static_cast<double>(l.height) * l.width / (std::min(l.height, in.height) * std::min(l.width, in.width));
          if (coverage > best_coverage || b.height > 4 || b.width > 4) continue;
          best_coverage = coverage;
        } else {
          best_coverage = std::numeric_limits<double>::infinity();
        }
        best_fetch = fetch;
        best = b;
      }
    }
  }
  return best;
}

double WholeBlockCycles(const Machine& machine, const Layer& l, const Block& block) {
  const Block b = {std::min(block.height, l.out_height), std::min(block.width, l.out_width),
                   std::min(block.depth, l.out_channels)};
  const double blocks = static_cast<double>(CeilDiv(l.out_height, b.height) * CeilDiv(l.out_width, b.width) *
                                            CeilDiv(l.out_channels, b.depth));
  const Contraction whole{
      b.height, b.width, b.depth, l.kernel_h, l.kernel_w, l.channels, l.kind == LayerKind::kDepthwise, 0};
  const auto array = static_cast<double>(ArrayCycles(machine.array, whole));
  const Ratio stage = machine.vector[static_cast<int>(VectorFunction::kRequantize)];
  const double output = static_cast<double>(b.height) * b.width * b.depth * stage.num / stage.den;
  return std::max(array, output) * blocks + std::min(array, output);
}

}  // namespace takt::npu::validation
