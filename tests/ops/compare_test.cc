// compare
#include <gtest/gtest.h>

#include <cmath>

#include "schema/plan_generated.h"
#include "tests/ops/broadcast.h"
#include "tests/ops/op_test.h"

namespace takt::test {
namespace {

bool Holds(const std::string& function, double a, double b) {
  if (function == "equal") return a == b;
  if (function == "not_equal") return a != b;
  if (function == "greater") return a > b;
  if (function == "greater_equal") return a >= b;
  return function == "less" ? a < b : a <= b;
}

/// Compares f(operand 0 or 1, centered value).
template <typename F>
Results CompareBy(const OpCase& c, const Inputs& in, F f) {
  const auto& function = std::get<std::string>(c.attributes.at("function"));
  return {Pairs(in, [&](size_t i, size_t j) {
    return static_cast<double>(Holds(function, f(0, in[0].centered[i]), f(1, in[1].centered[j])));
  })};
}
/// Products in float; without quantization the values.
Results Compare(const OpCase& c, const Inputs& in) {
  return CompareBy(c, in, [&](size_t n, double v) {
    return c.inputs[n].scales.empty() ? v : static_cast<double>(static_cast<float>(v) * c.inputs[n].scales[0]);
  });
}
Results CompareTflite(const OpCase& c, const Inputs& in) {
  return CompareBy(c, in, [&](size_t n, double v) {
    return static_cast<double>(MultiplyByTflite(static_cast<int64_t>(v) * 256, Multiplier(c.inputs[n].scale())));
  });
}
const OpTraits kCompare = {.op = Op::kCompare, .oracle = Compare, .tflite = CompareTflite};

constexpr const char* kFunctions[] = {"equal", "not_equal", "greater", "greater_equal", "less", "less_equal"};

OpCase Case(const char* function, Operand a, Operand b) {
  return {{std::move(a), std::move(b)}, {Plain(DataType::kBool, {})}, {{"function", std::string(function)}}};
}

TEST(Compare, EqualsOracle) {
  for (const char* function : kFunctions) {
    for (const DataType type : {DataType::kInt32, DataType::kInt64, DataType::kBool}) {
      const auto plain = [&](Dims dims) {
        return Plain(type, std::move(dims), type == DataType::kBool ? 0 : -3, type == DataType::kBool ? 1 : 3);
      };
      RunCases(kCompare,
               {Case(function, plain({7, 11}), plain({7, 11})), Case(function, plain({2, 1, 5}), plain({3, 1})),
                Case(function, plain({1, 2, 1, 3, 1, 2}), plain({}))});
    }
    const Operand special = Float({6}).Fixed({0.0, -0.0, NAN, INFINITY, 1.5, -1.5});
    RunCases(kCompare, {Case(function, special, Float({6, 1}).Fixed({0.0, -0.0, NAN, INFINITY, 1.5, -1.5})),
                        Case(function, Float({300}), Float({300}))});
    RunCases(kCompare, {Case(function, Int8({300}, 0.05f, 3), Int8({300}, 0.05f, 3)),
                        Case(function, Int8({2, 30}, 0.05f, 3), Int8({30}, 0.1f, -7)),
                        Case(function, Int8({300}, 1.5f, 3), Int8({300}, 0.75f, 9)),
                        Case(function, Int16({300}, 0.002f).Range(-20, 20), Int16({300}, 0.001f).Range(-40, 40))});
  }
}

TEST(Compare, RejectsWhatBreaksItsRule) {
  using P = schema::CompareParams;
  const std::vector<Rejection> common = {
      {"a broadcasts", Site::kOpOperands, [](MutableCall& m) { m.dims[0][1] = 2; }},
      {"function", Site::kOpParams,
       [](MutableCall& m) { m.params<P>().mutate_function(static_cast<schema::CompareFunction>(6)); }},
      {"a's zero point", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_a_zero_point(128); }},
      {"b's zero point", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_b_zero_point(128); }}};
  const OpCase c = Case("less", Int8({2, 3}), Int8({3}));
  ExpectRejections(kCompare, c, Numerics::kFp32Rne, common);
  ExpectRejections(kCompare, c, Numerics::kTflite, common);
  ExpectRejections(kCompare, c, Numerics::kFp32Rne,
                   {{"a's scale", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_a_scale(0); }},
                    {"b's scale", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_b_scale(NAN); }}});
  ExpectRejections(kCompare, c, Numerics::kTflite,
                   {{"a's multiplier", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_a_multiplier(-1); }},
                    {"b's shift", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_b_shift(31); }}});
}

}  // namespace
}  // namespace takt::test
