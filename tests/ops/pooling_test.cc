// average_pool2d, max_pool2d
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "schema/plan_generated.h"
#include "tests/ops/window.h"

namespace takt::test {
namespace {

/// y = f(the values of each window's cells), for each channel.
template <typename F>
Values Pool(const OpCase& c, const Inputs& in, const std::vector<double>& x, F f) {
  const Ints& kernel = std::get<Ints>(c.attributes.at("kernel"));
  const auto channels = static_cast<size_t>(in[0].dims[3]);
  std::vector<std::vector<double>> cells;
  const Dims dims = ForEachCell(in[0].dims, static_cast<int32_t>(kernel[0]), static_cast<int32_t>(kernel[1]),
                                WindowOf(c), [&](size_t out, size_t pixel, size_t) {
                                  cells.resize(std::max(cells.size(), (out + 1) * channels));
                                  for (size_t k = 0; k < channels; ++k)
                                    cells[out * channels + k].push_back(x[pixel * channels + k]);
                                });
  Values y(dims);
  for (size_t i = 0; i < y.v.size(); ++i) y[i] = f(cells[i]);
  return y;
}

double Mean(const std::vector<double>& v) {
  double sum = 0;
  for (const double x : v) sum += x;
  return sum / static_cast<double>(v.size());
}

Results Average(const OpCase& c, const Inputs& in) {
  return {Pool(c, in, in[0].real, Mean)};
}
/// Of the stored values, half away from zero: both numerics.
Results AverageStored(const OpCase& c, const Inputs& in) {
  return {Pool(c, in, in[0].stored,
               [&](const std::vector<double>& v) { return Saturated(c, c.outputs[0], std::round(Mean(v))); })};
}
Results Max(const OpCase& c, const Inputs& in) {
  return {Pool(c, in, in[0].real, [](const std::vector<double>& v) { return *std::max_element(v.begin(), v.end()); })};
}

const OpTraits kAverage = {
    .op = Op::kAveragePool2d, .oracle = Average, .fp32_rne = AverageStored, .tflite = AverageStored};
const OpTraits kMax = {.op = Op::kMaxPool2d, .oracle = Max};

OpCase Case(Dims x, Ints kernel, Window w, const char* activation = "none") {
  OpCase c = {{Int8(std::move(x), 0.05f, -20)}, {Int8({}, 0.05f, -20)}, WindowAttributes(w, activation, false)};
  c.attributes["kernel"] = std::move(kernel);
  return c;
}

const std::vector<OpCase> kCases = {
    Case({1, 4, 4, 3}, {2, 2}, {{2, 2}}),    Case({2, 7, 5, 5}, {3, 2}, {{1, 2}, {1, 1}, {1, 1, 2, 1}}, "relu"),
    Case({1, 6, 6, 1}, {6, 6}, {}, "relu6"), Case({1, 5, 5, 2}, {3, 3}, {{1, 1}, {1, 1}, {2, 2, 2, 2}}, "relu_n1_to_1"),
    Case({3, 1, 1, 4}, {1, 1}, {}),          Case({1, 25, 5, 16}, {25, 5}, {{25, 5}}),
};

TEST(AveragePool2d, EqualsOracle) {
  RunCases(kAverage, kCases);
  RunCases(kAverage, Wide(kCases));
}
TEST(MaxPool2d, EqualsOracle) {
  RunCases(kMax, kCases);
  RunCases(kMax, Wide(kCases));
}

/// The pool in its input's quantization, requantized.
Results AverageRequantized(const OpCase& c, const Inputs& in) {
  const Operand& x = c.inputs[0];
  return {Pool(c, in, in[0].stored,
               [&](const std::vector<double>& v) { return (std::round(Mean(v)) - x.zero_point) * x.scale(); })};
}

TEST(AveragePool2d, OfAnotherQuantizationIsRequantizedAndSaysSo) {
  OpCase c = Case({1, 7, 6, 9}, {3, 2}, {{2, 1}}, "relu6");
  c.outputs = {Int8({}, 0.037f, -100)};
  const OpTraits traits = {.op = Op::kAveragePool2d, .oracle = AverageRequantized, .also_float = false};
  RunCases(traits, {c});
  const Conversion made = ConvertCase(traits, c, Numerics::kFp32Rne);
  ASSERT_EQ(made.diagnostics.all().size(), 1u);
  EXPECT_EQ(made.diagnostics.all()[0].severity, Severity::kNote);
  OpCase close = c;
  close.outputs = {Int8({}, 0.05f + 9e-7f, -20)};  // TFLite takes these scales as one
  EXPECT_EQ(ConvertCase(traits, close, Numerics::kTflite).diagnostics.all().size(), 0u);
  EXPECT_EQ(ConvertCase(traits, close, Numerics::kFp32Rne).diagnostics.all().size(), 1u);
}

TEST(Pools, RejectWhatBreaksTheirRule) {
  using P = schema::Pool2dParams;
  for (const OpTraits& traits : {kAverage, kMax})
    ExpectRejections(
        traits, Case({1, 6, 6, 2}, {3, 3}, {{1, 1}, {1, 1}, {1, 1, 1, 1}}), Numerics::kFp32Rne,
        {{"x of rank 4", Site::kOpOperands, [](MutableCall& m) { m.inputs[0].rank = 3; }},
         {"output of rank 4", Site::kOpOperands, [](MutableCall& m) { m.outputs[0].rank = 3; }},
         {"output's channels", Site::kOpOperands, [](MutableCall& m) { m.dims[1][3] = 1; }},
         {"a kernel", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_kernel_h(0); }},
         {"dilation 1", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutable_window().mutate_dilation_h(2); }},
         {"stride", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutable_window().mutate_stride_h(0); }},
         {"first window sees the input", Site::kOpParams,
          [](MutableCall& m) { m.params<P>().mutable_window().mutate_pad_top(3); }},
         {"last window inside", Site::kOpParams, [](MutableCall& m) { m.dims[1][2] = 7; }},
         {"last window sees the input", Site::kOpParams,
          [](MutableCall& m) {
            m.params<P>().mutable_window().mutate_pad_bottom(9);
            m.dims[1][1] = 12;
          }},
         {"clamp", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutable_clamp().mutate_min(-129); }}});
}

}  // namespace
}  // namespace takt::test
