// conv2d, conv2d_add
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "schema/plan_generated.h"
#include "tests/ops/window.h"

namespace takt::test {
namespace {

/// Accumulators; weights OHWI, groups = input channels / I.
Values Convolve(const OpCase& c, const Inputs& in) {
  const Dims& w = in[1].dims;
  const auto xc = static_cast<size_t>(in[0].dims[3]), yc = static_cast<size_t>(w[0]), depth = static_cast<size_t>(w[3]);
  const auto cells = static_cast<size_t>(w[1] * w[2]);
  Dims dims = ForEachCell(in[0].dims, w[1], w[2], WindowOf(c), [](size_t, size_t, size_t) {});
  dims[3] = w[0];
  Values y(dims);
  for (size_t i = 0; i < y.v.size(); ++i) y[i] = in[2].centered[i % yc];
  ForEachCell(in[0].dims, w[1], w[2], WindowOf(c), [&](size_t out, size_t pixel, size_t cell) {
    for (size_t o = 0; o < yc; ++o) {
      const size_t first = o / (yc / (xc / depth)) * depth;
      for (size_t i = 0; i < depth; ++i)
        y[out * yc + o] += in[0].centered[pixel * xc + first + i] * in[1].centered[(o * cells + cell) * depth + i];
    }
  });
  return y;
}

const OpTraits kConv2d = {.op = Op::kConv2d,
                          .oracle = [](const OpCase& c, const Inputs& in) { return Results{Convolve(c, in)}; },
                          .unit = ContractionUnit,
                          .wide_sums = true};

OpCase Case(Dims x, Dims weights, Window w, const char* activation = "none", float out_scale = 0.11f, int axis = 0) {
  const int32_t channels = weights[0];
  return {{Int8(std::move(x)), Weights(std::move(weights), axis), Bias(channels)},
          {Int8({}, out_scale, -5)},
          WindowAttributes(w, activation)};
}

OpCase Saturating() {
  OpCase c = Case({1, 4, 4, 16}, {5, 3, 3, 16}, {});
  c.inputs[0] = Int8({1, 4, 4, 16}, 0.5f, -128).Fixed({127, 127, -128});
  c.inputs[1] = c.inputs[1].Fixed({-128});
  c.inputs[2] = Bias(5, 2147483000);  // the sum passes 2^31
  return c;
}
OpCase WeightZeroPoint() {
  OpCase c = Case({1, 5, 5, 2}, {4, 3, 3, 2}, {{1, 1}, {1, 1}, {1, 1, 1, 1}});
  c.inputs[1] = Weights({4, 3, 3, 2}, -1, 17);
  return c;
}

const std::vector<OpCase> kCases = {
    Case({1, 5, 6, 3}, {4, 3, 3, 3}, {{1, 1}, {1, 1}, {1, 1, 1, 1}}),
    Case({2, 7, 7, 4}, {6, 3, 2, 2}, {{2, 2}, {1, 1}, {1, 0, 1, 1}}, "relu"),          // two groups
    Case({1, 9, 8, 2}, {3, 3, 3, 2}, {{1, 2}, {2, 3}, {3, 3, 3, 3}}, "relu6", 0.03f),  // dilation
    Case({3, 4, 4, 8}, {8, 1, 1, 8}, {}, "relu_n1_to_1"),
    Case({1, 3, 3, 1}, {2, 3, 3, 1}, {{1, 1}, {1, 1}, {4, 4, 4, 4}}),  // windows wholly in the padding
    Case({1, 3, 2, 6}, {6, 2, 2, 1}, {{1, 1}, {1, 1}, {0, 1, 5, 2}}),  // a group for each channel
    Case({1, 1, 1, 1}, {1, 1, 1, 1}, {}),
    Case({1, 11, 1, 7}, {5, 4, 1, 7}, {{3, 1}, {2, 1}, {0, 0, 0, 0}}),
    Case({1, 6, 6, 3}, {9, 5, 5, 3}, {{2, 2}, {1, 1}, {2, 2, 2, 2}}, "none", 0.02f,
         -1),                                             // one scale for all channels
    Case({1, 6, 6, 3}, {3, 3, 3, 3}, {}, "none", 30.0f),  // scales far below 1
    Case({1, 6, 6, 3}, {3, 3, 3, 3}, {}, "none", 1e-4f),  // above 1
    Saturating(),
    WeightZeroPoint()};

TEST(Conv2d, EqualsOracle) {
  RunCases(kConv2d, kCases);
  RunCases(kConv2d, Wide(kCases));
  RunCases(kConv2d, Wide(kCases, DataType::kInt32));
}

// The convolution's result is rounded to int8 (quantization kMiddle*), then the add's own arithmetic follows.
constexpr float kMiddleScale = 0.09f;
constexpr int32_t kMiddleZeroPoint = -3;

Results ConvAdd(const OpCase& c, const Inputs& in) {
  Values y = Convolve(c, in);
  for (size_t i = 0; i < y.v.size(); ++i) {
    const double real = y[i] * ContractionUnit(c, i % static_cast<size_t>(y.dims[3]));
    const double q =
        std::clamp(std::nearbyint(real / static_cast<double>(kMiddleScale)) + kMiddleZeroPoint, -128.0, 127.0);
    y[i] = (q - kMiddleZeroPoint) * static_cast<double>(kMiddleScale) + in[3].real[i];
  }
  return {y};
}

TEST(Conv2dAdd, IsWithinOneOfTheOracle) {
  OpCase c = Case({1, 6, 5, 4}, {3, 3, 3, 4}, {{1, 1}, {1, 1}, {1, 1, 1, 1}});
  c.inputs.push_back(Int8({1, 6, 5, 3}, 0.07f, 11));
  c.attributes["conv_scale"] = static_cast<double>(kMiddleScale);
  c.attributes["conv_zero_point"] = int64_t{kMiddleZeroPoint};
  c.attributes["add_activation"] = std::string("none");
  RunCases({.op = Op::kConv2dAdd, .oracle = ConvAdd, .also_float = false, .within = 1}, {c});
}

using schema::Conv2dParams;
const std::vector<Rejection> kRejections = {
    {"x of rank 4", Site::kOpOperands, [](MutableCall& c) { c.inputs[0].rank = 3; }},
    {"weights of rank 4", Site::kOpOperands, [](MutableCall& c) { c.inputs[1].rank = 3; }},
    {"whole groups", Site::kOpOperands, [](MutableCall& c) { c.dims[1][3] = 2; }},
    {"outputs of whole groups", Site::kOpOperands, [](MutableCall& c) { c.dims[1][3] = 1, c.dims[1][0] = 4; }},
    {"bias of rank 1", Site::kOpOperands, [](MutableCall& c) { c.inputs[2].rank = 0; }},
    {"bias of O", Site::kOpOperands, [](MutableCall& c) { c.dims[2][0] = 2; }},
    {"output of rank 4", Site::kOpOperands, [](MutableCall& c) { c.outputs[0].rank = 3; }},
    {"output's batch", Site::kOpOperands, [](MutableCall& c) { c.dims.back()[0] = 2; }},
    {"output's channels", Site::kOpOperands, [](MutableCall& c) { c.dims.back()[3] = 4; }},
    {"stride", Site::kOpParams, [](MutableCall& c) { c.params<Conv2dParams>().mutable_window().mutate_stride_h(0); }},
    {"dilation", Site::kOpParams,
     [](MutableCall& c) { c.params<Conv2dParams>().mutable_window().mutate_dilation_w(0); }},
    {"rows inside the padded input", Site::kOpParams, [](MutableCall& c) { c.dims.back()[1] = 7; }},
    {"columns inside the padded input", Site::kOpParams, [](MutableCall& c) { c.dims.back()[2] = 6; }},
    {"ordered clamp", Site::kOpParams,
     [](MutableCall& c) { c.params<Conv2dParams>().mutable_clamp().mutate_min(128); }},
    {"clamp in range", Site::kOpParams,
     [](MutableCall& c) { c.params<Conv2dParams>().mutable_clamp().mutate_max(128); }},
    {"whole clamp", Site::kOpParams, [](MutableCall& c) { c.params<Conv2dParams>().mutable_clamp().mutate_max(1.5f); }},
    {"clamp is a number", Site::kOpParams,
     [](MutableCall& c) { c.params<Conv2dParams>().mutable_clamp().mutate_min(NAN); }},
    {"input zero point", Site::kOpParams,
     [](MutableCall& c) { c.params<Conv2dParams>().mutate_input_zero_point(128); }},
    {"weight zero point", Site::kOpParams,
     [](MutableCall& c) { c.params<Conv2dParams>().mutate_weight_zero_point(-129); }},
    {"output zero point", Site::kOpParams,
     [](MutableCall& c) { c.params<Conv2dParams>().mutate_output_zero_point(300); }},
    {"constant requantization", Site::kOpConstant, [](MutableCall& c) { c.inputs[3].constant = false; }},
    {"requantization of O", Site::kOpOperands, [](MutableCall& c) { c.dims[3][0] = 2; }},
};

TEST(Conv2d, RejectsWhatBreaksItsRule) {
  const OpCase c = Case({1, 6, 5, 3}, {3, 3, 3, 3}, {{1, 1}, {1, 1}, {1, 1, 1, 1}});
  ExpectRejections(kConv2d, c, Numerics::kFp32Rne, kRejections);
  ExpectRejections(kConv2d, c, Numerics::kTflite, kRejections);
  const OpCase wide = Wide({c})[0];
  const std::vector<Rejection> no_zero_point = {
      {"no zero point", Site::kOpParams, [](MutableCall& m) { m.params<Conv2dParams>().mutate_input_zero_point(1); }},
      {"bias of 64 bits", Site::kOpOperands, [](MutableCall& m) { m.inputs[2].type = DataType::kInt8; }}};
  ExpectRejections(kConv2d, wide, Numerics::kFp32Rne, no_zero_point);
  ExpectRejections(kConv2d, wide, Numerics::kTflite, no_zero_point);
  ExpectRejections(kConv2d, c, Numerics::kFp32Rne,
                   {{"scale below 256", Site::kOpConstant, [](MutableCall& m) { *m.constant<float>(3) = 256; }},
                    {"scale from 2^-32", Site::kOpConstant, [](MutableCall& m) { *m.constant<float>(3) = 0x1p-33f; }},
                    {"scale is a number", Site::kOpConstant, [](MutableCall& m) { *m.constant<float>(3) = NAN; }}});
}

}  // namespace
}  // namespace takt::test
