// arg_reduce, cumulative_sum
#include <gtest/gtest.h>

#include <algorithm>

#include "schema/plan_generated.h"
#include "tests/ops/op_test.h"

namespace takt::test {
namespace {

using enum DataType;

int64_t Int(const OpCase& c, const char* name) {
  return std::get<int64_t>(c.attributes.at(name));
}

/// Calls f(index of the line, index of its element k for each k, ascending).
template <typename F>
void Lines(const OpCase& c, const Dims& dims, F f) {
  const auto axis = static_cast<size_t>(Int(c, "axis"));
  size_t inner = 1;
  for (size_t d = axis + 1; d < dims.size(); ++d) inner *= static_cast<size_t>(dims[d]);
  const auto length = static_cast<size_t>(dims[axis]);
  const size_t lines = Values(dims).v.size() / length;
  for (size_t line = 0; line < lines; ++line) {
    std::vector<size_t> at;
    for (size_t k = 0; k < length; ++k) at.push_back(line / inner * inner * length + k * inner + line % inner);
    f(line, at);
  }
}

Results ArgReduce(const OpCase& c, const Inputs& in) {
  Dims dims = in[0].dims;
  dims.erase(dims.begin() + Int(c, "axis"));
  Values y(dims);
  const double sign = Int(c, "smallest") != 0 ? -1 : 1;
  Lines(c, in[0].dims, [&](size_t line, const std::vector<size_t>& at) {
    size_t best = 0;
    for (size_t k = 0; k < at.size(); ++k)
      if (sign * in[0].stored[at[k]] > sign * in[0].stored[at[best]]) best = k;
    y[line] = static_cast<double>(best);
  });
  return {y};
}
const OpTraits kArgReduce = {.op = Op::kArgReduce, .oracle = ArgReduce};

Results CumulativeSum(const OpCase& c, const Inputs& in) {
  Values y(in[0].dims);
  Lines(c, in[0].dims, [&](size_t, std::vector<size_t> at) {
    if (Int(c, "reverse") != 0) std::reverse(at.begin(), at.end());
    double sum = 0;
    for (const size_t i : at) {
      y[i] = sum + (Int(c, "exclusive") != 0 ? 0 : in[0].real[i]);
      sum += in[0].real[i];
    }
  });
  return {y};
}
const OpTraits kCumulativeSum = {.op = Op::kCumulativeSum, .oracle = CumulativeSum};

OpCase ArgCase(Operand x, int64_t axis, bool smallest, DataType index = kInt32) {
  return {{std::move(x)}, {Plain(index, {})}, {{"axis", axis}, {"smallest", int64_t{smallest}}}};
}
OpCase SumCase(Operand x, int64_t axis, bool exclusive = false, bool reverse = false) {
  const DataType type = x.type;
  return {{std::move(x)},
          {Plain(type, {})},
          {{"axis", axis}, {"exclusive", int64_t{exclusive}}, {"reverse", int64_t{reverse}}}};
}

TEST(ArgReduce, EqualsOracle) {
  for (const DataType index : {kInt32, kInt64})
    for (const bool smallest : {false, true})
      RunCases(kArgReduce,
               {ArgCase(Float({5, 7, 11}), 1, smallest, index), ArgCase(Float({17}), 0, smallest, index),
                ArgCase(Plain(kInt32, {3, 40}, -5, 5), 1, smallest, index),
                ArgCase(Int8({2, 3, 1, 2, 3, 4}), 4, smallest, index), ArgCase(Int8({9, 4}), 0, smallest, index)});
}

TEST(CumulativeSum, EqualsOracle) {
  for (const DataType type : {kFloat32, kInt32, kInt64})
    for (const bool exclusive : {false, true})
      for (const bool reverse : {false, true})
        RunCases(kCumulativeSum, {SumCase(Plain(type, {3, 5, 7}), 1, exclusive, reverse),
                                  SumCase(Plain(type, {9}), 0, exclusive, reverse),
                                  SumCase(Plain(type, {2, 1, 3, 1, 2, 5}), 5, exclusive, reverse)});
}

TEST(AlongAxis, RejectWhatBreaksTheirRule) {
  using A = schema::ArgReduceParams;
  ExpectRejections(kArgReduce, ArgCase(Float({2, 3, 4}), 1, false), Numerics::kFp32Rne,
                   {{"axis below the rank", Site::kOpParams, [](MutableCall& m) { m.params<A>().mutate_axis(3); }},
                    {"dims of the output", Site::kOpOperands, [](MutableCall& m) { m.dims[1][1] = 3; }},
                    {"rank of the output", Site::kOpOperands, [](MutableCall& m) { m.outputs[0].rank = 1; }},
                    {"type of the output", Site::kOpOperands, [](MutableCall& m) { m.outputs[0].type = kInt8; }}});
  using S = schema::CumulativeSumParams;
  ExpectRejections(kCumulativeSum, SumCase(Float({2, 3}), 1), Numerics::kFp32Rne,
                   {{"axis below the rank", Site::kOpParams, [](MutableCall& m) { m.params<S>().mutate_axis(2); }},
                    {"shape of the output", Site::kOpOperands, [](MutableCall& m) { m.dims[1][0] = 1; }}});
}

}  // namespace
}  // namespace takt::test
