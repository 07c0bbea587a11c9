// arg_reduce, cumulative_sum, top_k, reverse_sequence
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

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

/// A stable sort of each line.
Results TopK(const OpCase& c, const Inputs& in) {
  const auto axis = static_cast<size_t>(Int(c, "axis")), k = static_cast<size_t>(Int(c, "k"));
  Dims dims = in[0].dims;
  dims[axis] = static_cast<int32_t>(k);
  Values values(dims), indices(dims);
  const double sign = Int(c, "smallest") != 0 ? -1 : 1;
  std::vector<std::vector<size_t>> lines;
  Lines(c, in[0].dims, [&](size_t, const std::vector<size_t>& at) { lines.push_back(at); });
  Lines(c, dims, [&](size_t line, const std::vector<size_t>& to) {
    const std::vector<size_t>& at = lines[line];
    std::vector<size_t> order(at.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return sign * in[0].stored[at[a]] > sign * in[0].stored[at[b]]; });
    for (size_t i = 0; i < k; ++i) {
      values[to[i]] = in[0].real[at[order[i]]];
      indices[to[i]] = static_cast<double>(order[i]);
    }
  });
  return {values, indices};
}
const OpTraits kTopK = {.op = Op::kTopK, .oracle = TopK, .also_float = false};

OpCase TopKCase(Operand x, int64_t axis, int64_t k, bool smallest = false, DataType index = kInt32) {
  Operand y = x;
  y.dims = {};
  return {
      {std::move(x)}, {std::move(y), Plain(index, {})}, {{"axis", axis}, {"k", k}, {"smallest", int64_t{smallest}}}};
}

Results ReverseSequence(const OpCase& c, const Inputs& in) {
  const auto batch_axis = static_cast<size_t>(Int(c, "batch_axis"));
  Values y(in[0].dims);
  size_t batch_inner = 1;
  for (size_t d = batch_axis + 1; d < y.dims.size(); ++d) batch_inner *= static_cast<size_t>(y.dims[d]);
  Lines(c, in[0].dims, [&](size_t, const std::vector<size_t>& at) {
    const double given = in[1].stored[at[0] / batch_inner % static_cast<size_t>(y.dims[batch_axis])];
    const auto length = static_cast<size_t>(std::clamp(given, 0.0, static_cast<double>(at.size())));
    for (size_t k = 0; k < at.size(); ++k) y[at[k]] = in[0].real[k < length ? at[length - 1 - k] : at[k]];
  });
  return {y};
}
const OpTraits kReverseSequence = {.op = Op::kReverseSequence, .oracle = ReverseSequence, .also_float = false};

OpCase ReverseCase(Operand x, int64_t axis, int64_t batch_axis, DataType index = kInt32) {
  Operand y = x;
  y.dims = {};
  const int32_t count = x.dims[static_cast<size_t>(batch_axis)];
  return {{std::move(x), Plain(index, {count}, -2, 8)}, {std::move(y)}, {{"axis", axis}, {"batch_axis", batch_axis}}};
}

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
                ArgCase(Plain(kInt32, {3, 40}, -5, 5), 1, smallest, index), ArgCase(Int16({3, 40}), 1, smallest, index),
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

TEST(TopK, EqualsOracle) {
  std::vector<OpCase> cases = {TopKCase(Int8({40}), 0, 7),
                               TopKCase(Int8({3, 9}), 1, 9),
                               TopKCase(Int8({2, 6, 5}), 1, 1, true),
                               TopKCase(Int8({2, 2, 2, 7, 2, 2}), 3, 4, false, kInt64),
                               TopKCase(Int16({4, 11}), 1, 3),
                               TopKCase(Float({2, 50}), 1, 5, true),
                               TopKCase(Float({1}), 0, 1),
                               TopKCase(Float({6}).Fixed({1, 3, 3, 2, 3, 1}), 0, 4)};
  for (const DataType type : {kInt32, kInt64}) cases.push_back(TopKCase(Plain(type, {5, 8}), 1, 4, false, type));
  RunCases(kTopK, cases);
}

TEST(TopK, RejectsWhatBreaksItsRule) {
  using P = schema::TopKParams;
  ExpectRejections(
      kTopK, TopKCase(Int8({3, 9}), 1, 4), Numerics::kFp32Rne,
      {{"axis below the rank", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_axis(2); }},
       {"k up to the axis", Site::kOpOperands, [](MutableCall& m) { m.dims[1][1] = m.dims[2][1] = 10; }},
       {"other dims as the input's", Site::kOpOperands, [](MutableCall& m) { m.dims[1][0] = m.dims[2][0] = 2; }},
       {"as many indices as values", Site::kOpOperands, [](MutableCall& m) { m.dims[2][1] = 3; }},
       {"type of indices", Site::kOpOperands, [](MutableCall& m) { m.outputs[1].type = kInt16; }}});
}

TEST(ReverseSequence, EqualsOracle) {
  std::vector<OpCase> cases = {ReverseCase(Int8({3, 7}), 1, 0), ReverseCase(Int8({7, 3}), 0, 1),
                               ReverseCase(Int8({2, 3, 4, 5}), 2, 0), ReverseCase(Int8({2, 3, 2, 2, 2, 2}), 1, 5)};
  for (const DataType index : {kInt32, kInt64}) {
    for (const DataType type : {kFloat32, kInt16, kInt32, kInt64})
      cases.push_back(ReverseCase(Plain(type, {3, 6, 2}), 1, 0, index));
    cases.push_back(ReverseCase(Plain(kBool, {2, 9}, 0, 1), 1, 0, index));
  }
  RunCases(kReverseSequence, cases);
}

TEST(ReverseSequence, RejectsWhatBreaksItsRule) {
  using P = schema::ReverseSequenceParams;
  ExpectRejections(
      kReverseSequence, ReverseCase(Int8({2, 3, 4}), 2, 1), Numerics::kFp32Rne,
      {{"axis below the rank", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_axis(3); }},
       {"batch axis below the rank", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_batch_axis(3); }},
       {"axes differ", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_batch_axis(2); }},
       {"a length for each", Site::kOpOperands, [](MutableCall& m) { m.dims[1][0] = 2; }},
       {"type of lengths", Site::kOpOperands, [](MutableCall& m) { m.inputs[1].type = kInt8; }},
       {"dims of the output", Site::kOpOperands, [](MutableCall& m) { m.dims[2][2] = 3; }}});
}

}  // namespace
}  // namespace takt::test
