// max_pool_argmax2d, max_unpool2d
#include <gtest/gtest.h>

#include <limits>

#include "schema/plan_generated.h"
#include "tests/ops/op_test.h"

namespace takt::test {
namespace {

struct Window {
  Ints kernel, strides, pads;
};

Attributes Of(const Window& w) {
  return {{"kernel", w.kernel}, {"strides", w.strides}, {"pads", w.pads}};
}

const Ints& Get(const OpCase& c, const char* name) {
  return std::get<Ints>(c.attributes.at(name));
}

size_t At(const Dims& dims, size_t n, int64_t y, int64_t x, size_t c) {
  return ((n * static_cast<size_t>(dims[1]) + static_cast<size_t>(y)) * static_cast<size_t>(dims[2]) +
          static_cast<size_t>(x)) *
             static_cast<size_t>(dims[3]) +
         c;
}

/// Calls f(window element, batch, row and column of its first cell, channel).
template <typename F>
void Windows(const OpCase& c, const Dims& dims, F f) {
  const Ints &strides = Get(c, "strides"), &pads = Get(c, "pads");
  size_t i = 0;
  for (int32_t n = 0; n < dims[0]; ++n)
    for (int32_t y = 0; y < dims[1]; ++y)
      for (int32_t x = 0; x < dims[2]; ++x)
        for (int32_t ch = 0; ch < dims[3]; ++ch)
          f(i++, static_cast<size_t>(n), y * strides[0] - pads[0], x * strides[1] - pads[1], static_cast<size_t>(ch));
}

bool Inside(const Dims& dims, int64_t y, int64_t x) {
  return y >= 0 && y < dims[1] && x >= 0 && x < dims[2];
}

Results Pool(const OpCase& c, const Inputs& in) {
  const Ints &kernel = Get(c, "kernel"), &strides = Get(c, "strides"), &pads = Get(c, "pads");
  Dims dims = in[0].dims;
  for (size_t d = 0; d < 2; ++d)
    dims[d + 1] = static_cast<int32_t>((dims[d + 1] + pads[d] + pads[d + 2] - kernel[d]) / strides[d] + 1);
  Values y(dims), places(dims);
  Windows(c, dims, [&](size_t i, size_t n, int64_t row, int64_t column, size_t ch) {
    double best = -std::numeric_limits<double>::infinity();
    for (int64_t k = 0; k < kernel[0] * kernel[1]; ++k) {
      const int64_t cell_y = row + k / kernel[1], cell_x = column + k % kernel[1];
      if (!Inside(in[0].dims, cell_y, cell_x)) continue;
      const double v = in[0].real[At(in[0].dims, n, cell_y, cell_x, ch)];
      if (v <= best) continue;
      best = v;
      places[i] = static_cast<double>(k) + 0.1;
    }
    y[i] = best;
  });
  return {y, places};
}
const OpTraits kPool = {.op = Op::kMaxPoolArgmax2d, .oracle = Pool};

Results Unpool(const OpCase& c, const Inputs& in) {
  const Ints &kernel = Get(c, "kernel"), &size = Get(c, "size");
  Values y({in[0].dims[0], static_cast<int32_t>(size[0]), static_cast<int32_t>(size[1]), in[0].dims[3]});
  Windows(c, in[0].dims, [&](size_t i, size_t n, int64_t row, int64_t column, size_t ch) {
    const double place = in[1].real[i];
    if (place < 0 || place >= static_cast<double>(kernel[0] * kernel[1])) return;
    const auto k = static_cast<int64_t>(place);
    const int64_t cell_y = row + k / kernel[1], cell_x = column + k % kernel[1];
    if (Inside(y.dims, cell_y, cell_x)) y[At(y.dims, n, cell_y, cell_x, ch)] = in[0].real[i];
  });
  return {y};
}
const OpTraits kUnpool = {.op = Op::kMaxUnpool2d, .oracle = Unpool};

OpCase PoolCase(Dims dims, const Window& w) {
  return {{Float(std::move(dims))}, {Float({}), Float({})}, Of(w)};
}
/// Some of the places are outside of the window.
OpCase UnpoolCase(const Dims& dims, const Window& w, Ints size) {
  Attributes attributes = Of(w);
  attributes["size"] = std::move(size);
  return {{Float(dims), Float(dims, -1, static_cast<double>(w.kernel[0] * w.kernel[1] + 1))}, {Float({})}, attributes};
}

TEST(MaxPoolArgmax2d, EqualsOracle) {
  OpCase equal = PoolCase({1, 4, 4, 1}, {{2, 2}, {2, 2}, {0, 0, 0, 0}});
  equal.inputs[0] = equal.inputs[0].Fixed({1});
  RunCases(kPool, {PoolCase({1, 4, 6, 3}, {{2, 2}, {2, 2}, {0, 0, 0, 0}}),
                   PoolCase({2, 5, 7, 2}, {{3, 2}, {2, 1}, {1, 0, 1, 1}}),
                   PoolCase({1, 1, 1, 1}, {{1, 1}, {1, 1}, {0, 0, 0, 0}}), equal});
}

TEST(MaxPoolArgmax2d, RejectsWhatBreaksItsRule) {
  using P = schema::Pool2dParams;
  ExpectRejections(kPool, PoolCase({1, 4, 6, 3}, {{2, 2}, {2, 2}, {0, 0, 0, 0}}), Numerics::kFp32Rne,
                   {{"a window", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_kernel_h(0); }},
                    {"windows not in the padding", Site::kOpParams,
                     [](MutableCall& m) { m.params<P>().mutable_window().mutate_pad_top(2); }},
                    {"windows inside", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_kernel_w(4); }},
                    {"channels", Site::kOpOperands, [](MutableCall& m) { m.dims[1][3] = m.dims[2][3] = 2; }},
                    {"a place for each", Site::kOpOperands, [](MutableCall& m) { m.dims[2][1] = 1; }}});
}

TEST(MaxUnpool2d, EqualsOracle) {
  RunCases(kUnpool, {UnpoolCase({1, 2, 3, 3}, {{2, 2}, {2, 2}, {0, 0, 0, 0}}, {4, 6}),
                     UnpoolCase({2, 3, 2, 2}, {{3, 2}, {2, 1}, {1, 0, 0, 0}}, {6, 3}),
                     UnpoolCase({1, 1, 1, 1}, {{1, 1}, {1, 1}, {0, 0, 0, 0}}, {1, 1})});
}

TEST(MaxUnpool2d, RejectsWhatBreaksItsRule) {
  using P = schema::Pool2dParams;
  ExpectRejections(
      kUnpool, UnpoolCase({1, 2, 3, 3}, {{2, 2}, {2, 2}, {0, 0, 0, 0}}, {4, 6}), Numerics::kFp32Rne,
      {{"a window", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_kernel_w(0); }},
       {"windows inside", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutable_window().mutate_stride_h(9); }},
       {"a place for each", Site::kOpOperands, [](MutableCall& m) { m.dims[1][1] = 1; }},
       {"channels", Site::kOpOperands, [](MutableCall& m) { m.dims[2][3] = 2; }}});
}

}  // namespace
}  // namespace takt::test
