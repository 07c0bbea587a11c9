// binary
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "schema/plan_generated.h"
#include "tests/ops/broadcast.h"
#include "tests/ops/op_test.h"

namespace takt::test {
namespace {

const std::map<std::string, double (*)(double, double)> kFunctions = {
    {"add", [](double a, double b) { return a + b; }},
    {"subtract", [](double a, double b) { return a - b; }},
    {"multiply", [](double a, double b) { return a * b; }},
    {"divide", [](double a, double b) { return a / b; }},
    {"floor_divide", [](double a, double b) { return std::floor(a / b); }},
    {"floor_modulo", [](double a, double b) { return a - b * std::floor(a / b); }},
    {"maximum", [](double a, double b) { return std::max(a, b); }},
    {"minimum", [](double a, double b) { return std::min(a, b); }},
    {"power", [](double a, double b) { return std::pow(a, b); }},
    {"squared_difference", [](double a, double b) { return (a - b) * (a - b); }},
    {"prelu", [](double a, double b) { return a >= 0 ? a : a * b; }},
    {"atan2", [](double a, double b) { return std::atan2(a, b); }},
    {"exclusive_or",
     [](double a, double b) { return static_cast<double>(static_cast<int64_t>(a) ^ static_cast<int64_t>(b)); }},
    {"right_shift", [](double a, double b) { return std::floor(std::ldexp(a, -static_cast<int>(std::max(0.0, b)))); }}};

/// Whether the function is one of real numbers, or of integers.
bool Has(const std::string& function, DataType type) {
  if (function == "prelu" || function == "atan2") return type == DataType::kFloat32;
  return type != DataType::kFloat32 || (function != "exclusive_or" && function != "right_shift");
}

std::string Function(const OpCase& c) {
  return std::get<std::string>(c.attributes.at("function"));
}

/// Integers: toward zero, modulo 2^32 (cases keep int64 in range), a division by 0 gives 0.
double AsStored(const OpCase& c, double a, double b, double y) {
  const DataType type = c.outputs[0].type;
  if (type != DataType::kInt32 && type != DataType::kInt64) return y;
  const bool divides = Function(c).find("div") != std::string::npos || Function(c) == "floor_modulo";
  if (divides && b == 0) return 0;
  if (Function(c) == "power" && b < 0 && a == 0) return 0;
  y = std::trunc(y);
  return type == DataType::kInt32 ? static_cast<int32_t>(static_cast<uint32_t>(static_cast<int64_t>(y))) : y;
}

Results Binary(const OpCase& c, const Inputs& in) {
  double lo = 0, hi = 0;
  ActivationBounds(c, lo, hi);
  return {Pairs(in, [&](size_t i, size_t j) {
    const double a = in[0].real[i], b = in[1].real[j];
    return std::clamp(AsStored(c, a, b, kFunctions.at(Function(c))(a, b)), lo, hi);
  })};
}
const OpTraits kBinary = {.op = Op::kBinary, .oracle = Binary};

/// Products and differences in float, one rounding each.
Results QuantizedFp32Rne(const OpCase& c, const Inputs& in) {
  const float as = c.inputs[0].scales[0], bs = c.inputs[1].scales[0], out = c.outputs[0].scales[0];
  const bool prelu = Function(c) == "prelu";
  const float sa = as / (prelu ? out : std::sqrt(out)), sb = prelu ? as * bs / out : bs / std::sqrt(out);
  return {Pairs(in, [&](size_t i, size_t j) {
    const auto a = static_cast<float>(in[0].centered[i]), b = static_cast<float>(in[1].centered[j]);
    const float ax = a * sa, difference = ax - b * sb;
    const float v = !prelu ? difference * difference : a >= 0 ? ax : a * b * sb;
    return Saturated(c, c.outputs[0], std::nearbyint(static_cast<double>(v)) + c.outputs[0].zero_point);
  })};
}

Results QuantizedTflite(const OpCase& c, const Inputs& in) {
  const double as = c.inputs[0].scale(), bs = c.inputs[1].scale(), out = c.outputs[0].scale();
  const bool prelu = Function(c) == "prelu";
  const double twice = 2 * std::max(as, bs);
  const int64_t left = c.inputs[0].type == DataType::kInt16 ? 1 : 128;
  const Multiplier am(prelu ? as / out : as / twice), bm(prelu ? as * bs / out : bs / twice),
      om(twice * twice / (static_cast<double>(left * left) * out));
  return {Pairs(in, [&](size_t i, size_t j) {
    const auto a = static_cast<int64_t>(in[0].centered[i]), b = static_cast<int64_t>(in[1].centered[j]);
    int64_t q = 0;
    if (prelu) {
      q = a >= 0 ? MultiplyByTflite(a, am) : MultiplyByTflite(a * b, bm);
    } else {
      const int64_t difference = MultiplyByTflite(a * left, am) - MultiplyByTflite(b * left, bm);
      q = MultiplyByTflite(difference * difference, om);
    }
    return Saturated(c, c.outputs[0], static_cast<double>(q + c.outputs[0].zero_point));
  })};
}
const OpTraits kQuantized = {
    .op = Op::kBinary, .oracle = Binary, .fp32_rne = QuantizedFp32Rne, .tflite = QuantizedTflite};

OpCase Case(const std::string& function, Operand a, Operand b, Operand y, const char* activation = "none") {
  return {
      {std::move(a), std::move(b)}, {std::move(y)}, {{"function", function}, {"activation", std::string(activation)}}};
}

/// Operands from which each function is finite.
std::vector<OpCase> Shapes(const std::string& function, DataType type) {
  const bool real = type == DataType::kFloat32, power = function == "power";
  const double a_lo = power && real ? 0.1 : power ? -3 : -40, a_hi = power ? 3 : 40;
  const double b_lo = power && real ? -2 : power ? 0 : real ? 0.5 : -7, b_hi = power ? 4 : 9;
  const auto make = [&](Dims a, Dims b, const char* activation) {
    return Case(function, Plain(type, std::move(a), a_lo, a_hi), Plain(type, std::move(b), b_lo, b_hi), Plain(type, {}),
                activation);
  };
  return {make({1}, {1}, "none"),
          make({7, 31}, {7, 31}, "none"),
          make({2, 3, 5}, {5}, "relu6"),
          make({4, 1, 3}, {5, 1}, "relu"),
          make({2, 1, 3, 1, 2, 5}, {1, 2, 1, 3, 1, 5}, "none"),
          make({}, {3, 4}, "none"),
          make({3, 4}, {}, "relu_n1_to_1")};
}

TEST(Binary, EqualsOracle) {
  for (const auto& [function, f] : kFunctions)
    for (const DataType type : {DataType::kFloat32, DataType::kInt32, DataType::kInt64})
      if (Has(function, type)) RunCases(kBinary, Shapes(function, type));
}

/// Ranks 0 to 6, dimensions of 1 and missing ones on either side; failures name the seed.
TEST(Binary, BroadcastsAnyShapes) {
  std::vector<OpCase> cases;
  for (uint32_t seed = 1; seed <= 42; ++seed) {
    std::mt19937 random(seed);
    Dims a, b;
    for (uint32_t d = 0; d < seed % 7; ++d) {
      const auto size = static_cast<int32_t>(1 + random() % 4);
      a.push_back(random() % 3 == 0 ? 1 : size);
      b.push_back(random() % 3 == 0 ? 1 : size);
    }
    Dims& shorter = random() % 2 == 0 ? a : b;
    shorter.erase(shorter.begin(), shorter.begin() + static_cast<ptrdiff_t>(random() % (shorter.size() + 1)));
    const auto plain = [](Dims dims) { return Plain(DataType::kInt32, std::move(dims)); };
    cases.push_back(Case("subtract", plain(a), plain(b), plain({})));
  }
  RunCases(kBinary, cases);
}

TEST(Binary, OfIntegersIsDefinedForAllValues) {
  constexpr double kMin = std::numeric_limits<int32_t>::min(), kMax = std::numeric_limits<int32_t>::max();
  const auto fixed = [](std::vector<double> values) {
    const auto count = static_cast<int32_t>(values.size());
    return Plain(DataType::kInt32, {count}).Fixed(std::move(values));
  };
  for (const char* function : {"add", "subtract", "divide", "floor_divide", "floor_modulo"})
    RunCases(kBinary, {Case(function, fixed({kMax, kMin, kMin, 5, -5, 0}), fixed({1, 1, -1, 0, 0, 0}), fixed({0}))});
  RunCases(kBinary,
           {Case("right_shift", fixed({kMin, kMax, -1, 5, -9, 1}), fixed({31, kMax, 99, kMin, 1, 0}), fixed({0}))});
  RunCases(kBinary, {Case("power", fixed({1, -1, -1, 2, 0, -3, 0}), fixed({-3, -3, -4, -1, -2, 3, 0}), fixed({0}))});
}

TEST(Binary, OfInt8EqualsOracle) {
  const auto same = [](Dims dims) { return Int8(std::move(dims), 0.05f, -7); };
  for (const char* function : {"maximum", "minimum"})
    RunCases(kBinary, {Case(function, same({5, 7}), same({5, 7}), same({})),
                       Case(function, same({2, 3, 4}), same({3, 1}), same({})),
                       Case(function, same({}), same({1, 2, 1, 3, 1, 2}), same({}), "relu")});
  for (const char* function : {"squared_difference", "prelu"}) {
    RunCases(kQuantized, {Case(function, Int8({300}, 0.043f, -7), Int8({300}, 0.0071f, 19), Int8({}, 0.05f, -100)),
                          Case(function, Int8({2, 5, 4}, 0.04f, 3), Int8({4}, 0.02f, 5), Int8({}, 0.03f, 4), "relu6"),
                          Case(function, Int8({300}, 0.9f, 3), Int8({300}, 0.7f, 5), Int8({}, 0.6f, 4)),
                          Case(function, Int8({300}, 0.002f, 3), Int8({300}, 0.003f, 5), Int8({}, 0.01f, 4))});
  }
}

TEST(Binary, OfInt16EqualsOracle) {
  for (const char* function : {"maximum", "minimum"})
    RunCases(kBinary, {Case(function, Int16({5, 7}), Int16({5, 7}), Int16({})),
                       Case(function, Int16({2, 3, 4}), Int16({3, 1}), Int16({}), "relu")});
  for (const char* function : {"squared_difference", "prelu"})
    RunCases(kQuantized, Wide({Case(function, Int8({300}, 0.043f), Int8({300}, 0.0071f), Int8({}, 0.05f)),
                               Case(function, Int8({2, 5, 4}, 0.04f), Int8({4}, 0.02f), Int8({}, 0.03f), "relu6")}));
}

TEST(Binary, RejectsWhatBreaksItsRule) {
  using P = schema::BinaryParams;
  using F = schema::BinaryFunction;
  const std::vector<Rejection> common = {
      {"a broadcasts", Site::kOpOperands, [](MutableCall& m) { m.dims[0][1] = 2; }},
      {"b broadcasts", Site::kOpOperands, [](MutableCall& m) { m.dims[1][0] = 2; }},
      {"rank below the output's", Site::kOpOperands, [](MutableCall& m) { m.outputs[0].rank = 1; }},
      {"function", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_function(static_cast<F>(14)); }},
      {"clamp", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutable_clamp().mutate_max(NAN); }},
      {"a's zero point", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_a_zero_point(128); }},
      {"b's zero point", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_b_zero_point(-129); }},
      {"output zero point", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_output_zero_point(128); }}};
  const OpCase c = Case("prelu", Int8({2, 3}), Int8({3}), Int8({}));
  ExpectRejections(kQuantized, c, Numerics::kFp32Rne, common);
  ExpectRejections(kQuantized, c, Numerics::kTflite, common);
  ExpectRejections(
      kQuantized, c, Numerics::kFp32Rne,
      {{"a's scale", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_a_scale(256); }},
       {"b's scale", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_b_scale(0); }},
       {"quantized function", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_function(F::divide); }}});
  ExpectRejections(kQuantized, c, Numerics::kTflite,
                   {{"a's multiplier", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_a_multiplier(-1); }},
                    {"b's shift", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_b_shift(31); }},
                    {"output's shift", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_output_shift(-32); }},
                    {"left shift", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_left_shift(8); }}});
  const OpCase integer =
      Case("add", Plain(DataType::kInt32, {2, 3}), Plain(DataType::kInt32, {3}), Plain(DataType::kInt32, {}));
  ExpectRejections(kBinary, integer, Numerics::kFp32Rne,
                   {{"no prelu", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_function(F::prelu); }},
                    {"no atan2", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_function(F::atan2); }}});
  const OpCase real = Case("add", Float({2, 3}), Float({3}), Float({}));
  ExpectRejections(
      kBinary, real, Numerics::kFp32Rne,
      {{"no bits", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_function(F::exclusive_or); }}});
}

}  // namespace
}  // namespace takt::test
