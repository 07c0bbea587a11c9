// add, mul
#include "engine/ops/checks.h"
#include "ports/kernel_util/arithmetic.h"
#include "ports/kernel_util/walk.h"
#include "ports/reference/kernels.h"

namespace takt::reference {
namespace {

template <typename A>
void RunAdd(const KernelCall& call) {
  const auto& p = call.params<schema::AddParams>();
  if constexpr (A::kNumerics == Numerics::kAny) {
    const Float32 output(p.clamp(), 0);
    const float sign = p.function() == schema::AddFunction::add ? 1.0f : -1.0f;
    ForEachPair<float>(call, [&](float a, float b) { return output.Clamped(a + sign * b); });
  } else {
    using E = typename A::Element;
    ForEachPair<E>(call, [&](E a, E b) { return AddStored<A>(p, a, b); });
  }
}

template <typename A>
void RunMul(const KernelCall& call) {
  using E = typename A::Element;
  using Wide = typename A::Accumulator;
  const auto& p = call.params<schema::MulParams>();
  const A output(p.clamp(), p.output_zero_point());
  ForEachPair<E>(call, [&](E a, E b) {
    return output.One(Wide(Centered(a, p.a_zero_point())) * Wide(Centered(b, p.b_zero_point())), p);
  });
}

template <typename A>
constexpr Kernel AddRow(DataType type) {
  return {{Op::kAdd, A::kNumerics, Layout::kNeutral, {type, type, type}}, &CheckAdd<A::kNumerics>, &RunAdd<A>};
}
template <typename A>
constexpr Kernel MulRow(DataType type) {
  return {{Op::kMul, A::kNumerics, Layout::kNeutral, {type, type, type}}, &CheckMul<A::kNumerics>, &RunMul<A>};
}

}  // namespace

constexpr Kernel kAddInt8Fp32Rne = AddRow<Fp32Rne>(DataType::kInt8);
constexpr Kernel kAddInt8Tflite = AddRow<Tflite>(DataType::kInt8);
constexpr Kernel kAddInt16Fp32Rne = AddRow<Fp32Rne16>(DataType::kInt16);
constexpr Kernel kAddInt16Tflite = AddRow<Tflite16Narrow>(DataType::kInt16);
constexpr Kernel kAddFloat32 = AddRow<Float32>(DataType::kFloat32);
constexpr Kernel kMulInt8Fp32Rne = MulRow<Fp32Rne>(DataType::kInt8);
constexpr Kernel kMulInt8Tflite = MulRow<Tflite>(DataType::kInt8);
constexpr Kernel kMulInt16Fp32Rne = MulRow<Fp32Rne16>(DataType::kInt16);
constexpr Kernel kMulInt16Tflite = MulRow<Tflite16Narrow>(DataType::kInt16);
constexpr Kernel kMulFloat32 = MulRow<Float32>(DataType::kFloat32);

}  // namespace takt::reference
