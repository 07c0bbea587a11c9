// logic, select
#include <gtest/gtest.h>

#include "schema/plan_generated.h"
#include "tests/ops/broadcast.h"
#include "tests/ops/op_test.h"

namespace takt::test {
namespace {

Results Logic(const OpCase& c, const Inputs& in) {
  const auto& function = std::get<std::string>(c.attributes.at("function"));
  if (in.size() == 1) {
    Values y(in[0].dims);
    for (size_t i = 0; i < y.v.size(); ++i) y[i] = in[0].stored[i] == 0;
    return {y};
  }
  return {Pairs(in, [&](size_t i, size_t j) -> double {
    const bool a = in[0].stored[i] != 0, b = in[1].stored[j] != 0;
    return function == "conjunction" ? a && b : function == "disjunction" ? a || b : a != b;
  })};
}
const OpTraits kLogic = {.op = Op::kLogic, .oracle = Logic};

Operand Bool(Dims dims) {
  return Plain(DataType::kBool, std::move(dims), 0, 1);
}
OpCase LogicCase(const char* function, std::vector<Operand> inputs) {
  return {std::move(inputs), {Bool({})}, {{"function", std::string(function)}}};
}

Results Select(const OpCase&, const Inputs& in) {
  Values y(BroadcastDims(in));
  for (size_t i = 0; i < y.v.size(); ++i) {
    const bool first = in[0].stored[BroadcastIndex(y.dims, in[0].dims, i)] != 0;
    const Filled& from = in[first ? 1 : 2];
    y[i] = from.real[BroadcastIndex(y.dims, from.dims, i)];
  }
  return {y};
}
/// Float operands have cases of their own; the condition is never real.
const OpTraits kSelect = {.op = Op::kSelect, .oracle = Select, .also_float = false};

TEST(Logic, EqualsOracle) {
  for (const char* function : {"conjunction", "disjunction", "exclusive_disjunction"})
    RunCases(kLogic, {LogicCase(function, {Bool({40}), Bool({40})}),
                      LogicCase(function, {Bool({2, 1, 5}), Bool({3, 1})}), LogicCase(function, {Bool({}), Bool({})})});
  RunCases(kLogic, {LogicCase("negation", {Bool({3, 7})}), LogicCase("negation", {Bool({})})});
}

TEST(Logic, AnyByteOtherThanZeroIsTrue) {
  const Operand bytes = Bool({4}).Fixed({0, 1, 2, 255});
  RunCases(kLogic,
           {LogicCase("conjunction", {bytes, Bool({4, 1}).Fixed({0, 128, 1, 7})}), LogicCase("negation", {bytes})});
}

TEST(Select, EqualsOracle) {
  using enum DataType;
  for (const DataType type : {kFloat32, kInt16, kInt32, kInt64, kUint8}) {
    const auto plain = [&](Dims dims) { return Plain(type, std::move(dims), type == kUint8 ? 0 : -100, 100); };
    const auto make = [&](Dims condition, Dims a, Dims b) {
      return OpCase{{Bool(std::move(condition)), plain(std::move(a)), plain(std::move(b))}, {plain({})}, {}};
    };
    RunCases(kSelect, {make({7, 5}, {7, 5}, {7, 5}), make({2, 1, 1}, {3, 1}, {4}), make({}, {3}, {2, 3}),
                       make({1, 2, 1, 3, 1, 2}, {}, {})});
  }
  RunCases(kSelect, {{{Bool({4, 1}), Bool({4, 3}), Bool({3})}, {Bool({})}, {}},
                     {{Bool({40}), Int8({40}), Int8({40})}, {Int8({})}, {}}});
}

TEST(LogicAndSelect, RejectWhatBreaksTheirRule) {
  ExpectRejections(
      kLogic, LogicCase("conjunction", {Bool({2, 3}), Bool({3})}), Numerics::kFp32Rne,
      {{"a broadcasts", Site::kOpOperands, [](MutableCall& m) { m.dims[0][1] = 2; }},
       {"function", Site::kOpParams,
        [](MutableCall& m) { m.params<schema::LogicParams>().mutate_function(static_cast<schema::LogicFunction>(4)); }},
       {"one operand of negation", Site::kOpOperands,
        [](MutableCall& m) { m.params<schema::LogicParams>().mutate_function(schema::LogicFunction::negation); }}});
  ExpectRejections(kSelect, {{Bool({2, 3}), Float({3}), Float({2, 1})}, {Float({})}, {}}, Numerics::kFp32Rne,
                   {{"condition broadcasts", Site::kOpOperands, [](MutableCall& m) { m.dims[0][1] = 2; }},
                    {"a broadcasts", Site::kOpOperands, [](MutableCall& m) { m.dims[1][0] = 2; }},
                    {"b broadcasts", Site::kOpOperands, [](MutableCall& m) { m.dims[2][0] = 3; }}});
}

}  // namespace
}  // namespace takt::test
