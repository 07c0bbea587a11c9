// gather
#include <gtest/gtest.h>

#include <algorithm>

#include "schema/plan_generated.h"
#include "tests/ops/op_test.h"

namespace takt::test {
namespace {

/// From the flat index of each output element: [batch, outer, index, inner].
Results Gather(const OpCase& c, const Inputs& in) {
  const auto axis = static_cast<size_t>(std::get<int64_t>(c.attributes.at("axis")));
  const auto batch = static_cast<size_t>(std::get<int64_t>(c.attributes.at("batch_dims")));
  const Dims &x = in[0].dims, &i = in[1].dims;
  Dims dims(x.begin(), x.begin() + static_cast<ptrdiff_t>(axis));
  dims.insert(dims.end(), i.begin() + static_cast<ptrdiff_t>(batch), i.end());
  dims.insert(dims.end(), x.begin() + static_cast<ptrdiff_t>(axis) + 1, x.end());
  Values y(dims);
  const size_t inner = Product(x, axis + 1, x.size()), count = Product(i, batch, i.size());
  const size_t outer = Product(x, batch, axis), size = static_cast<size_t>(x[axis]);
  for (size_t e = 0; e < y.v.size(); ++e) {
    const size_t row = e / inner / count;  // batch * outer
    const double index = in[1].stored[row / outer * count + e / inner % count];
    const auto cell = static_cast<size_t>(std::clamp(index, 0.0, static_cast<double>(size - 1)));
    y[e] = in[0].real[(row * size + cell) * inner + e % inner];
  }
  return {y};
}

const OpTraits kGather = {.op = Op::kGather, .oracle = Gather, .also_float = false};

OpCase Case(Operand x, Operand indices, int64_t axis, int64_t batch_dims = 0) {
  Operand y = x;
  y.dims = {};
  y.constant = false;
  return {{std::move(x), std::move(indices)}, {std::move(y)}, {{"axis", axis}, {"batch_dims", batch_dims}}};
}

/// Some of the indices are outside of every axis here.
Operand Indices(Dims dims, DataType type = DataType::kInt32) {
  return Plain(type, std::move(dims), -2, 7);
}

TEST(Gather, EqualsOracle) {
  std::vector<OpCase> cases = {
      Case(Int8({5, 3}), Indices({4}), 0),
      Case(Int8({2, 5, 3}), Indices({2, 3}), 1),
      Case(Int8({2, 3, 6}), Indices({}), 2),
      Case(Int8({2, 3, 4, 5}), Indices({2, 3, 4}), 2, 1),
      Case(Int8({2, 3, 4}), Indices({2, 3, 2}), 2, 2),
      Case(Int8({2, 1, 3, 2, 2, 4}), Indices({3}), 5),
      Case(Int8({5, 3}).Constant(), Indices({4}), 0),
      Case(Float({7, 2}), Indices({3}).Constant(), 0),
  };
  for (const DataType index : {DataType::kInt32, DataType::kInt64})
    for (const DataType type : {DataType::kFloat32, DataType::kInt16, DataType::kInt32, DataType::kInt64})
      cases.push_back(Case(Plain(type, {3, 4, 2}), Indices({5}, index), 1));
  cases.push_back(Case(Plain(DataType::kBool, {9}, 0, 1), Indices({2, 3}), 0));
  RunCases(kGather, cases);
}

TEST(Gather, TakesAnIndexOutsideAsTheNearestEnd) {
  for (const DataType index : {DataType::kInt32, DataType::kInt64})
    RunCases(kGather, {Case(Float({3, 2}), Plain(index, {6}).Fixed({-2147483648.0, -1, 2, 3, 2147483647.0, 1}), 0)});
}

TEST(Gather, RejectsWhatBreaksItsRule) {
  using P = schema::GatherParams;
  ExpectRejections(
      kGather, Case(Int8({2, 3, 4}), Indices({2, 5}), 1, 1), Numerics::kFp32Rne,
      {{"axis below the rank", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_axis(3); }},
       {"batch_dims up to the axis", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_batch_dims(2); }},
       {"type of indices", Site::kOpOperands, [](MutableCall& m) { m.inputs[1].type = DataType::kInt8; }},
       {"batches agree", Site::kOpOperands, [](MutableCall& m) { m.dims[1][0] = 1; }},
       {"dims of the output", Site::kOpOperands, [](MutableCall& m) { m.dims[2][1] = 6; }},
       {"rank of the output", Site::kOpOperands, [](MutableCall& m) { m.outputs[0].rank = 2; }}});
}

}  // namespace
}  // namespace takt::test
