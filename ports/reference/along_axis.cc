// arg_reduce, cumulative_sum
#include <type_traits>

#include "engine/ops/checks.h"
#include "ports/reference/kernels.h"
#include "schema/plan_generated.h"

namespace takt::reference {
namespace {

/// A tensor as [outer, length, inner] with `axis` in the middle.
struct Split {
  int32_t outer = 1, length, inner = 1;
  Split(const TensorRef& x, int axis) : length(x.dims[axis]) {
    for (int d = 0; d < axis; ++d) outer *= x.dims[d];
    for (int d = axis + 1; d < x.rank; ++d) inner *= x.dims[d];
  }
};

/// Calls f(start, output) for each line along the axis; elements are `inner` apart.
template <typename F>
void ForEachLine(const Split& s, F f) {
  for (int32_t o = 0; o < s.outer; ++o)
    for (int32_t i = 0; i < s.inner; ++i)
      f(static_cast<ptrdiff_t>(o) * s.length * s.inner + i, static_cast<ptrdiff_t>(o) * s.inner + i);
}

template <typename E, typename Index>
void RunArgReduce(const KernelCall& call) {
  const auto& p = call.params<schema::ArgReduceParams>();
  const Split s(call.inputs[0], p.axis());
  ForEachLine(s, [&](ptrdiff_t start, ptrdiff_t to) {
    const E* x = call.inputs[0].as<const E>() + start;
    int32_t best = 0;
    for (int32_t k = 1; k < s.length; ++k) {
      const E v = x[static_cast<ptrdiff_t>(k) * s.inner], at_best = x[static_cast<ptrdiff_t>(best) * s.inner];
      if (p.smallest() ? v < at_best : v > at_best) best = k;
    }
    call.outputs[0].as<Index>()[to] = best;
  });
}

/// Integers wrap.
template <typename E>
E Sum(E a, E b) {
  if constexpr (std::is_integral_v<E>) {
    using U = std::make_unsigned_t<E>;
    return static_cast<E>(static_cast<U>(a) + static_cast<U>(b));
  } else {
    return a + b;
  }
}

template <typename E>
void RunCumulativeSum(const KernelCall& call) {
  const auto& p = call.params<schema::CumulativeSumParams>();
  const Split s(call.inputs[0], p.axis());
  ForEachLine(s, [&](ptrdiff_t start, ptrdiff_t) {
    E sum = 0;
    for (int32_t k = 0; k < s.length; ++k) {
      const ptrdiff_t at = start + static_cast<ptrdiff_t>(p.reverse() ? s.length - 1 - k : k) * s.inner;
      const E before = sum;
      sum = Sum(sum, call.inputs[0].as<const E>()[at]);
      call.outputs[0].as<E>()[at] = p.exclusive() ? before : sum;
    }
  });
}

template <typename E, typename Index>
constexpr Kernel ArgRow() {
  return {{Op::kArgReduce, Numerics::kAny, Layout::kNeutral, {kDataTypeOf<E>, DataType::kNone, kDataTypeOf<Index>}},
          &CheckArgReduce<Numerics::kAny>,
          &RunArgReduce<E, Index>};
}
template <typename E>
constexpr Kernel SumRow() {
  return {{Op::kCumulativeSum, Numerics::kAny, Layout::kNeutral, {kDataTypeOf<E>, DataType::kNone, kDataTypeOf<E>}},
          &CheckCumulativeSum<Numerics::kAny>,
          &RunCumulativeSum<E>};
}

}  // namespace

constexpr Kernel kArgReduceFloat32ToInt32 = ArgRow<float, int32_t>();
constexpr Kernel kArgReduceFloat32ToInt64 = ArgRow<float, int64_t>();
constexpr Kernel kArgReduceInt8ToInt32 = ArgRow<int8_t, int32_t>();
constexpr Kernel kArgReduceInt8ToInt64 = ArgRow<int8_t, int64_t>();
constexpr Kernel kArgReduceInt32ToInt32 = ArgRow<int32_t, int32_t>();
constexpr Kernel kArgReduceInt32ToInt64 = ArgRow<int32_t, int64_t>();
constexpr Kernel kCumulativeSumFloat32 = SumRow<float>();
constexpr Kernel kCumulativeSumInt32 = SumRow<int32_t>();
constexpr Kernel kCumulativeSumInt64 = SumRow<int64_t>();

}  // namespace takt::reference
