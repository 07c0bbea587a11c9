// batch_matmul
#include <gtest/gtest.h>

#include "schema/plan_generated.h"
#include "tests/ops/op_test.h"

namespace takt::test {
namespace {

bool Flag(const OpCase& c, const char* name) {
  return std::get<int64_t>(c.attributes.at(name)) != 0;
}

/// Accumulators. Element (m, n) of each product reads by its own strides; the leading dims broadcast.
Results Multiply(const OpCase& c, const Inputs& in) {
  const Dims &a = in[0].dims, &b = in[1].dims;
  const bool ta = Flag(c, "transpose_a"), tb = Flag(c, "transpose_b");
  const size_t rank = std::max(a.size(), b.size());
  Dims lead(rank - 2, 1);
  for (const Dims* t : {&a, &b})
    for (size_t d = 0; d + 2 < t->size(); ++d) {
      int32_t& dim = lead[lead.size() - 1 - d];
      dim = std::max(dim, (*t)[t->size() - 3 - d]);
    }
  const auto last = [](const Dims& t, size_t back) { return static_cast<size_t>(t[t.size() - back]); };
  const size_t rows = last(a, ta ? 1 : 2), depth = last(a, ta ? 2 : 1), columns = last(b, tb ? 2 : 1);
  const Dims a_lead(a.begin(), a.end() - 2), b_lead(b.begin(), b.end() - 2);
  Dims dims = lead;
  dims.push_back(static_cast<int32_t>(rows));
  dims.push_back(static_cast<int32_t>(columns));
  Values y(dims);
  for (size_t i = 0; i < y.v.size(); ++i) {
    const size_t n = i % columns, m = i / columns % rows, batch = i / columns / rows;
    const size_t first = BroadcastIndex(lead, a_lead, batch) * rows * depth;
    const size_t second = BroadcastIndex(lead, b_lead, batch) * columns * depth;
    for (size_t k = 0; k < depth; ++k)
      y[i] += in[0].centered[first + (ta ? k * rows + m : m * depth + k)] *
              in[1].centered[second + (tb ? n * depth + k : k * columns + n)];
  }
  return {y};
}

/// The scales' product in float, as TFLite has it.
double Unit(const OpCase& c, size_t) {
  if (c.inputs[0].scales.empty()) return 1;
  return static_cast<double>(c.inputs[0].scales[0] * c.inputs[1].scales[0]);
}

const OpTraits kBatchMatMul = {.op = Op::kBatchMatMul, .oracle = Multiply, .unit = Unit, .wide_sums = true};

OpCase Case(Dims a, Dims b, int64_t transpose_a = 0, int64_t transpose_b = 0) {
  return {{Int8(std::move(a), 0.043f, -7), Int8(std::move(b), 0.031f, 11)},
          {Int8({}, 0.21f, 5)},
          {{"transpose_a", transpose_a}, {"transpose_b", transpose_b}}};
}

TEST(BatchMatMul, EqualsOracle) {
  const std::vector<OpCase> cases = {Case({3, 5}, {5, 4}),
                                     Case({5, 3}, {5, 4}, 1, 0),
                                     Case({3, 5}, {4, 5}, 0, 1),
                                     Case({2, 5, 3}, {2, 4, 5}, 1, 1),
                                     Case({2, 3, 6, 5}, {5, 2}),
                                     Case({7, 5}, {3, 1, 5, 2}),
                                     Case({2, 1, 3, 4}, {1, 3, 4, 2}),
                                     Case({1, 2, 1, 2, 3, 9}, {2, 1, 1, 1, 9, 2}),
                                     Case({1, 1}, {1, 1})};
  RunCases(kBatchMatMul, cases);
  std::vector<OpCase> wide = Wide(cases);
  for (OpCase& c : wide) c.outputs[0].scales[0] = 0.02f;
  RunCases(kBatchMatMul, wide);
}

TEST(BatchMatMul, RejectsWhatBreaksItsRule) {
  using P = schema::BatchMatMulParams;
  const OpCase c = Case({2, 3, 5}, {2, 5, 4});
  const std::vector<Rejection> rejections = {
      {"output of rank 2", Site::kOpOperands, [](MutableCall& m) { m.outputs[0].rank = 1; }},
      {"a of rank 2", Site::kOpOperands, [](MutableCall& m) { m.inputs[0].rank = 1; }},
      {"b of at most the output's rank", Site::kOpOperands, [](MutableCall& m) { m.outputs[0].rank = 2; }},
      {"rows", Site::kOpOperands, [](MutableCall& m) { m.dims[2][1] = 4; }},
      {"columns", Site::kOpOperands, [](MutableCall& m) { m.dims[2][2] = 5; }},
      {"depths", Site::kOpOperands, [](MutableCall& m) { m.dims[1][1] = 6; }},
      {"transposition", Site::kOpOperands, [](MutableCall& m) { m.params<P>().mutate_transpose_a(true); }},
      {"leading dims", Site::kOpOperands, [](MutableCall& m) { m.dims[0][0] = 3; }},
      {"clamp", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutable_clamp().mutate_min(-129); }},
      {"zero point", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_b_zero_point(128); }}};
  for (const Numerics numerics : {Numerics::kFp32Rne, Numerics::kTflite})
    ExpectRejections(kBatchMatMul, c, numerics, rejections);
}

}  // namespace
}  // namespace takt::test
