// conv3d
#include <gtest/gtest.h>

#include "schema/plan_generated.h"
#include "tests/ops/window.h"

namespace takt::test {
namespace {

/// Accumulators; x NDHWC, weights ODHWI, groups = input channels / I.
Results Convolve(const OpCase& c, const Inputs& in) {
  const Dims &x = in[0].dims, &w = in[1].dims;
  const Window win = WindowOf(c);
  Dims dims = {x[0], 0, 0, 0, w[0]};
  for (size_t i = 0; i < 3; ++i) {
    const int64_t room = x[i + 1] + win.pads[i] + win.pads[i + 3] - (w[i + 1] - 1) * win.dilations[i] - 1;
    dims[i + 1] = static_cast<int32_t>(room / win.strides[i] + 1);
  }
  Values y(dims);
  const int64_t depth = w[4], group_outputs = w[0] / (x[4] / depth), cells = w[1] * w[2] * w[3];
  for (size_t i = 0; i < y.v.size(); ++i) {
    const auto o = static_cast<int64_t>(i) % w[0];
    int64_t pixel = static_cast<int64_t>(i) / w[0], at[3];
    for (int d = 2; d >= 0; --d) at[d] = pixel % dims[d + 1], pixel /= dims[d + 1];
    y[i] = in[2].centered[static_cast<size_t>(o)];
    for (int64_t k = 0; k < cells; ++k) {
      const int64_t cell[3] = {k / (w[2] * w[3]), k / w[3] % w[2], k % w[3]};
      int64_t from = pixel;
      bool inside = true;
      for (size_t d = 0; d < 3; ++d) {
        const int64_t p = at[d] * win.strides[d] - win.pads[d] + cell[d] * win.dilations[d];
        inside = inside && p >= 0 && p < x[d + 1];
        from = from * x[d + 1] + p;
      }
      for (int64_t n = 0; inside && n < depth; ++n)
        y[i] += in[0].centered[static_cast<size_t>(from * x[4] + o / group_outputs * depth + n)] *
                in[1].centered[static_cast<size_t>((o * cells + k) * depth + n)];
    }
  }
  return {y};
}

const OpTraits kConv3d = {.op = Op::kConv3d, .oracle = Convolve, .unit = ContractionUnit};

OpCase Case(Dims x, Dims weights, Window w, const char* activation = "none") {
  const int32_t channels = weights[0];
  return {{Int8(std::move(x)), Weights(std::move(weights), 0), Bias(channels)},
          {Int8({}, 0.11f, -5)},
          WindowAttributes(w, activation)};
}

TEST(Conv3d, EqualsOracle) {
  RunCases(kConv3d, {Case({1, 4, 5, 6, 3}, {4, 2, 3, 3, 3}, {{1, 1, 1}, {1, 1, 1}, {0, 1, 1, 1, 1, 1}}),
                     Case({2, 5, 4, 7, 4}, {6, 3, 2, 2, 2}, {{2, 1, 3}, {1, 1, 1}, {1, 0, 2, 1, 1, 0}}, "relu"),
                     Case({1, 6, 5, 5, 2}, {3, 2, 3, 2, 2}, {{1, 2, 1}, {3, 1, 2}, {3, 1, 0, 0, 1, 3}}, "relu6"),
                     Case({1, 1, 1, 1, 1}, {1, 1, 1, 1, 1}, {{1, 1, 1}, {1, 1, 1}, {0, 0, 0, 0, 0, 0}}),
                     Case({1, 2, 2, 2, 1}, {2, 3, 3, 3, 1}, {{1, 1, 1}, {1, 1, 1}, {4, 4, 4, 4, 4, 4}})});
}

TEST(Conv3d, RejectsWhatBreaksItsRule) {
  using P = schema::Conv3dParams;
  const OpCase c = Case({1, 4, 5, 6, 4}, {4, 2, 3, 3, 2}, {{1, 1, 1}, {1, 1, 1}, {0, 1, 1, 1, 1, 1}});
  const std::vector<Rejection> rejections = {
      {"x of rank 5", Site::kOpOperands, [](MutableCall& m) { m.inputs[0].rank = 4; }},
      {"weights of rank 5", Site::kOpOperands, [](MutableCall& m) { m.inputs[1].rank = 4; }},
      {"whole groups", Site::kOpOperands, [](MutableCall& m) { m.dims[1][4] = 3; }},
      {"bias of O", Site::kOpOperands, [](MutableCall& m) { m.dims[2][0] = 3; }},
      {"output of rank 5", Site::kOpOperands, [](MutableCall& m) { m.outputs[0].rank = 4; }},
      {"output's batch", Site::kOpOperands, [](MutableCall& m) { m.dims.back()[0] = 2; }},
      {"output's channels", Site::kOpOperands, [](MutableCall& m) { m.dims.back()[4] = 3; }},
      {"planes inside the padded input", Site::kOpParams, [](MutableCall& m) { m.dims.back()[1] = 5; }},
      {"stride", Site::kOpParams,
       [](MutableCall& m) { m.params<P>().mutable_window().mutable_stride()->Mutate(0, 0); }},
      {"dilation", Site::kOpParams,
       [](MutableCall& m) { m.params<P>().mutable_window().mutable_dilation()->Mutate(2, 0); }},
      {"clamp", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutable_clamp().mutate_max(1.5f); }},
      {"constant requantization", Site::kOpConstant, [](MutableCall& m) { m.inputs[3].constant = false; }}};
  for (const Numerics numerics : {Numerics::kFp32Rne, Numerics::kTflite})
    ExpectRejections(kConv3d, c, numerics, rejections);
}

}  // namespace
}  // namespace takt::test
