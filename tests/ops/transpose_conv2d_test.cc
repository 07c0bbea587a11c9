// transpose_conv2d
#include <gtest/gtest.h>

#include "schema/plan_generated.h"
#include "tests/ops/window.h"

namespace takt::test {
namespace {

/// Accumulators. Scatters: the window of the convolution from the output to the input, backwards.
Results Scatter(const OpCase& c, const Inputs& in) {
  const Dims &x = in[0].dims, &w = in[1].dims;
  const Ints& size = std::get<Ints>(c.attributes.at("size"));
  const auto xc = static_cast<size_t>(x[3]), yc = static_cast<size_t>(w[0]), depth = static_cast<size_t>(w[3]);
  const auto cells = static_cast<size_t>(w[1] * w[2]);
  Values y({x[0], static_cast<int32_t>(size[0]), static_cast<int32_t>(size[1]), w[0]});
  for (size_t i = 0; i < y.v.size(); ++i) y[i] = in[2].centered[i % yc];
  const Dims windows = ForEachCell(y.dims, w[1], w[2], WindowOf(c), [](size_t, size_t, size_t) {});
  ForEachCell(y.dims, w[1], w[2], WindowOf(c), [&](size_t window, size_t pixel, size_t cell) {
    const auto row = static_cast<int32_t>(window) / windows[2] % windows[1];
    const auto column = static_cast<int32_t>(window) % windows[2];
    if (row >= x[1] || column >= x[2]) return;
    const auto n = static_cast<int32_t>(window) / (windows[1] * windows[2]);
    const auto from = static_cast<size_t>((n * x[1] + row) * x[2] + column);
    for (size_t o = 0; o < yc; ++o) {
      const size_t first = o / (yc / (xc / depth)) * depth;
      for (size_t i = 0; i < depth; ++i)
        y[pixel * yc + o] += in[0].centered[from * xc + first + i] * in[1].centered[(o * cells + cell) * depth + i];
    }
  });
  return {y};
}

const OpTraits kTransposeConv2d = {
    .op = Op::kTransposeConv2d, .oracle = Scatter, .unit = ContractionUnit, .wide_sums = true};

OpCase Case(Dims x, Dims weights, Ints size, Window w, const char* activation = "none", float out_scale = 0.09f,
            int axis = 0) {
  const int32_t channels = weights[0];
  OpCase c = {{Int8(std::move(x)), Weights(std::move(weights), axis), Bias(channels)},
              {Int8({}, out_scale, -5)},
              WindowAttributes(w, activation)};
  c.attributes["size"] = std::move(size);
  return c;
}

TEST(TransposeConv2d, EqualsOracle) {
  OpCase weight_zero_point = Case({1, 3, 2, 2}, {3, 2, 2, 2}, {6, 4}, {{2, 2}, {1, 1}, {0, 0, 0, 0}});
  weight_zero_point.inputs[1] = Weights({3, 2, 2, 2}, -1, 21);
  const std::vector<OpCase> cases = {
      Case({1, 3, 4, 3}, {4, 3, 3, 3}, {7, 9}, {{2, 2}, {1, 1}, {0, 0, 0, 0}}),
      Case({2, 4, 3, 4}, {2, 3, 3, 4}, {8, 6}, {{2, 2}, {1, 1}, {0, 0, 1, 1}}, "relu"),   // same
      Case({1, 2, 5, 2}, {3, 4, 2, 2}, {6, 8}, {{3, 1}, {1, 2}, {0, 0, 1, 0}}, "relu6"),  // dilation
      Case({1, 4, 4, 4}, {6, 3, 3, 2}, {9, 9}, {{2, 2}, {1, 1}, {0, 0, 0, 0}}, "none"),   // two groups
      Case({1, 2, 2, 1}, {1, 1, 1, 1}, {7, 7}, {{3, 3}, {1, 1}, {0, 0, 0, 0}}),           // gaps: the bias alone
      Case({1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1}, {}),
      Case({1, 3, 3, 2}, {2, 5, 5, 2}, {3, 3}, {{1, 1}, {1, 1}, {2, 2, 2, 2}}),
      Case({1, 3, 3, 3}, {5, 2, 2, 3}, {6, 6}, {{2, 2}, {1, 1}, {0, 0, 0, 0}}, "none", 0.05f, -1),
      weight_zero_point};
  RunCases(kTransposeConv2d, cases);
  RunCases(kTransposeConv2d, Wide(cases));
  RunCases(kTransposeConv2d, Wide({cases[0], cases[1]}, DataType::kInt32));
}

TEST(TransposeConv2d, RejectsWhatBreaksItsRule) {
  using P = schema::TransposeConv2dParams;
  const OpCase c = Case({1, 3, 4, 4}, {4, 3, 3, 2}, {7, 9}, {{2, 2}, {1, 1}, {0, 0, 0, 0}});
  const std::vector<Rejection> rejections = {
      {"x of rank 4", Site::kOpOperands, [](MutableCall& m) { m.inputs[0].rank = 3; }},
      {"weights of rank 4", Site::kOpOperands, [](MutableCall& m) { m.inputs[1].rank = 3; }},
      {"whole groups", Site::kOpOperands, [](MutableCall& m) { m.dims[1][3] = 3; }},
      {"outputs of whole groups", Site::kOpOperands, [](MutableCall& m) { m.dims[1][0] = 3; }},
      {"bias of O", Site::kOpOperands, [](MutableCall& m) { m.dims[2][0] = 3; }},
      {"output of rank 4", Site::kOpOperands, [](MutableCall& m) { m.outputs[0].rank = 3; }},
      {"output's batch", Site::kOpOperands, [](MutableCall& m) { m.dims.back()[0] = 2; }},
      {"output's channels", Site::kOpOperands, [](MutableCall& m) { m.dims.back()[3] = 3; }},
      {"windows inside the output", Site::kOpParams, [](MutableCall& m) { m.dims[0][1] = 4; }},
      {"stride", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutable_window().mutate_stride_w(0); }},
      {"dilation", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutable_window().mutate_dilation_h(0); }},
      {"clamp", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutable_clamp().mutate_max(1.5f); }},
      {"weight zero point", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_weight_zero_point(128); }},
      {"constant requantization", Site::kOpConstant, [](MutableCall& m) { m.inputs[3].constant = false; }}};
  for (const Numerics numerics : {Numerics::kFp32Rne, Numerics::kTflite})
    ExpectRejections(kTransposeConv2d, c, numerics, rejections);
}

}  // namespace
}  // namespace takt::test
