// add (and subtract), mul
#include <gtest/gtest.h>

#include <cmath>

#include "schema/plan_generated.h"
#include "tests/ops/broadcast.h"
#include "tests/ops/op_test.h"

namespace takt::test {
namespace {

double Sign(const OpCase& c) {
  return std::get<std::string>(c.attributes.at("function")) == "subtract" ? -1 : 1;
}

Results Add(const OpCase& c, const Inputs& in) {
  return {Pairs(in, [&](size_t a, size_t b) { return in[0].real[a] + Sign(c) * in[1].real[b]; })};
}

/// 21-bit multipliers of the ratios of the scales; half goes up.
Results AddFp32Rne(const OpCase& c, const Inputs& in) {
  const float out = c.outputs[0].scales[0];
  const double ar = static_cast<double>(c.inputs[0].scales[0] / out),
               br = static_cast<double>(c.inputs[1].scales[0] / out);
  int exponent = 0;
  std::frexp(std::max(ar, br), &exponent);
  const double unit = std::ldexp(1.0, 21 - exponent);
  const double am = std::nearbyint(ar * unit), bm = std::nearbyint(br * unit) * Sign(c);
  return {Pairs(in, [&](size_t a, size_t b) {
    const double sum = am * in[0].centered[a] + bm * in[1].centered[b];
    return Saturated(c, c.outputs[0], std::floor(sum / unit + 0.5) + c.outputs[0].zero_point);
  })};
}

/// Both operands at 2^20 (int16: 2^15) through multipliers of half their ratio to the larger scale (for subtract,
/// ratios in float).
Results AddTflite(const OpCase& c, const Inputs& in) {
  const bool in_float = Sign(c) < 0;
  const auto ratio = [in_float](float x, float y) {
    return Multiplier(in_float ? static_cast<double>(x / y) : static_cast<double>(x) / static_cast<double>(y));
  };
  const float as = c.inputs[0].scales[0], bs = c.inputs[1].scales[0], twice = 2 * std::max(as, bs);
  const int64_t fine = c.outputs[0].type == DataType::kInt16 ? 1 << 15 : 1 << 20;
  const Multiplier am = ratio(as, twice), bm = ratio(bs, twice),
                   om = ratio(twice, static_cast<float>(fine) * c.outputs[0].scales[0]);
  return {Pairs(in, [&](size_t a, size_t b) {
    const int64_t sa = MultiplyByTflite(static_cast<int64_t>(in[0].centered[a]) * fine, am);
    const int64_t sb = MultiplyByTflite(static_cast<int64_t>(in[1].centered[b]) * fine, bm);
    const int64_t sum = sa + static_cast<int64_t>(Sign(c)) * sb;
    return Saturated(c, c.outputs[0], static_cast<double>(MultiplyByTflite(sum, om) + c.outputs[0].zero_point));
  })};
}

const OpTraits kAdd = {.op = Op::kAdd, .oracle = Add, .fp32_rne = AddFp32Rne, .tflite = AddTflite};

Results Mul(const OpCase&, const Inputs& in) {
  return {Pairs(in, [&](size_t a, size_t b) { return in[0].centered[a] * in[1].centered[b]; })};
}
const OpTraits kMul = {.op = Op::kMul, .oracle = Mul, .unit = [](const OpCase& c, size_t) {
                         return c.inputs[0].scale() * c.inputs[1].scale();
                       }};

struct Scales {
  float a = 0.043f, b = 0.071f, out = 0.11f;
};
OpCase Case(Dims a, Dims b, const char* function, const char* activation = "none", Scales s = {}) {
  OpCase c = {{Int8(std::move(a), s.a, -7), Int8(std::move(b), s.b, 19)},
              {Int8({}, s.out, 4)},
              {{"activation", std::string(activation)}}};
  if (function != std::string()) c.attributes["function"] = std::string(function);
  return c;
}

std::vector<OpCase> Shapes(const char* function, Scales s = {}) {
  return {Case({1}, {1}, function, "none", s),
          Case({7, 31}, {7, 31}, function, "relu", s),
          Case({2, 3, 5}, {5}, function, "relu6", s),
          Case({4, 1, 3}, {5, 1}, function, "none", s),
          Case({2, 1, 3, 1, 2, 5}, {1, 2, 1, 3, 1, 5}, function, "relu_n1_to_1", s),
          Case({}, {3, 4}, function, "none", s),
          Case({3, 4}, {}, function, "none", s)};
}

TEST(Add, EqualsOracle) {
  for (const char* function : {"add", "subtract"}) {
    RunCases(kAdd, Shapes(function));
    RunCases(kAdd, Wide(Shapes(function)));
    RunCases(kAdd, {Case({300}, {300}, function, "none", {0.5f, 0.5f, 0.5f}),      // exact halves do not occur
                    Case({300}, {300}, function, "none", {0.5f, 0.25f, 1.0f}),     // and do
                    Case({300}, {300}, function, "none", {0.9f, 0.001f, 0.95f}),   // far ratios
                    Case({300}, {300}, function, "none", {200.0f, 3.0f, 1.0f})});  // saturates
    OpCase constant = Case({4, 6}, {6}, function);
    constant.inputs[1] = constant.inputs[1].Constant();
    RunCases(kAdd, {constant});
  }
}

TEST(Add, OfFarScalesRequantizesAnOperandAndSaysSo) {
  const OpTraits traits = {.op = Op::kAdd, .oracle = Add, .tflite = AddTflite, .also_float = false, .within = 1};
  for (const char* function : {"add", "subtract"}) {
    const std::vector<OpCase> cases = {Case({300}, {300}, function, "none", {0.05f, 0.00002f, 0.05f}),
                                       Case({300}, {300}, function, "none", {0.0003f, 1.0f, 1.0f}),
                                       Case({300}, {300}, function, "none", {20.0f, 0.05f, 0.05f})};
    RunCases(traits, cases);
    for (const OpCase& c : cases) {
      EXPECT_EQ(ConvertCase(traits, c, Numerics::kFp32Rne).diagnostics.all().size(), 1u);
      EXPECT_EQ(ConvertCase(traits, c, Numerics::kTflite).diagnostics.all().size(), 0u);
    }
  }
}

TEST(Mul, EqualsOracle) {
  RunCases(kMul, Shapes(""));
  RunCases(kMul, Wide(Shapes("", {0.7f, 0.9f, 0.4f})));
  RunCases(kMul,
           {Case({300}, {300}, "", "none", {0.9f, 0.9f, 0.01f}), Case({300}, {300}, "", "none", {0.01f, 0.02f, 0.9f})});
}

/// On int32 and int64, which are steps of another op.
const OpTraits kPlainAdd = {.op = Op::kAdd, .oracle = Add, .step = Op::kBinary};
const OpTraits kPlainMul = {.op = Op::kMul, .oracle = Mul, .step = Op::kBinary};
TEST(AddAndMul, OfPlainIntegersEqualOracle) {
  for (const DataType type : {DataType::kInt32, DataType::kInt64}) {
    const auto plain = [&](Dims a, Dims b, OpCase c) {
      c.inputs = {Plain(type, std::move(a)), Plain(type, std::move(b))};
      c.outputs = {Plain(type, {})};
      return c;
    };
    for (const char* function : {"add", "subtract"})
      RunCases(kPlainAdd, {plain({4, 1, 3}, {5, 1}, Case({}, {}, function))});
    RunCases(kPlainMul, {plain({7}, {2, 7}, Case({}, {}, ""))});
  }
}

TEST(Add, RejectsWhatBreaksItsRule) {
  using P = schema::AddParams;
  const std::vector<Rejection> common = {
      {"rank below the output's", Site::kOpOperands, [](MutableCall& m) { m.outputs[0].rank = 1; }},
      {"a broadcasts", Site::kOpOperands, [](MutableCall& m) { m.dims[0][1] = 2; }},
      {"b broadcasts", Site::kOpOperands, [](MutableCall& m) { m.dims[1][0] = 2; }},
      {"clamp", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutable_clamp().mutate_max(128); }},
      {"a's zero point", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_a_zero_point(128); }},
      {"b's zero point", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_b_zero_point(-129); }},
      {"output zero point", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_output_zero_point(128); }},
      {"function", Site::kOpParams,
       [](MutableCall& m) { m.params<P>().mutate_function(static_cast<schema::AddFunction>(2)); }}};
  const OpCase c = Case({2, 3}, {3}, "add");
  ExpectRejections(kAdd, c, Numerics::kFp32Rne, common);
  ExpectRejections(kAdd, c, Numerics::kTflite, common);
  ExpectRejections(
      kAdd, c, Numerics::kFp32Rne,
      {{"a's multiplier", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_a_multiplier((1 << 21) + 1); }},
       {"b's multiplier", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_b_multiplier(-(1 << 21) - 1); }},
       {"shift from 1", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_output_shift(0); }},
       {"shift to 30", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_output_shift(31); }}});
  ExpectRejections(
      kAdd, c, Numerics::kTflite,
      {{"left shift", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_left_shift(23); }},
       {"a's multiplier", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_a_multiplier(-1); }},
       {"b's shift", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_b_shift(31); }},
       {"output's shift", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_output_shift(-32); }}});
}

TEST(Mul, RejectsWhatBreaksItsRule) {
  using P = schema::MulParams;
  const OpCase c = Case({2, 3}, {3}, "");
  ExpectRejections(
      kMul, c, Numerics::kFp32Rne,
      {{"a broadcasts", Site::kOpOperands, [](MutableCall& m) { m.dims[0][1] = 2; }},
       {"clamp", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutable_clamp().mutate_max(128); }},
       {"a's zero point", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_a_zero_point(128); }},
       {"b's zero point", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_b_zero_point(128); }},
       {"output zero point", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_output_zero_point(128); }},
       {"scale", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_scale(256); }}});
  ExpectRejections(kMul, c, Numerics::kTflite,
                   {{"multiplier", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_multiplier(-1); }},
                    {"shift", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_shift(31); }}});
}

}  // namespace
}  // namespace takt::test
