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

/// Dense row-major strides of `t` in elements.
inline void DenseStrides(const TensorRef& t, ptrdiff_t* strides) {
  ptrdiff_t step = 1;
  for (int d = t.rank - 1; d >= 0; --d) {
    strides[d] = step;
    step *= t.dims[d];
  }
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

}  // namespace takt

#endif  // TAKT_PORTS_KERNEL_UTIL_WALK_H_
