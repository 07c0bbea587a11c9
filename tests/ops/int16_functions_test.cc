// Unary functions on int16: leaky_relu, sigmoid_table, and unary by interpolation.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>

#include "schema/plan_generated.h"
#include "tests/ops/op_test.h"

namespace takt::test {
namespace {

std::string FunctionOf(const OpCase& c) {
  return std::get<std::string>(c.attributes.at("function"));
}
double Alpha(const OpCase& c) {
  return std::get<double>(c.attributes.at("alpha"));
}

Results Unary(const OpCase& c, const Inputs& in) {
  static const std::map<std::string, double (*)(double)> kFunctions = {
      {"logistic", [](double x) { return 1 / (1 + std::exp(-x)); }},
      {"tanh", [](double x) { return std::tanh(x); }},
      {"exp", [](double x) { return std::exp(x); }},
      {"abs", [](double x) { return std::fabs(x); }},
      {"hard_swish", [](double x) { return x * std::min(std::max(x + 3, 0.0), 6.0) / 6; }},
      {"gelu", [](double x) { return x * std::erfc(-x / std::sqrt(2.0)) / 2; }}};
  Values y(in[0].dims);
  for (size_t i = 0; i < y.v.size(); ++i) {
    const double x = in[0].real[i];
    y[i] = FunctionOf(c) == "leaky_relu" ? (x >= 0 ? x : Alpha(c) * x) : kFunctions.at(FunctionOf(c))(x);
  }
  return {y};
}

/// TFLite's two multipliers, from quotients in float.
Results LeakyReluTflite(const OpCase& c, const Inputs& in) {
  const float s = c.inputs[0].scales[0], out = c.outputs[0].scales[0];
  const Multiplier positive(static_cast<double>(s / out));
  const Multiplier negative(static_cast<double>(s * static_cast<float>(Alpha(c)) / out));
  Values y(in[0].dims);
  for (size_t i = 0; i < y.v.size(); ++i) {
    auto x = static_cast<int64_t>(in[0].stored[i]);
    if (FunctionOf(c) == "abs") x = std::abs(x);
    y[i] = Saturated(c, c.outputs[0], static_cast<double>(MultiplyByTflite(x, x >= 0 ? positive : negative)));
  }
  return {y};
}

OpCase Case(const char* function, Dims x, float in, float out, double alpha = 0) {
  return {{Int16(std::move(x), in)}, {Int16({}, out)}, {{"function", std::string(function)}, {"alpha", alpha}}};
}

const OpTraits kLeakyRelu = {
    .op = Op::kUnary, .oracle = Unary, .tflite = LeakyReluTflite, .also_float = false, .step = Op::kLeakyRelu};

TEST(LeakyReluInt16, EqualsOracle) {
  RunCases(kLeakyRelu,
           {Case("leaky_relu", {3, 211}, 0.00174f, 0.00162f, 0.3), Case("leaky_relu", {1000}, 0.0058f, 0.0071f, 0.01),
            Case("leaky_relu", {}, 0.001f, 0.001f, 0.5), Case("leaky_relu", {99}, 0.01f, 0.001f, 1.5),
            Case("abs", {1000}, 0.0058f, 0.0071f), Case("abs", {1000}, 0.001f, 0.001f)});
}

/// Tanh and logistic lie within 2 units of 2^-15 where the table's steps (tflite) or 512 pieces of the whole range are
/// fine enough for the function; no golden shows tflite's bytes.
TEST(Int16Functions, AreWithinTwoUnits) {
  constexpr float kOut = 1.0f / 32768;
  RunCases(
      {.op = Op::kUnary, .oracle = Unary, .also_float = false, .also_tflite = false, .within = 2},
      {Case("logistic", {4000}, 1.0f / 4096, kOut), Case("tanh", {4000}, 1.0f / 8192, kOut),
       Case("logistic", {2, 5, 300}, 3e-4f, kOut), Case("tanh", {4000}, 3e-5f, kOut), Case("exp", {4000}, 3e-5f, 1e-4f),
       Case("hard_swish", {4000}, 1.0f / 8192, 2e-4f), Case("gelu", {4000}, 1.0f / 8192, 2e-4f)});
}

/// TFLite's rule in doubles: a table of 24 entries for each unit of x, linear between them.
Results SigmoidTflite(const OpCase& c, const Inputs& in) {
  const bool is_tanh = FunctionOf(c) == "tanh";
  const auto real = [](double i) { return 65536 / (1 + std::exp(-i / 24)); };
  const auto entry = [&](double i) {
    const double middle = real(i + 0.5) - (real(i) + real(i + 1)) / 2;
    return i == 255 ? 65535 : std::round(real(i) + middle / 2);
  };
  double multiplier = c.inputs[0].scale() * 12288;
  const bool exact = multiplier == 3 || (multiplier == 6 && is_tanh);
  int shift = 0;
  for (; !exact && multiplier <= 16383.5; ++shift) multiplier *= 2;
  Values y(in[0].dims);
  for (size_t i = 0; i < y.v.size(); ++i) {
    const double scaled =
        std::floor(std::floor(multiplier) * in[0].stored[i] / std::ldexp(1, shift) + (shift > 0 ? 0.5 : 0));
    const double at = std::fabs(scaled) / (is_tanh ? 256 : 512), first = std::floor(at);
    const double value =
        first >= 255 ? (is_tanh ? 65535 : 65534) : entry(first) + (at - first) * (entry(first + 1) - entry(first));
    const double half = is_tanh ? value - 32768 : value / 2;
    const double sign = scaled >= 0 ? 1 : -1;
    const double rounded = std::floor(half + 0.5);
    y[i] = is_tanh ? sign * rounded : sign > 0 ? rounded : 32768 - rounded;
    y[i] = Saturated(c, c.outputs[0], y[i]);
  }
  return {y};
}

const OpTraits kSigmoid = {.op = Op::kUnary,
                           .oracle = Unary,
                           .tflite = SigmoidTflite,
                           .also_float = false,
                           .step = Op::kSigmoidTable,
                           .within = 40};

TEST(SigmoidTable, EqualsTflitesRule) {
  constexpr float kOut = 1.0f / 32768;
  RunCases(kSigmoid, {Case("logistic", {4000}, 1.0f / 4096, kOut), Case("logistic", {4000}, 5e-4f, kOut),
                      Case("tanh", {4000}, 1.0f / 4096, kOut), Case("tanh", {4000}, 1.0f / 2048, kOut),
                      Case("tanh", {4000}, 3e-5f, kOut)});
}

TEST(Int16Functions, RejectWhatBreaksTheirRules) {
  using L = schema::LeakyReluParams;
  const std::vector<Rejection> leaky = {
      {"shape of the output", Site::kOpOperands, [](MutableCall& m) { m.dims[1][0] = 3; }},
      {"clamp", Site::kOpParams, [](MutableCall& m) { m.params<L>().mutable_clamp().mutate_max(32768); }},
      {"output stages", Site::kOpParams, [](MutableCall& m) {
         m.params<L>().mutate_negative_scale(-256);
         m.params<L>().mutate_negative_multiplier(std::numeric_limits<int32_t>::min());
       }}};
  for (const Numerics numerics : {Numerics::kFp32Rne, Numerics::kTflite})
    ExpectRejections(kLeakyRelu, Case("leaky_relu", {2}, 0.01f, 0.02f, 0.1), numerics, leaky);
  using S = schema::SigmoidTableParams;
  const OpCase sigmoid = Case("tanh", {2}, 1e-4f, 1.0f / 32768);
  ExpectRejections(
      kSigmoid, sigmoid, Numerics::kTflite,
      {{"shape of the output", Site::kOpOperands, [](MutableCall& m) { m.dims[2][0] = 3; }},
       {"table of 256", Site::kOpOperands, [](MutableCall& m) { m.dims[1][0] = 255; }},
       {"constant table", Site::kOpConstant, [](MutableCall& m) { m.inputs[1].constant = false; }},
       {"entries of 16 bits", Site::kOpConstant, [](MutableCall& m) { m.constant<int32_t>(1)[255] = 65536; }},
       {"multiplier", Site::kOpParams, [](MutableCall& m) { m.params<S>().mutate_multiplier(32768); }},
       {"shift", Site::kOpParams, [](MutableCall& m) { m.params<S>().mutate_shift(31); }},
       {"function", Site::kOpParams,
        [](MutableCall& m) { m.params<S>().mutate_function(schema::UnaryFunction::exp); }}});
  ExpectRejections({.op = Op::kUnary, .oracle = Unary}, sigmoid, Numerics::kFp32Rne,
                   {{"table of 513", Site::kOpOperands, [](MutableCall& m) { m.dims[1][0] = 512; }},
                    {"constant table", Site::kOpConstant, [](MutableCall& m) { m.inputs[1].constant = false; }}});
}

}  // namespace
}  // namespace takt::test
