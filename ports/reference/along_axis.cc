// arg_reduce, cumulative_sum, top_k, reverse_sequence
#include <cstring>
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

/// Keeps the best of what it has seen, in order, in the output itself.
template <typename E, typename Index>
void TopK(const KernelCall& call) {
  const auto& p = call.params<schema::TopKParams>();
  const Split s(call.inputs[0], p.axis());
  const int32_t k = call.outputs[0].dims[p.axis()];
  ForEachLine(s, [&](ptrdiff_t start, ptrdiff_t) {
    const E* x = call.inputs[0].as<const E>() + start;
    const ptrdiff_t to = start / (static_cast<ptrdiff_t>(s.length) * s.inner) * k * s.inner + start % s.inner;
    E* values = call.outputs[0].as<E>() + to;
    Index* indices = call.outputs[1].as<Index>() + to;
    for (int32_t i = 0; i < s.length; ++i) {
      const E v = x[static_cast<ptrdiff_t>(i) * s.inner];
      ptrdiff_t at = i < k ? i : k;
      for (; at > 0; --at) {
        const E before = values[(at - 1) * s.inner];
        if (!(p.smallest() ? v < before : v > before)) break;
        if (at == k) continue;  // The last of k falls out.
        values[at * s.inner] = before;
        indices[at * s.inner] = indices[(at - 1) * s.inner];
      }
      if (at == k) continue;
      values[at * s.inner] = v;
      indices[at * s.inner] = i;
    }
  });
}

template <typename E>
void RunTopK(const KernelCall& call) {
  call.outputs[1].type == DataType::kInt32 ? TopK<E, int32_t>(call) : TopK<E, int64_t>(call);
}

/// I: the type of lengths.
template <typename I>
void RunReverseSequence(const KernelCall& call) {
  const auto& p = call.params<schema::ReverseSequenceParams>();
  const TensorRef& x = call.inputs[0];
  const Split s(x, p.axis()), batch(x, p.batch_axis());
  const size_t element = BitWidth(x.type) / 8;
  const auto* in = x.as<const uint8_t>();
  auto* out = call.outputs[0].as<uint8_t>();
  const auto total = static_cast<ptrdiff_t>(x.size());
  for (ptrdiff_t i = 0; i < total; ++i) {
    const I given = call.inputs[1].as<const I>()[i / batch.inner % batch.length];
    const I length = given < 0 ? 0 : given < s.length ? given : s.length;
    const ptrdiff_t cell = i / s.inner % s.length;
    const ptrdiff_t from = cell < length ? i + (static_cast<ptrdiff_t>(length) - 1 - 2 * cell) * s.inner : i;
    std::memcpy(out + static_cast<size_t>(i) * element, in + static_cast<size_t>(from) * element, element);
  }
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
template <typename E>
constexpr Kernel TopKRow() {
  return {{Op::kTopK, Numerics::kAny, Layout::kNeutral, {kDataTypeOf<E>, DataType::kNone, kDataTypeOf<E>}},
          &CheckTopK<Numerics::kAny>,
          &RunTopK<E>};
}
template <typename I>
constexpr Kernel ReverseRow(DataType type) {
  return {{Op::kReverseSequence, Numerics::kAny, Layout::kNeutral, {type, kDataTypeOf<I>, type}},
          &CheckReverseSequence<Numerics::kAny>,
          &RunReverseSequence<I>};
}

}  // namespace

constexpr Kernel kArgReduceFloat32ToInt32 = ArgRow<float, int32_t>();
constexpr Kernel kArgReduceFloat32ToInt64 = ArgRow<float, int64_t>();
constexpr Kernel kArgReduceInt8ToInt32 = ArgRow<int8_t, int32_t>();
constexpr Kernel kArgReduceInt8ToInt64 = ArgRow<int8_t, int64_t>();
constexpr Kernel kArgReduceInt16ToInt32 = ArgRow<int16_t, int32_t>();
constexpr Kernel kArgReduceInt16ToInt64 = ArgRow<int16_t, int64_t>();
constexpr Kernel kArgReduceInt32ToInt32 = ArgRow<int32_t, int32_t>();
constexpr Kernel kArgReduceInt32ToInt64 = ArgRow<int32_t, int64_t>();
constexpr Kernel kCumulativeSumFloat32 = SumRow<float>();
constexpr Kernel kCumulativeSumInt32 = SumRow<int32_t>();
constexpr Kernel kCumulativeSumInt64 = SumRow<int64_t>();
constexpr Kernel kTopKFloat32 = TopKRow<float>();
constexpr Kernel kTopKInt8 = TopKRow<int8_t>();
constexpr Kernel kTopKInt16 = TopKRow<int16_t>();
constexpr Kernel kTopKInt32 = TopKRow<int32_t>();
constexpr Kernel kTopKInt64 = TopKRow<int64_t>();
constexpr Kernel kReverseSequenceFloat32 = ReverseRow<int32_t>(DataType::kFloat32);
constexpr Kernel kReverseSequenceInt8 = ReverseRow<int32_t>(DataType::kInt8);
constexpr Kernel kReverseSequenceInt16 = ReverseRow<int32_t>(DataType::kInt16);
constexpr Kernel kReverseSequenceInt32 = ReverseRow<int32_t>(DataType::kInt32);
constexpr Kernel kReverseSequenceInt64 = ReverseRow<int32_t>(DataType::kInt64);
constexpr Kernel kReverseSequenceBool = ReverseRow<int32_t>(DataType::kBool);
constexpr Kernel kReverseSequenceFloat32ByInt64 = ReverseRow<int64_t>(DataType::kFloat32);
constexpr Kernel kReverseSequenceInt8ByInt64 = ReverseRow<int64_t>(DataType::kInt8);
constexpr Kernel kReverseSequenceInt16ByInt64 = ReverseRow<int64_t>(DataType::kInt16);
constexpr Kernel kReverseSequenceInt32ByInt64 = ReverseRow<int64_t>(DataType::kInt32);
constexpr Kernel kReverseSequenceInt64ByInt64 = ReverseRow<int64_t>(DataType::kInt64);
constexpr Kernel kReverseSequenceBoolByInt64 = ReverseRow<int64_t>(DataType::kBool);

}  // namespace takt::reference
