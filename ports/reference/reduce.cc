// mean, reduce
#include <type_traits>

#include "engine/ops/checks.h"
#include "ports/kernel_util/arithmetic.h"
#include "ports/kernel_util/walk.h"
#include "ports/reference/kernels.h"

namespace takt::reference {
namespace {

/// Walks over the kept dims of the input, and over those that are reduced.
struct Reduction {
  Walk<1> kept, reduced;
  uint32_t count = 1;  ///< Elements for each output.

  template <typename Params>
  Reduction(const TensorRef& x, const Params& p) {
    uint32_t mask = 0;
    for (uint32_t i = 0; i < p.count(); ++i) mask |= 1u << p.axes()->Get(static_cast<uint16_t>(i));
    ptrdiff_t strides[kMaxRank] = {};
    DenseStrides(x, strides);
    for (int d = 0; d < x.rank; ++d) {
      Walk<1>& walk = (mask >> d & 1) != 0 ? reduced : kept;
      walk.dims[walk.rank] = x.dims[d];
      walk.strides[0][walk.rank++] = strides[d];
      if (&walk == &reduced) count *= static_cast<uint32_t>(x.dims[d]);
    }
  }

  /// Calls f(first element) for each output, in order.
  template <typename E, typename F>
  void ForEachOutput(const E* x, F f) const {
    ForEachRow(kept, [&](const ptrdiff_t(&at)[1]) {
      const E* base = x + at[0];
      for (int32_t i = 0; i < kept.row(); ++i, base += kept.step(0)) f(base);
    });
  }

  /// Calls f(element) for each element of the output whose first is `base`.
  template <typename E, typename F>
  void ForEachElement(const E* base, F f) const {
    ForEachRow(reduced, [&](const ptrdiff_t(&at)[1]) {
      const E* in = base + at[0];
      for (int32_t i = 0; i < reduced.row(); ++i, in += reduced.step(0)) f(*in);
    });
  }
};

template <typename A>
void RunMean(const KernelCall& call) {
  using E = typename A::Element;
  using Acc = typename A::Accumulator;
  const auto& p = call.params<schema::MeanParams>();
  const Reduction reduction(call.inputs[0], p);
  const A output(p.clamp(), p.output_zero_point());
  E* out = call.outputs[0].as<E>();
  reduction.ForEachOutput(call.inputs[0].as<const E>(), [&](const E* base) {
    Acc sum = 0;
    reduction.ForEachElement(base, [&sum](E v) { sum += static_cast<Acc>(v); });
    if constexpr (A::kNumerics == Numerics::kAny)
      *out++ = output.Clamped(sum / static_cast<float>(reduction.count));
    else
      *out++ = output.One(sum - reduction.count * static_cast<uint32_t>(int32_t{p.input_zero_point()}), p);
  });
}

template <typename E>
E Combine(schema::ReduceFunction function, E acc, E v) {
  using enum schema::ReduceFunction;
  using U = typename std::conditional_t<std::is_integral_v<E>, std::make_unsigned<E>, std::type_identity<E>>::type;
  switch (function) {
    case sum:
      return static_cast<E>(static_cast<U>(acc) + static_cast<U>(v));
    case product:
      return static_cast<E>(static_cast<U>(acc) * static_cast<U>(v));
    case maximum:
      return v > acc ? v : acc;
    case minimum:
      return v < acc ? v : acc;
    case any:
      return acc != 0 || v != 0;
    case all:
      return acc != 0 && v != 0;
  }
  return acc;
}

/// Booleans as uint8_t.
template <typename E>
void RunReduce(const KernelCall& call) {
  using enum schema::ReduceFunction;
  const auto& p = call.params<schema::ReduceParams>();
  const Reduction reduction(call.inputs[0], p);
  const bool from_first = p.function() == maximum || p.function() == minimum;
  const E neutral = p.function() == product || p.function() == all ? 1 : 0;
  E* out = call.outputs[0].as<E>();
  reduction.ForEachOutput(call.inputs[0].as<const E>(), [&](const E* base) {
    E acc = from_first ? *base : neutral;
    reduction.ForEachElement(base, [&](E v) { acc = Combine(p.function(), acc, v); });
    *out++ = acc;
  });
}

template <typename A>
constexpr Kernel MeanRow(DataType type) {
  return {{Op::kMean, A::kNumerics, Layout::kNeutral, {type, DataType::kNone, type}},
          &CheckMean<A::kNumerics>,
          &RunMean<A>};
}
template <typename E>
constexpr Kernel ReduceRow(DataType type) {
  return {{Op::kReduce, Numerics::kAny, Layout::kNeutral, {type, DataType::kNone, type}},
          &CheckReduce<Numerics::kAny>,
          &RunReduce<E>};
}

}  // namespace

constexpr Kernel kMeanInt8Fp32Rne = MeanRow<Fp32Rne>(DataType::kInt8);
constexpr Kernel kMeanInt8Tflite = MeanRow<Tflite>(DataType::kInt8);
constexpr Kernel kMeanInt16Fp32Rne = MeanRow<Fp32Rne16>(DataType::kInt16);
constexpr Kernel kMeanInt16Tflite = MeanRow<Tflite16Narrow>(DataType::kInt16);
constexpr Kernel kMeanFloat32 = MeanRow<Float32>(DataType::kFloat32);
constexpr Kernel kReduceFloat32 = ReduceRow<float>(DataType::kFloat32);
constexpr Kernel kReduceInt8 = ReduceRow<int8_t>(DataType::kInt8);
constexpr Kernel kReduceInt16 = ReduceRow<int16_t>(DataType::kInt16);
constexpr Kernel kReduceInt32 = ReduceRow<int32_t>(DataType::kInt32);
constexpr Kernel kReduceInt64 = ReduceRow<int64_t>(DataType::kInt64);
constexpr Kernel kReduceBool = ReduceRow<uint8_t>(DataType::kBool);

}  // namespace takt::reference
