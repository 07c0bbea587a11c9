// add, mul
#include "engine/ops/checks.h"
#include "ports/kernel_util/arithmetic.h"
#include "ports/kernel_util/walk.h"
#include "ports/reference/kernels.h"

namespace takt::reference {
namespace {

/// out[i] = f(a[i], b[i]) with a and b broadcast to the output's shape.
template <typename E, typename F>
void ForEachPair(const KernelCall& call, F f) {
  const TensorRef& y = call.outputs[0];
  const E* in[2] = {call.inputs[0].as<const E>(), call.inputs[1].as<const E>()};
  E* out = y.as<E>();
  Walk<2> walk;
  if (call.inputs[0].size() == y.size() && call.inputs[1].size() == y.size()) {
    walk.rank = 1;
    walk.dims[0] = static_cast<int32_t>(y.size());
    walk.strides[0][0] = walk.strides[1][0] = 1;
  } else {
    walk.rank = y.rank;
    for (int d = 0; d < y.rank; ++d) walk.dims[d] = y.dims[d];
    for (int n = 0; n < 2; ++n) {
      const TensorRef& t = call.inputs[n];
      const int missing = y.rank - t.rank;
      DenseStrides(t, walk.strides[n] + missing);
      for (int d = 0; d < t.rank; ++d)
        if (t.dims[d] == 1) walk.strides[n][missing + d] = 0;
    }
  }
  ForEachRow(walk, [&](const ptrdiff_t(&at)[2]) {
    const E *a = in[0] + at[0], *b = in[1] + at[1];
    for (int32_t i = 0; i < walk.row(); ++i, a += walk.step(0), b += walk.step(1)) *out++ = f(*a, *b);
  });
}

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
  const auto& p = call.params<schema::MulParams>();
  const A output(p.clamp(), p.output_zero_point());
  ForEachPair<E>(call, [&](E a, E b) {
    return output.One(
        static_cast<typename A::Accumulator>(Centered(a, p.a_zero_point()) * Centered(b, p.b_zero_point())), p);
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
