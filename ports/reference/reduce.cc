// mean
#include "engine/ops/checks.h"
#include "ports/kernel_util/arithmetic.h"
#include "ports/kernel_util/walk.h"
#include "ports/reference/kernels.h"

namespace takt::reference {
namespace {

template <typename A>
void RunMean(const KernelCall& call) {
  using E = typename A::Element;
  using Acc = typename A::Accumulator;
  const auto& p = call.params<schema::MeanParams>();
  const TensorRef& x = call.inputs[0];
  const A output(p.clamp(), p.output_zero_point());
  uint32_t mask = 0;
  for (uint16_t i = 0; i < p.count(); ++i) mask |= 1u << p.axes()->Get(i);
  ptrdiff_t strides[kMaxRank] = {};
  DenseStrides(x, strides);
  Walk<1> kept, reduced;
  uint32_t count = 1;
  for (int d = 0; d < x.rank; ++d) {
    Walk<1>& walk = (mask >> d & 1) != 0 ? reduced : kept;
    walk.dims[walk.rank] = x.dims[d];
    walk.strides[0][walk.rank++] = strides[d];
    if (&walk == &reduced) count *= static_cast<uint32_t>(x.dims[d]);
  }
  E* out = call.outputs[0].as<E>();
  ForEachRow(kept, [&](const ptrdiff_t(&at)[1]) {
    const E* base = x.as<const E>() + at[0];
    for (int32_t i = 0; i < kept.row(); ++i, base += kept.step(0)) {
      Acc sum = 0;
      ForEachRow(reduced, [&](const ptrdiff_t(&from)[1]) {
        const E* in = base + from[0];
        for (int32_t r = 0; r < reduced.row(); ++r, in += reduced.step(0)) sum += static_cast<Acc>(*in);
      });
      if constexpr (A::kNumerics == Numerics::kAny)
        *out++ = output.Clamped(sum / static_cast<float>(count));
      else
        *out++ = output.One(sum - count * static_cast<uint32_t>(int32_t{p.input_zero_point()}), p);
    }
  });
}

template <typename A>
constexpr Kernel Row(DataType type) {
  return {{Op::kMean, A::kNumerics, Layout::kNeutral, {type, DataType::kNone, type}},
          &CheckMean<A::kNumerics>,
          &RunMean<A>};
}

}  // namespace

constexpr Kernel kMeanInt8Fp32Rne = Row<Fp32Rne>(DataType::kInt8);
constexpr Kernel kMeanInt8Tflite = Row<Tflite>(DataType::kInt8);
constexpr Kernel kMeanInt16Fp32Rne = Row<Fp32Rne16>(DataType::kInt16);
constexpr Kernel kMeanInt16Tflite = Row<Tflite16Narrow>(DataType::kInt16);
constexpr Kernel kMeanFloat32 = Row<Float32>(DataType::kFloat32);

}  // namespace takt::reference
