// clamp, unary
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "schema/plan_generated.h"
#include "tests/ops/op_test.h"

namespace takt::test {
namespace {

template <typename F>
Results Each(const Inputs& in, F f) {
  Values y(in[0].dims);
  for (size_t i = 0; i < y.v.size(); ++i) y[i] = f(in[0].real[i]);
  return {y};
}

double Number(const OpCase& c, const char* name) {
  return std::get<double>(c.attributes.at(name));
}

Results Clamp(const OpCase& c, const Inputs& in) {
  const double lo = OnGrid(c.outputs[0], Number(c, "min")), hi = OnGrid(c.outputs[0], Number(c, "max"));
  return Each(in, [&](double x) { return std::clamp(x, lo, hi); });
}

using Function = double (*)(double x, double alpha);
const std::map<std::string, Function> kFunctions = {
    {"logistic", [](double x, double) { return 1 / (1 + std::exp(-x)); }},
    {"tanh", [](double x, double) { return std::tanh(x); }},
    {"elu", [](double x, double alpha) { return x >= 0 ? x : alpha * std::expm1(x); }},
    {"hard_swish", [](double x, double) { return x * std::clamp(x + 3, 0.0, 6.0) / 6; }},
    {"leaky_relu", [](double x, double alpha) { return x >= 0 ? x : alpha * x; }},
    {"gelu", [](double x, double) { return x * std::erfc(-x / std::sqrt(2.0)) / 2; }},
    {"gelu_tanh",
     [](double x, double) {
       return x / (1 + std::exp(-std::sqrt(8 / std::numbers::pi) * (x + 0.044715 * std::pow(x, 3))));
     }},
    {"exp", [](double x, double) { return std::exp(x); }},
    {"log", [](double x, double) { return std::log(x); }},
    {"sqrt", [](double x, double) { return std::sqrt(x); }},
    {"rsqrt", [](double x, double) { return 1 / std::sqrt(x); }},
    {"square", [](double x, double) { return x * x; }},
    {"abs", [](double x, double) { return std::fabs(x); }},
    {"neg", [](double x, double) { return -x; }},
    {"sin", [](double x, double) { return std::sin(x); }},
    {"cos", [](double x, double) { return std::cos(x); }},
    {"floor", [](double x, double) { return std::floor(x); }},
    {"ceil", [](double x, double) { return std::ceil(x); }},
    {"round", [](double x, double) { return std::nearbyint(x); }},
    {"sign", [](double x, double) { return static_cast<double>((x > 0) - (x < 0)); }},
    {"asinh", [](double x, double) { return std::log(x + std::sqrt(x * x + 1)); }},
    {"atan", [](double x, double) { return std::atan2(x, 1); }},
    {"sinh", [](double x, double) { return (std::exp(x) - std::exp(-x)) / 2; }},
    {"cosh", [](double x, double) { return (std::exp(x) + std::exp(-x)) / 2; }},
    {"erf", [](double x, double) { return 1 - std::erfc(x); }},
    {"softplus", [](double x, double) { return std::log(1 + std::exp(x)); }},
    {"softsign", [](double x, double) { return x / (1 + std::fabs(x)); }},
    {"mish", [](double x, double) { return x * std::tanh(std::log(1 + std::exp(x))); }},
    {"celu", [](double x, double a) { return std::max(0.0, x) + std::min(0.0, a * (std::exp(x / a) - 1)); }},
    {"thresholded_relu", [](double x, double alpha) { return x > alpha ? x : 0; }},
    {"hard_sigmoid", [](double x, double alpha) { return std::clamp(alpha * x + 0.5, 0.0, 1.0); }}};
/// Functions of [-1, 1].
const std::map<std::string, Function> kInverses = {
    {"tan", [](double x, double) { return std::sin(x) / std::cos(x); }},
    {"asin", [](double x, double) { return std::atan2(x, std::sqrt(1 - x * x)); }},
    {"acos", [](double x, double) { return std::atan2(std::sqrt(1 - x * x), x); }},
    {"acosh", [](double x, double) { return std::log(x + std::sqrt(x * x - 1)); }},
    {"atanh", [](double x, double) { return std::log((1 + x) / (1 - x)) / 2; }}};

Results Unary(const OpCase& c, const Inputs& in) {
  const auto& name = std::get<std::string>(c.attributes.at("function"));
  const Function f = (kFunctions.count(name) ? kFunctions : kInverses).at(name);
  return Each(in, [&](double x) { return f(x, Number(c, "alpha")); });
}

const OpTraits kClamp = {.op = Op::kClamp, .oracle = Clamp};
const OpTraits kUnary = {.op = Op::kUnary, .oracle = Unary};

OpCase ClampCase(Dims x, double min, double max) {
  return {{Int8(std::move(x), 0.05f, -10)}, {Int8({}, 0.05f, -10)}, {{"min", min}, {"max", max}}};
}
/// Every int8 value once.
Operand All(float scale, int32_t zero_point) {
  Operand x = Int8({2, 128}, scale, zero_point);
  for (int q = -128; q < 128; ++q) x.fixed.push_back(q);
  return x;
}
OpCase UnaryCase(const char* function, Operand x, float scale, int32_t zero_point, double alpha = 0) {
  return {{std::move(x)}, {Int8({}, scale, zero_point)}, {{"function", std::string(function)}, {"alpha", alpha}}};
}

TEST(Clamp, EqualsOracle) {
  RunCases(kClamp, {ClampCase({1, 5, 7, 3}, 0, 6), ClampCase({200}, -1, 1), ClampCase({}, 0, 1e9),
                    ClampCase({2, 1, 2, 3, 1, 2}, -0.51, 0.26)});
}

TEST(Unary, EqualsOracle) {
  std::vector<OpCase> cases;
  for (const float scale : {0.0123f, 0.05f, 0.11f, 0.7f})
    for (const int32_t zero_point : {-128, 5}) {
      cases.push_back(UnaryCase("logistic", All(scale, zero_point), 1.0f / 256, -128));
      cases.push_back(UnaryCase("tanh", All(scale, zero_point), 1.0f / 128, 0));
      cases.push_back(UnaryCase("elu", All(scale, zero_point), scale, zero_point, 1));
      cases.push_back(UnaryCase("hard_swish", All(scale, zero_point), scale * 0.9f, -100));
      cases.push_back(UnaryCase("leaky_relu", All(scale, zero_point), scale * 1.3f, 3, 0.2));
    }
  cases.push_back(UnaryCase("leaky_relu", Int8({}, 0.1f, 0), 0.09f, 0, -0.5));
  for (const char* name : {"gelu", "gelu_tanh", "exp"}) cases.push_back(UnaryCase(name, All(0.031f, 7), 0.05f, -100));
  cases.push_back(UnaryCase("log", Int8({200}, 0.031f, -128).Range(-120, 127), 0.04f, 20));
  cases.push_back(UnaryCase("tanh", Int8({1, 2, 1, 3, 1, 5}, 0.03f, 0), 1.0f / 128, 0));
  const Operand positive = Int8({200}, 0.031f, -128).Range(-120, 127);
  for (const auto& [name, function] : kFunctions)
    if (name != "logistic" && name != "tanh") cases.push_back(UnaryCase(name.c_str(), positive, 0.037f, -3, 1));
  for (const char* name : {"square", "abs", "neg", "sin", "cos", "floor", "ceil", "round", "sign", "softplus",
                           "softsign", "mish", "celu", "thresholded_relu", "hard_sigmoid"})
    cases.push_back(UnaryCase(name, All(0.031f, 7), 0.037f, -3, 0.3));
  for (const auto& [name, function] : kInverses) {
    const bool from_one = name == "acosh";
    const Operand x = Int8({200}, 1.0f / 128, from_one ? -128 : 0).Range(from_one ? 0 : -127, 127);
    cases.push_back(UnaryCase(name.c_str(), x, 0.037f, -3, 1));
  }
  cases.push_back(UnaryCase("abs", All(0.05f, 0), 0.05f, -128));
  const Operand least = Int8({}, 0.002f, -127).Fixed({-126});  // 1 in units of its scale.
  cases.push_back(UnaryCase("rsqrt", least, 0.2f, -128));
  RunCases(kUnary, cases);
}

TEST(Unary, OfPlainIntegersEqualsOracle) {
  for (const DataType type : {DataType::kInt32, DataType::kInt64})
    for (const char* name : {"abs", "neg", "sign", "square"}) {
      OpCase c = UnaryCase(name, Plain(type, {3, 67}), 1, 0);
      c.outputs[0] = Plain(type, {});
      RunCases(kUnary, {c});
    }
}

TEST(Activations, RejectWhatBreaksTheirRule) {
  using P = schema::ClampParams;
  ExpectRejections(
      kClamp, ClampCase({2, 3}, 0, 6), Numerics::kFp32Rne,
      {{"shape of the output", Site::kOpOperands, [](MutableCall& m) { m.dims[1][0] = 3; }},
       {"ordered clamp", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutable_clamp().mutate_min(127.5f); }}});
  using U = schema::UnaryParams;
  ExpectRejections(kUnary, UnaryCase("tanh", Int8({2, 3}), 1.0f / 128, 0), Numerics::kFp32Rne,
                   {{"shape of the output", Site::kOpOperands, [](MutableCall& m) { m.dims[2][0] = 3; }},
                    {"table of 256", Site::kOpOperands, [](MutableCall& m) { m.dims[1][0] = 255; }},
                    {"constant table", Site::kOpConstant, [](MutableCall& m) { m.inputs[1].constant = false; }}});
  const OpCase real = {{Float({2, 3})}, {Float({})}, {{"function", std::string("tanh")}, {"alpha", 0.0}}};
  ExpectRejections(kUnary, real, Numerics::kFp32Rne,
                   {{"alpha is a number", Site::kOpParams, [](MutableCall& m) { m.params<U>().mutate_alpha(NAN); }}});
  OpCase integer = UnaryCase("abs", Plain(DataType::kInt32, {2, 3}), 1, 0);
  integer.outputs[0] = Plain(DataType::kInt32, {});
  ExpectRejections(kUnary, integer, Numerics::kFp32Rne, {{"function", Site::kOpParams, [](MutableCall& m) {
                                                            m.params<U>().mutate_function(schema::UnaryFunction::exp);
                                                          }}});
}

}  // namespace
}  // namespace takt::test
