// clamp, unary
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

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

Results Unary(const OpCase& c, const Inputs& in) {
  const auto& name = std::get<std::string>(c.attributes.at("function"));
  const double alpha = Number(c, "alpha");
  if (name == "logistic") return Each(in, [](double x) { return 1 / (1 + std::exp(-x)); });
  if (name == "tanh") return Each(in, [](double x) { return std::tanh(x); });
  if (name == "elu") return Each(in, [&](double x) { return x >= 0 ? x : alpha * std::expm1(x); });
  if (name == "hard_swish") return Each(in, [](double x) { return x * std::clamp(x + 3, 0.0, 6.0) / 6; });
  return Each(in, [&](double x) { return x >= 0 ? x : alpha * x; });
}

const OpTraits kClamp = {.op = Op::kClamp, .oracle = Clamp};
const OpTraits kUnary = {.op = Op::kUnary, .oracle = Unary};

OpCase ClampCase(Dims x, double min, double max) {
  return {{Int8(std::move(x), 0.05f, -10)}, {Int8({}, 0.05f, -10)}, {{"min", min}, {"max", max}}};
}
OpCase UnaryCase(const char* function, Operand x, float scale, int32_t zero_point, double alpha = 0) {
  return {{std::move(x)}, {Int8({}, scale, zero_point)}, {{"function", std::string(function)}, {"alpha", alpha}}};
}

TEST(Clamp, EqualsOracle) {
  RunCases(kClamp, {ClampCase({1, 5, 7, 3}, 0, 6), ClampCase({200}, -1, 1), ClampCase({}, 0, 1e9),
                    ClampCase({2, 1, 2, 3, 1, 2}, -0.51, 0.26)});
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
}

}  // namespace
}  // namespace takt::test
