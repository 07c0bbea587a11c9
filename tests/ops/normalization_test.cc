// local_response_normalization, l2_normalization
#include <gtest/gtest.h>

#include <cmath>

#include "engine/base/fixed_point.h"
#include "schema/plan_generated.h"
#include "tests/ops/op_test.h"

namespace takt::test {
namespace {

Results LocalResponse(const OpCase& c, const Inputs& in) {
  const auto number = [&](const char* name) { return std::get<double>(c.attributes.at(name)); };
  const auto radius = std::get<int64_t>(c.attributes.at("radius"));
  const int64_t depth = in[0].dims.back();
  Values y(in[0].dims);
  for (size_t i = 0; i < y.v.size(); ++i) {
    const auto channel = static_cast<int64_t>(i) % depth;
    double sum = 0;
    for (int64_t k = std::max<int64_t>(0, channel - radius); k <= std::min(depth - 1, channel + radius); ++k) {
      const double v = in[0].real[i - static_cast<size_t>(channel) + static_cast<size_t>(k)];
      sum += v * v;
    }
    y[i] = in[0].real[i] * std::pow(number("bias") + number("alpha") * sum, -number("beta"));
  }
  return {y};
}
const OpTraits kLocalResponse = {.op = Op::kLocalResponseNormalization, .oracle = LocalResponse};

OpCase Case(Dims x, int64_t radius, double bias, double alpha, double beta) {
  return {{Float(std::move(x))}, {Float({})}, {{"radius", radius}, {"bias", bias}, {"alpha", alpha}, {"beta", beta}}};
}

TEST(LocalResponseNormalization, EqualsOracle) {
  RunCases(kLocalResponse, {Case({2, 3, 4, 20}, 5, 1, 0.5, 0.5), Case({1, 1, 1, 7}, 2, 2, 1e-4, 0.75),
                            Case({6}, 0, 1, 1, 1), Case({3, 4}, 100, 0.5, 0.25, 0.5)});
}

TEST(LocalResponseNormalization, RejectsWhatBreaksItsRule) {
  using P = schema::LocalResponseNormalizationParams;
  ExpectRejections(kLocalResponse, Case({2, 3}, 1, 1, 1, 1), Numerics::kFp32Rne,
                   {{"radius", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_radius(-1); }},
                    {"bias", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_bias(NAN); }},
                    {"shape of the output", Site::kOpOperands, [](MutableCall& m) { m.dims[1][0] = 3; }}});
}

/// Calls value(row, squares, x) for each element; squares: the row's sum of `in`'s squares.
template <typename F>
Values RowsOf(const Dims& dims, const std::vector<double>& in, F value) {
  Values y(dims);
  const auto depth = static_cast<size_t>(dims.back());
  for (size_t row = 0; row < y.v.size(); row += depth) {
    double squares = 0;
    for (size_t i = row; i < row + depth; ++i) squares += in[i] * in[i];
    for (size_t i = row; i < row + depth; ++i) y[i] = squares == 0 ? 0 : value(squares, in[i]);
  }
  return y;
}
Results L2(const OpCase&, const Inputs& in) {
  return {RowsOf(in[0].dims, in[0].real, [](double squares, double x) { return x / std::sqrt(squares); })};
}
/// One division, one root, one product, each in float.
Results L2Fp32Rne(const OpCase& c, const Inputs& in) {
  const Operand& y = c.outputs[0];
  const float scale = 1.0f / y.scales[0];
  Values v = RowsOf(in[0].dims, in[0].centered, [&](double squares, double a) {
    const float factor = scale / std::sqrt(static_cast<float>(squares));
    return static_cast<double>(std::nearbyint(static_cast<float>(a) * factor));
  });
  for (double& q : v.v) q = Saturated(c, y, q + y.zero_point);
  return {v};
}
const OpTraits kL2 = {.op = Op::kL2Normalization, .oracle = L2, .fp32_rne = L2Fp32Rne, .also_float = false};

OpCase L2Case(Dims x, int32_t zero_point = -5, float scale = 0x1p-7f, int32_t output_zero_point = 0) {
  return {{Int8(std::move(x), 0.04f, zero_point)}, {Int8({}, scale, output_zero_point)}, {}};
}

TEST(L2Normalization, EqualsOracle) {
  RunCases(kL2,
           {L2Case({2, 3, 4, 20}), L2Case({1}), L2Case({300}, 127), L2Case({7, 1}, -128), L2Case({3, 33025}, -128)});
  OpTraits other = kL2;
  other.also_tflite = false;  // It has one output quantization.
  RunCases(other, {L2Case({5, 9}, 3, 0.01f, -7), L2Case({5, 9}, 3, 0.001f, 100)});
}

TEST(L2Normalization, InverseSquareRootIsNear) {
  for (int32_t v = 1; v < 1 << 30; v = v < 5000 ? v + 1 : v + v / 371) {
    const fixed_point::Scaled s = fixed_point::InverseSquareRoot(v);
    EXPECT_NEAR(std::ldexp(s.multiplier, s.shift - 31) * std::sqrt(v), 1, 0x1p-19) << v;
  }
  EXPECT_EQ(fixed_point::InverseSquareRoot(0).multiplier, fixed_point::InverseSquareRoot(1).multiplier);
}

TEST(L2Normalization, RejectsWhatBreaksItsRule) {
  using P = schema::L2NormalizationParams;
  for (const Numerics numerics : {Numerics::kFp32Rne, Numerics::kTflite})
    ExpectRejections(
        kL2, L2Case({2, 9}), numerics,
        {{"scale", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_scale(0); }},
         {"zero point", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_input_zero_point(200); }},
         {"y's zero point", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_output_zero_point(-129); }},
         {"shape", Site::kOpOperands, [](MutableCall& m) { m.dims[1][0] = 3; }},
         {"terms", Site::kOpOperands, [](MutableCall& m) { m.dims[0][1] = m.dims[1][1] = 33026; }}});
  ExpectRejections(kL2, L2Case({2, 9}), Numerics::kTflite,
                   {{"TFLite's zero point is 0", Site::kOpParams,
                     [](MutableCall& m) { m.params<P>().mutate_output_zero_point(1); }}});
}

}  // namespace
}  // namespace takt::test
