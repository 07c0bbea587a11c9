// leaky_relu, sigmoid_table
#include "engine/ops/checks.h"
#include "ports/kernel_util/arithmetic.h"
#include "ports/reference/kernels.h"
#include "schema/plan_generated.h"

namespace takt::reference {
namespace {

/// The output stage's parameters of the values below 0.
struct Negative {
  const schema::LeakyReluParams& p;
  float scale() const { return p.negative_scale(); }
  int32_t multiplier() const { return p.negative_multiplier(); }
  int32_t shift() const { return p.negative_shift(); }
};

template <typename A>
void RunLeakyRelu(const KernelCall& call) {
  const auto& p = call.params<schema::LeakyReluParams>();
  const auto* in = call.inputs[0].as<const int16_t>();
  auto* out = call.outputs[0].as<int16_t>();
  const A output(p.clamp(), 0);
  const uint32_t size = call.outputs[0].size();
  for (uint32_t i = 0; i < size; ++i) {
    const auto v = static_cast<typename A::Accumulator>(in[i]);
    out[i] = in[i] >= 0 ? output.One(v, p) : output.One(v, Negative{p});
  }
}

/// 2^25 * logistic(|x| / 12288 * 2^(bits - 9)), by interpolation between entries that are 2^bits apart.
int32_t Interpolated(const int32_t* table, uint32_t magnitude, int bits, int32_t saturated) {
  const uint32_t entry = magnitude >> bits;
  if (entry >= 255) return saturated;
  const auto rest = static_cast<int32_t>(magnitude & ((1u << bits) - 1));
  return (table[entry] << bits) + rest * (table[entry + 1] - table[entry]);
}

void RunSigmoidTable(const KernelCall& call) {
  const auto& p = call.params<schema::SigmoidTableParams>();
  const auto* table = call.inputs[1].as<const int32_t>();
  const auto* in = call.inputs[0].as<const int16_t>();
  auto* out = call.outputs[0].as<int16_t>();
  const int32_t round = p.shift() > 0 ? 1 << (p.shift() - 1) : 0;
  const uint32_t size = call.outputs[0].size();
  for (uint32_t i = 0; i < size; ++i) {
    const auto scaled = static_cast<int32_t>((int64_t{in[i]} * p.multiplier() + round) >> p.shift());
    const auto magnitude = static_cast<uint32_t>(scaled < 0 ? -scaled : scaled);
    int32_t v = 0;
    if (p.function() == schema::UnaryFunction::logistic) {
      v = Interpolated(table, magnitude, 9, 0x7FFF << 10);
      v = (scaled >= 0 ? v + (1 << 9) : (1 << 25) - v + (1 << 9) - 1) >> 10;
    } else {
      // tanh(x) = 2 * logistic(2 * x) - 1
      v = Interpolated(table, magnitude, 8, 0xFFFF << 8) - (1 << 23);
      v = (scaled >= 0 ? v + (1 << 7) : -v + (1 << 7) - 1) >> 8;
    }
    out[i] = static_cast<int16_t>(v);
  }
}

constexpr DataType kI16 = DataType::kInt16;

template <typename A>
constexpr Kernel LeakyReluRow() {
  return {{Op::kLeakyRelu, A::kNumerics, Layout::kNeutral, {kI16, DataType::kNone, kI16}},
          &CheckLeakyRelu<A::kNumerics>,
          &RunLeakyRelu<A>};
}

}  // namespace

constexpr Kernel kLeakyReluInt16Fp32Rne = LeakyReluRow<Fp32Rne16>();
constexpr Kernel kLeakyReluInt16Tflite = LeakyReluRow<Tflite16Narrow>();
constexpr Kernel kSigmoidTableInt16Tflite = {
    {Op::kSigmoidTable, Numerics::kTflite, Layout::kNeutral, {kI16, DataType::kInt32, kI16}},
    &CheckSigmoidTable<Numerics::kTflite>,
    &RunSigmoidTable};

}  // namespace takt::reference
