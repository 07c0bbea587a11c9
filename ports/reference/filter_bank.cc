// filter_bank, filter_bank_square_root, spectral_subtraction, filter_bank_log, pcan
#include <algorithm>
#include <bit>

#include "engine/ops/checks.h"
#include "ports/reference/kernels.h"
#include "schema/plan_generated.h"

namespace takt::reference {
namespace {

void RunFilterBank(const KernelCall& call) {
  const auto* x = call.inputs[0].as<const uint32_t>();
  const auto vector = [&call](size_t i) { return call.inputs[i].as<const int16_t>(); };
  auto* y = call.outputs[0].as<uint64_t>();
  const auto channels = static_cast<uint32_t>(call.outputs[0].dims[0]);
  const auto product = [](int16_t weight, uint32_t v) { return static_cast<uint64_t>(int64_t{weight}) * v; };
  uint64_t carried = 0;  // The unweights' sum of the channel before.
  for (uint32_t c = 0; c <= channels; ++c) {
    const uint32_t* cell = x + vector(3)[c];
    const int16_t *weight = vector(1) + vector(4)[c], *unweight = vector(2) + vector(4)[c];
    uint64_t sum = carried;
    carried = 0;
    for (int32_t i = 0; i < vector(5)[c]; ++i) {
      sum += product(weight[i], cell[i]);
      carried += product(unweight[i], cell[i]);
    }
    if (c > 0) y[c - 1] = sum;
  }
}

/// Digit by digit; rounded to nearest, but not up to 2^(bits of T / 2).
template <typename T>
T SquareRoot(T v) {
  T root = 0;
  for (T bit = T{1} << (8 * sizeof(T) - 2); bit != 0; bit >>= 2) {
    const T trial = root + bit;
    root >>= 1;
    if (v < trial) continue;
    v -= trial;
    root += bit;
  }
  constexpr T kMost = (T{1} << (4 * sizeof(T))) - 1;
  return v > root && root != kMost ? root + 1 : root;
}

/// Roots of values below 2^32 are at most 65535, as of a 32-bit root.
void RunSquareRoot(const KernelCall& call) {
  const auto* x = call.inputs[0].as<const uint64_t>();
  auto* y = call.outputs[0].as<uint32_t>();
  const int32_t bits = *call.inputs[1].as<const int32_t>();
  const uint32_t size = call.inputs[0].size();
  for (uint32_t i = 0; i < size; ++i) {
    const auto low = static_cast<uint32_t>(x[i]);
    const uint32_t root = low == x[i] ? SquareRoot(low) : static_cast<uint32_t>(SquareRoot(x[i]));
    y[i] = root >> std::clamp<int32_t>(bits, 0, 31);
  }
}

void RunSpectralSubtraction(const KernelCall& call) {
  const auto& p = call.params<schema::SpectralSubtractionParams>();
  const auto* x = call.inputs[0].as<const uint32_t>();
  const auto* noise = call.inputs[1].as<const uint32_t>();
  auto* y = call.outputs[0].as<uint32_t>();
  auto* next = call.outputs[1].as<uint32_t>();
  const uint32_t size = call.inputs[0].size();
  for (uint32_t i = 0; i < size; ++i) {
    const bool odd = i % 2 != 0;
    const uint64_t smoothing = odd ? p.alternate_smoothing() : p.smoothing();
    const uint64_t rest = odd ? p.alternate_one_minus_smoothing() : p.one_minus_smoothing();
    const uint32_t signal = x[i] << p.smoothing_bits();
    const auto estimate = static_cast<uint32_t>((signal * smoothing + noise[i] * rest) >> p.bits());
    const uint32_t subtracted = estimate < signal ? (signal - estimate) >> p.smoothing_bits() : 0;
    next[i] = p.clamping() ? std::min(estimate, signal) : estimate;
    y[i] = std::max(subtracted, static_cast<uint32_t>(uint64_t{x[i]} * p.min_signal_remaining() >> p.bits()));
  }
}

/// scale * ln(x), x > 1: log2 in Q16, linear plus a correction from the table.
uint32_t ScaledLog(uint32_t x, const int16_t* table, uint32_t scale) {
  constexpr uint64_t kLn2 = 45426;  // Q16
  constexpr uint32_t kHalf = 1u << 15;
  const uint32_t integer = static_cast<uint32_t>(std::bit_width(x)) - 1;
  const uint32_t above = x - (1u << integer);
  const auto fraction = static_cast<int32_t>(integer < 16 ? above << (16 - integer) : above >> (integer - 16));
  const int32_t segment = fraction >> 9;
  const int32_t slope = table[segment + 1] - table[segment];
  const int32_t correction = table[segment] + (slope * (fraction - (segment << 9)) >> 16);
  const uint32_t log2 = (integer << 16) + static_cast<uint32_t>(fraction + correction);
  const auto natural = static_cast<uint32_t>((kLn2 * log2 + kHalf) >> 16);
  return (scale * natural + kHalf) >> 16;
}

void RunLog(const KernelCall& call) {
  const auto& p = call.params<schema::FilterBankLogParams>();
  const auto* x = call.inputs[0].as<const uint32_t>();
  const auto* table = call.inputs[1].as<const int16_t>();
  auto* y = call.outputs[0].as<int16_t>();
  const uint32_t size = call.inputs[0].size();
  for (uint32_t i = 0; i < size; ++i) {
    const uint32_t scaled = x[i] << p.correction_bits();
    y[i] =
        scaled > 1 ? static_cast<int16_t>(std::min<uint32_t>(ScaledLog(scaled, table, p.scale()), 32767)) : int16_t{0};
  }
}

/// A gain from a table of one parabola for each power of two: value, slope, curvature (and one unused), after the gains
/// of 0 and 1.
int16_t Gain(uint32_t x, const int16_t* gains) {
  if (x <= 2) return gains[x];
  const auto bits = static_cast<int>(std::bit_width(x));
  const int16_t* piece = gains + 4 * bits - 6;
  const auto fraction = static_cast<int32_t>((bits < 11 ? x << (11 - bits) : x >> (bits - 11)) & 0x3FF);
  const auto linear = static_cast<uint32_t>(piece[2] * fraction >> 5) + (static_cast<uint32_t>(int32_t{piece[1]}) << 5);
  const auto product = static_cast<int32_t>(linear * static_cast<uint32_t>(fraction) + (1u << 14));
  return static_cast<int16_t>((product >> 15) + piece[0]);
}

void RunPcan(const KernelCall& call) {
  const int shift = call.params<schema::PcanParams>().snr_shift();
  const auto* x = call.inputs[0].as<const uint32_t>();
  const auto* noise = call.inputs[1].as<const uint32_t>();
  auto* y = call.outputs[0].as<uint32_t>();
  const uint32_t size = call.inputs[0].size();
  for (uint32_t i = 0; i < size; ++i) {
    const auto gain = static_cast<uint32_t>(int32_t{Gain(noise[i], call.inputs[2].as<const int16_t>())});
    const auto ratio = static_cast<uint32_t>(uint64_t{x[i]} * gain >> shift);    // 12 bits of fraction
    y[i] = ratio < (2u << 12) ? ratio * ratio >> 20 : (ratio >> 6) - (1u << 6);  // 6 bits: r^2 / 4 below 2, then r - 1
  }
}

constexpr Kernel Row(Op op, DataType x, DataType second, DataType y, Status (*check)(const KernelCall&, uint64_t&),
                     void (*run)(const KernelCall&)) {
  return {{op, Numerics::kAny, Layout::kNeutral, {x, second, y}}, check, run};
}

}  // namespace

using enum DataType;
constexpr Kernel kFilterBank =
    Row(Op::kFilterBank, kUint32, kInt16, kUint64, &CheckFilterBank<Numerics::kAny>, &RunFilterBank);
constexpr Kernel kFilterBankSquareRoot = Row(Op::kFilterBankSquareRoot, kUint64, kInt32, kUint32,
                                             &CheckFilterBankSquareRoot<Numerics::kAny>, &RunSquareRoot);
constexpr Kernel kSpectralSubtraction = Row(Op::kSpectralSubtraction, kUint32, kUint32, kUint32,
                                            &CheckSpectralSubtraction<Numerics::kAny>, &RunSpectralSubtraction);
constexpr Kernel kFilterBankLog =
    Row(Op::kFilterBankLog, kUint32, kInt16, kInt16, &CheckFilterBankLog<Numerics::kAny>, &RunLog);
constexpr Kernel kPcan = Row(Op::kPcan, kUint32, kUint32, kUint32, &CheckPcan<Numerics::kAny>, &RunPcan);

}  // namespace takt::reference
