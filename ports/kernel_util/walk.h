// Walks rows of up to kMaxRank dims over N buffers with element strides of their own.
#ifndef TAKT_PORTS_KERNEL_UTIL_WALK_H_
#define TAKT_PORTS_KERNEL_UTIL_WALK_H_

#include <cstddef>
#include <cstdint>

#include "engine/core/kernel.h"

namespace takt {

template <int N>
struct Walk {
  int rank = 0;
  int32_t dims[kMaxRank] = {};
  ptrdiff_t strides[N][kMaxRank] = {};

  /// Elements of the last dim, and each buffer's step along it.
  int32_t row() const { return rank == 0 ? 1 : dims[rank - 1]; }
  ptrdiff_t step(int n) const { return rank == 0 ? 0 : strides[n][rank - 1]; }
};

/// Cells of dims [first, end).
inline size_t Product(const int32_t* dims, int first, int end) {
  size_t n = 1;
  for (int d = first; d < end; ++d) n *= static_cast<size_t>(dims[d]);
  return n;
}

/// Dense row-major strides of `t` in elements.
inline void DenseStrides(const TensorRef& t, ptrdiff_t* strides) {
  ptrdiff_t step = 1;
  for (int d = t.rank - 1; d >= 0; --d) {
    strides[d] = step;
    step *= t.dims[d];
  }
}

/// The call's first N inputs, broadcast to its output's shape; one row if nothing broadcasts.
template <int N>
Walk<N> BroadcastWalk(const KernelCall& call) {
  const TensorRef& y = call.outputs[0];
  Walk<N> walk;
  bool equal = true;
  for (int n = 0; n < N; ++n) equal = equal && call.inputs[n].size() == y.size();
  if (equal) {
    walk.rank = 1;
    walk.dims[0] = static_cast<int32_t>(y.size());
    for (int n = 0; n < N; ++n) walk.strides[n][0] = 1;
    return walk;
  }
  walk.rank = y.rank;
  for (int d = 0; d < y.rank; ++d) walk.dims[d] = y.dims[d];
  for (int n = 0; n < N; ++n) {
    const TensorRef& t = call.inputs[n];
    const int missing = y.rank - t.rank;
    DenseStrides(t, walk.strides[n] + missing);
    for (int d = 0; d < t.rank; ++d)
      if (t.dims[d] == 1) walk.strides[n][missing + d] = 0;
  }
  return walk;
}

/// Calls f(const ptrdiff_t (&offsets)[N]) at the start of each row, in row-major order.
template <int N, typename F>
void ForEachRow(const Walk<N>& walk, F f) {
  int32_t index[kMaxRank] = {};
  ptrdiff_t offsets[N] = {};
  while (true) {
    f(offsets);
    int d = walk.rank - 2;
    for (; d >= 0; --d) {
      for (int n = 0; n < N; ++n) offsets[n] += walk.strides[n][d];
      if (++index[d] < walk.dims[d]) break;
      for (int n = 0; n < N; ++n) offsets[n] -= walk.strides[n][d] * walk.dims[d];
      index[d] = 0;
    }
    if (d < 0) return;
  }
}

/// out[i] = f(a[i], b[i]), a and b (of type E) broadcast to the output's shape.
template <typename E, typename Out = E, typename F>
void ForEachPair(const KernelCall& call, F f) {
  const Walk<2> walk = BroadcastWalk<2>(call);
  const E* in[2] = {call.inputs[0].as<const E>(), call.inputs[1].as<const E>()};
  Out* out = call.outputs[0].as<Out>();
  ForEachRow(walk, [&](const ptrdiff_t(&at)[2]) {
    const E *a = in[0] + at[0], *b = in[1] + at[1];
    for (int32_t i = 0; i < walk.row(); ++i, a += walk.step(0), b += walk.step(1)) *out++ = f(*a, *b);
  });
}

}  // namespace takt

#endif  // TAKT_PORTS_KERNEL_UTIL_WALK_H_
