// Oracles of ops whose operands broadcast.
#ifndef TAKT_TESTS_OPS_BROADCAST_H_
#define TAKT_TESTS_OPS_BROADCAST_H_

#include <algorithm>

#include "tests/ops/op_test.h"

namespace takt::test {

/// The shape to which all operands broadcast.
inline Dims BroadcastDims(const Inputs& in) {
  Dims dims;
  for (const Filled& t : in) {
    if (t.dims.size() > dims.size()) dims.insert(dims.begin(), t.dims.size() - dims.size(), 1);
    for (size_t d = 0; d < t.dims.size(); ++d) {
      int32_t& dim = dims[dims.size() - 1 - d];
      dim = std::max(dim, t.dims[t.dims.size() - 1 - d]);
    }
  }
  return dims;
}

/// y[i] = f(element of a, element of b), broadcast.
template <typename F>
Values Pairs(const Inputs& in, F f) {
  Values y(BroadcastDims(in));
  for (size_t i = 0; i < y.v.size(); ++i)
    y[i] = f(BroadcastIndex(y.dims, in[0].dims, i), BroadcastIndex(y.dims, in[1].dims, i));
  return y;
}

}  // namespace takt::test

#endif  // TAKT_TESTS_OPS_BROADCAST_H_
