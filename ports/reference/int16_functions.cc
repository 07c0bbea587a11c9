// leaky_relu, sigmoid_table
#include "engine/ops/checks.h"
#include "ports/kernel_util/arithmetic.h"
#include "ports/kernel_util/recurrent.h"
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

void RunSigmoidTable(const KernelCall& call) {
  const auto& p = call.params<schema::SigmoidTableParams>();
  const auto* table = call.inputs[1].as<const int32_t>();
  const auto* in = call.inputs[0].as<const int16_t>();
  auto* out = call.outputs[0].as<int16_t>();
  const int32_t round = p.shift() > 0 ? 1 << (p.shift() - 1) : 0;
  const uint32_t size = call.outputs[0].size();
  for (uint32_t i = 0; i < size; ++i) {
    const auto scaled = static_cast<int32_t>((int64_t{in[i]} * p.multiplier() + round) >> p.shift());
    const bool logistic = p.function() == schema::UnaryFunction::logistic;
    out[i] = logistic ? LogisticTflite(table, scaled) : TanhTflite(table, scaled);
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
