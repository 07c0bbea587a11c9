// depthwise_conv2d
#include <gtest/gtest.h>

#include "schema/plan_generated.h"
#include "tests/ops/window.h"

namespace takt::test {
namespace {

/// Accumulators; weights 1HWO, output channel o reads input channel o / multiplier.
Results Convolve(const OpCase& c, const Inputs& in) {
  const Dims& w = in[1].dims;
  const auto xc = static_cast<size_t>(in[0].dims[3]), yc = static_cast<size_t>(w[3]);
  Dims dims = ForEachCell(in[0].dims, w[1], w[2], WindowOf(c), [](size_t, size_t, size_t) {});
  dims[3] = w[3];
  Values y(dims);
  for (size_t i = 0; i < y.v.size(); ++i) y[i] = in[2].centered[i % yc];
  ForEachCell(in[0].dims, w[1], w[2], WindowOf(c), [&](size_t out, size_t pixel, size_t cell) {
    for (size_t o = 0; o < yc; ++o)
      y[out * yc + o] += in[0].centered[pixel * xc + o / (yc / xc)] * in[1].centered[cell * yc + o];
  });
  return {y};
}

const OpTraits kDepthwise = {
    .op = Op::kDepthwiseConv2d, .oracle = Convolve, .unit = ContractionUnit, .wide_sums = true};

OpCase Case(Dims x, Dims weights, Window w, const char* activation = "none", float out_scale = 0.05f, int axis = 3) {
  const int32_t channels = weights[3];
  return {{Int8(std::move(x)), Weights(std::move(weights), axis), Bias(channels)},
          {Int8({}, out_scale, 7)},
          WindowAttributes(w, activation)};
}

TEST(DepthwiseConv2d, EqualsOracle) {
  const std::vector<OpCase> cases = {
      Case({1, 5, 6, 3}, {1, 3, 3, 3}, {{1, 1}, {1, 1}, {1, 1, 1, 1}}),
      Case({2, 7, 5, 4}, {1, 3, 2, 12}, {{2, 2}, {1, 1}, {1, 0, 1, 1}}, "relu"),  // multiplier 3
      Case({1, 9, 8, 17}, {1, 3, 3, 17}, {{1, 1}, {2, 3}, {2, 3, 2, 3}}, "relu6",
           0.02f),  // more than one block of channels
      Case({1, 4, 4, 1}, {1, 4, 4, 33}, {}, "relu_n1_to_1"),
      Case({1, 2, 2, 5}, {1, 3, 3, 5}, {{1, 1}, {1, 1}, {4, 4, 4, 4}}),  // windows wholly in the padding
      Case({3, 1, 1, 1}, {1, 1, 1, 1}, {}),
      Case({1, 6, 6, 3}, {1, 5, 5, 3}, {{2, 1}, {1, 1}, {2, 2, 2, 2}}, "none", 0.02f, -1),
      Case({1, 6, 6, 2}, {1, 3, 3, 2}, {}, "none", 1e-4f)};
  RunCases(kDepthwise, cases);
  RunCases(kDepthwise, Wide(cases));
  RunCases(kDepthwise, Wide(cases, DataType::kInt32));
  OpCase extreme = Case({1, 4, 4, 3}, {1, 4, 4, 3}, {}, "none", 0.4f);
  extreme.inputs[0] = Int8({1, 4, 4, 3}, 0.5f, 127).Fixed({-128, 127, -128, -127});
  extreme.inputs[1] = extreme.inputs[1].Fixed({-128, -128, 127});
  OpCase weight_zero_point = Case({1, 5, 5, 2}, {1, 3, 3, 2}, {{1, 1}, {1, 1}, {1, 1, 1, 1}});
  weight_zero_point.inputs[1] = Weights({1, 3, 3, 2}, -1, -9);
  RunCases(kDepthwise, {extreme, weight_zero_point});
  RunCases(kDepthwise, Wide({extreme, weight_zero_point}));
}

TEST(DepthwiseConv2d, RejectsWhatBreaksItsRule) {
  using P = schema::DepthwiseConv2dParams;
  const OpCase c = Case({1, 6, 5, 2}, {1, 3, 3, 4}, {{1, 1}, {1, 1}, {1, 1, 1, 1}});
  for (const Numerics numerics : {Numerics::kFp32Rne, Numerics::kTflite})
    ExpectRejections(
        kDepthwise, c, numerics,
        {{"x of rank 4", Site::kOpOperands, [](MutableCall& m) { m.inputs[0].rank = 3; }},
         {"weights of rank 4", Site::kOpOperands, [](MutableCall& m) { m.inputs[1].rank = 3; }},
         {"weights 1HWO", Site::kOpOperands, [](MutableCall& m) { m.dims[1][0] = 2; }},
         {"whole multiplier", Site::kOpOperands, [](MutableCall& m) { m.dims[1][3] = 5; }},
         {"bias of O", Site::kOpOperands, [](MutableCall& m) { m.dims[2][0] = 2; }},
         {"output's channels", Site::kOpOperands, [](MutableCall& m) { m.dims.back()[3] = 2; }},
         {"rows inside the padded input", Site::kOpParams, [](MutableCall& m) { m.dims.back()[1] = 7; }},
         {"stride", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutable_window().mutate_stride_w(0); }},
         {"clamp", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutable_clamp().mutate_min(-129); }},
         {"input zero point", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_input_zero_point(128); }},
         {"weight zero point", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_weight_zero_point(128); }},
         {"output zero point", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_output_zero_point(-129); }},
         {"constant requantization", Site::kOpConstant, [](MutableCall& m) { m.inputs[3].constant = false; }}});
}

}  // namespace
}  // namespace takt::test
