// quantize, dequantize, requantize
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "schema/plan_generated.h"
#include "tests/ops/op_test.h"

namespace takt::test {
namespace {

Results Same(const Inputs& in, const std::vector<double>& values) {
  Values y(in[0].dims);
  y.v = values;
  return {y};
}
Results Real(const OpCase&, const Inputs& in) {
  return Same(in, in[0].real);
}

Results QuantizeOracle(const OpCase&, const Inputs& in) {
  Results y = Same(in, in[0].real);
  for (double& v : y[0].v)
    if (std::isnan(v)) v = 0;
  return y;
}
/// One division in float, half away from zero.
Results QuantizeTflite(const OpCase& c, const Inputs& in) {
  Results y = QuantizeOracle(c, in);
  for (double& v : y[0].v) {
    const double ratio = static_cast<double>(static_cast<float>(v) / c.outputs[0].scales[0]);
    v = Saturated(c, c.outputs[0], std::round(ratio) + c.outputs[0].zero_point);
  }
  return y;
}

const OpTraits kQuantize = {
    .op = Op::kQuantize, .oracle = QuantizeOracle, .tflite = QuantizeTflite, .also_float = false};
const OpTraits kDequantize = {.op = Op::kDequantize, .oracle = Real, .also_float = false};
const OpTraits kRequantize = {.op = Op::kRequantize,
                              .oracle = [](const OpCase&, const Inputs& in) { return Same(in, in[0].centered); },
                              .unit = [](const OpCase& c, size_t) { return c.inputs[0].scale(); },
                              .also_float = false};

TEST(Quantize, EqualsOracle) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Operand out = Int8({}, 0.043f, 9);
  RunCases(kQuantize, {{{Float({3, 5, 67}, -7, 7)}, {out}, {}},
                       {{Float({1})}, {Int8({}, 1e-30f, 0)}, {}},
                       {{Float({2, 1, 2, 1, 2, 9}, -1000, 1000)}, {Int8({}, 1e20f, -128)}, {}},
                       {{Float({8}).Fixed({NAN, kInfinity, -kInfinity, 3e38, -3e38, 0, -0.0, 1e-40})}, {out}, {}}});
  // Exact ties, where both numerics are exact and differ.
  const OpCase ties = {
      {Float({8}).Fixed({0.25, 0.75, 1.25, -0.25, -0.75, -1.25, 63.75, -64.25})}, {Int8({}, 0.5f, 0)}, {}};
  OpTraits even = kQuantize;
  even.fp32_rne = [](const OpCase& c, const Inputs& in) {
    Results y = Same(in, in[0].real);
    for (double& v : y[0].v) v = Saturated(c, c.outputs[0], std::nearbyint(v / 0.5));
    return y;
  };
  RunCases(even, {ties});
}

TEST(Dequantize, EqualsOracle) {
  RunCases(kDequantize, {{{Int8({4, 64}, 0.037f, -11)}, {Float({})}, {}}, {{Int8({}, 1e-9f, 0)}, {Float({})}, {}}});
}

TEST(Requantize, EqualsOracle) {
  const auto c = [](Dims x, float in, float out, int32_t zero_point, const char* activation) {
    return OpCase{
        {Int8(std::move(x), in, -11)}, {Int8({}, out, zero_point)}, {{"activation", std::string(activation)}}};
  };
  RunCases(kRequantize, {c({5, 61}, 0.05f, 0.031f, 4, "none"), c({300}, 0.05f, 0.31f, -128, "relu"),
                         c({300}, 2.0f, 0.011f, 127, "none"), c({2, 1, 2, 3, 1, 7}, 0.04f, 0.041f, 0, "relu6"),
                         c({}, 0.1f, 0.1f, 1, "relu_n1_to_1")});
}

TEST(Quantize, ToInt16AndBack) {
  RunCases(kQuantize,
           {{{Float({3, 67}, -7, 7)}, {Int16({}, 3e-4f)}, {}}, {{Float({99}, -90, 90)}, {Int16({}, 1e-3f)}, {}}});
  RunCases(kDequantize, {{{Int16({4, 64}, 0.037f)}, {Float({})}, {}}});
  Operand sums = Plain(DataType::kInt32, {300}, -2147483648.0, 2147483647.0);
  sums.scales = {1e-6f};
  RunCases(kDequantize, {{{sums}, {Float({})}, {}}});
}

TEST(Requantize, BetweenTypes) {
  Operand sums = Plain(DataType::kInt32, {300}, -2e6, 2e6);
  sums.scales = {1.5e-5f};
  Operand stored = sums;
  stored.dims = {};
  const auto none = [](Operand x, Operand y) { return OpCase{{std::move(x)}, {std::move(y)}, {}}; };
  RunCases(kRequantize, {none(Int8({300}, 0.05f, 3), Int16({}, 2e-4f)), none(Int16({300}, 3e-4f), Int8({}, 0.07f, -9)),
                         none(Int16({300}, 3e-4f), Int16({}, 4.1e-4f)), none(sums, Int16({}, 1e-3f)),
                         none(sums, Int8({}, 0.21f, 5))});
  // By the multiplier in both numerics.
  OpTraits wide = kRequantize;
  wide.fp32_rne = wide.tflite = [](const OpCase& c, const Inputs& in) {
    const Multiplier m(c.inputs[0].scale() / c.outputs[0].scale());
    Results y = Same(in, in[0].centered);
    for (double& v : y[0].v) v = static_cast<double>(MultiplyByTflite(static_cast<int64_t>(v), m));
    return y;
  };
  RunCases(wide, {none(Int8({300}, 0.05f, 3), stored), none(Int16({300}, 3e-3f), stored)});
}

TEST(QuantizeDequantizeRequantize, RejectWhatBreaksTheirRule) {
  using P = schema::QuantizeParams;  // DequantizeParams has the same fields
  const std::vector<Rejection> scale_zero = {
      {"shape of the output", Site::kOpOperands, [](MutableCall& m) { m.dims[1][0] = 3; }},
      {"positive scale", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_scale(0); }},
      {"normal scale", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_scale(1e-39f); }},
      {"finite scale", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_scale(INFINITY); }},
      {"zero point", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_zero_point(128); }}};
  ExpectRejections(kQuantize, {{Float({2})}, {Int8({})}, {}}, Numerics::kFp32Rne, scale_zero);
  ExpectRejections(kDequantize, {{Int8({2})}, {Float({})}, {}}, Numerics::kFp32Rne, scale_zero);
  using R = schema::RequantizeParams;
  const OpCase c = {{Int8({2})}, {Int8({}, 0.1f)}, {}};
  ExpectRejections(
      kRequantize, c, Numerics::kFp32Rne,
      {{"shape of the output", Site::kOpOperands, [](MutableCall& m) { m.dims[1][0] = 3; }},
       {"clamp", Site::kOpParams, [](MutableCall& m) { m.params<R>().mutable_clamp().mutate_max(128); }},
       {"input zero point", Site::kOpParams, [](MutableCall& m) { m.params<R>().mutate_input_zero_point(128); }},
       {"output zero point", Site::kOpParams, [](MutableCall& m) { m.params<R>().mutate_output_zero_point(128); }},
       {"scale", Site::kOpParams, [](MutableCall& m) { m.params<R>().mutate_scale(256); }}});
  ExpectRejections(kRequantize, c, Numerics::kTflite,
                   {{"multiplier", Site::kOpParams, [](MutableCall& m) { m.params<R>().mutate_multiplier(-1); }}});
}

}  // namespace
}  // namespace takt::test
