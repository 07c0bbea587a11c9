// copy, pad, transpose; reshape, concatenation and slice, which become views and copies
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "schema/plan_generated.h"
#include "tests/ops/op_test.h"

namespace takt::test {
namespace {

using Index = std::vector<int32_t>;

/// Calls f(element, its index in each dimension), row-major.
template <typename F>
void ForEachIndex(const Dims& dims, F f) {
  Index index(dims.size());
  const size_t count = Values(dims).v.size();
  for (size_t i = 0; i < count; ++i) {
    size_t rest = i;
    for (size_t d = dims.size(); d-- > 0;) {
      index[d] = static_cast<int32_t>(rest % static_cast<size_t>(dims[d]));
      rest /= static_cast<size_t>(dims[d]);
    }
    f(i, index);
  }
}

size_t At(const Dims& dims, const Index& index) {
  size_t at = 0;
  for (size_t d = 0; d < dims.size(); ++d) at = at * static_cast<size_t>(dims[d]) + static_cast<size_t>(index[d]);
  return at;
}

const Ints& IntsOf(const OpCase& c, const char* name) {
  return std::get<Ints>(c.attributes.at(name));
}

Results Copy(const OpCase&, const Inputs& in) {
  Values y(in[0].dims);
  y.v = in[0].real;
  return {y};
}

Results Pad(const OpCase& c, const Inputs& in) {
  const Ints &before = IntsOf(c, "before"), &after = IntsOf(c, "after");
  Dims dims = in[0].dims;
  for (size_t d = 0; d < dims.size(); ++d) dims[d] += static_cast<int32_t>(before[d] + after[d]);
  Values y(dims, OnGrid(c.outputs[0], std::get<double>(c.attributes.at("value"))));
  ForEachIndex(in[0].dims, [&](size_t i, Index index) {
    for (size_t d = 0; d < index.size(); ++d) index[d] += static_cast<int32_t>(before[d]);
    y[At(dims, index)] = in[0].real[i];
  });
  return {y};
}

Results Transpose(const OpCase& c, const Inputs& in) {
  const Ints& permutation = IntsOf(c, "permutation");
  Dims dims;
  for (const int64_t axis : permutation) dims.push_back(in[0].dims[static_cast<size_t>(axis)]);
  Values y(dims);
  ForEachIndex(dims, [&](size_t i, const Index& index) {
    Index from(index.size());
    for (size_t d = 0; d < index.size(); ++d) from[static_cast<size_t>(permutation[d])] = index[d];
    y[i] = in[0].real[At(in[0].dims, from)];
  });
  return {y};
}

Results Reshape(const OpCase& c, const Inputs& in) {
  Values y(c.outputs[0].dims);
  y.v = in[0].real;
  return {y};
}

Results Concatenation(const OpCase& c, const Inputs& in) {
  const auto axis = static_cast<size_t>(std::get<int64_t>(c.attributes.at("axis")));
  Dims dims = in[0].dims;
  dims[axis] = 0;
  for (const Filled& part : in) dims[axis] += part.dims[axis];
  Values y(dims);
  int32_t first = 0;
  for (const Filled& part : in) {
    ForEachIndex(part.dims, [&](size_t i, Index index) {
      index[axis] += first;
      y[At(dims, index)] = part.real[i];
    });
    first += part.dims[axis];
  }
  return {y};
}

Results Slice(const OpCase& c, const Inputs& in) {
  Values y(c.outputs[0].dims);
  ForEachIndex(y.dims, [&](size_t i, Index index) {
    for (size_t d = 0; d < index.size(); ++d)
      index[d] = static_cast<int32_t>(IntsOf(c, "begin")[d] + index[d] * IntsOf(c, "strides")[d]);
    y[i] = in[0].real[At(in[0].dims, index)];
  });
  return {y};
}

const OpTraits kCopy = {.op = Op::kCopy, .oracle = Copy};
const OpTraits kPad = {.op = Op::kPad, .oracle = Pad};
const OpTraits kTranspose = {.op = Op::kTranspose, .oracle = Transpose};
const OpTraits kReshape = {.op = Op::kReshape, .oracle = Reshape};
const OpTraits kConcatenation = {.op = Op::kConcatenation, .oracle = Concatenation};
const OpTraits kSlice = {.op = Op::kSlice, .oracle = Slice};

OpCase PadCase(Operand x, Ints before, Ints after, double value) {
  Operand y = x;
  y.dims = {};
  return {
      {std::move(x)}, {std::move(y)}, {{"before", std::move(before)}, {"after", std::move(after)}, {"value", value}}};
}
OpCase TransposeCase(Operand x, Ints permutation) {
  Operand y = x;
  y.dims = {};
  return {{std::move(x)}, {std::move(y)}, {{"permutation", std::move(permutation)}}};
}

TEST(Copy, EqualsOracle) {
  std::vector<OpCase> cases = {{{Int8({3, 5})}, {Int8({})}, {}}};
  for (const DataType type :
       {DataType::kFloat32, DataType::kUint8, DataType::kInt16, DataType::kInt32, DataType::kInt64})
    for (const Dims& dims : {Dims{}, Dims{7}, Dims{2, 1, 3, 1, 2, 5}})
      cases.push_back({{Plain(type, dims, 0, 200)}, {Plain(type, {})}, {}});
  cases.push_back({{Plain(DataType::kBool, {9}, 0, 1)}, {Plain(DataType::kBool, {})}, {}});
  RunCases(kCopy, cases);
}

TEST(Pad, EqualsOracle) {
  RunCases(kPad, {PadCase(Int8({1, 3, 4, 2}), {0, 1, 2, 0}, {0, 2, 1, 0}, 0), PadCase(Int8({5}), {3}, {0}, -1.7),
                  PadCase(Int8({2, 3}), {0, 0}, {0, 0}, 0), PadCase(Int8({2, 2}), {1, 1}, {1, 1}, 1000),
                  PadCase(Plain(DataType::kInt32, {2, 3, 1}), {1, 0, 2}, {0, 1, 1}, -7),
                  PadCase(Int8({1, 2, 1, 3, 2, 2}), {1, 0, 2, 0, 1, 0}, {0, 1, 0, 2, 0, 1}, 0.3)});
}

TEST(Transpose, EqualsOracle) {
  RunCases(kTranspose, {TransposeCase(Int8({2, 3, 4, 5}), {0, 3, 1, 2}), TransposeCase(Int8({7, 3}), {1, 0}),
                        TransposeCase(Int8({5}), {0}), TransposeCase(Int16({2, 3, 4}), {2, 0, 1}),
                        TransposeCase(Plain(DataType::kInt32, {2, 3, 4}), {2, 1, 0}),
                        TransposeCase(Int8({1, 2, 3, 2, 1, 4}), {5, 3, 1, 0, 2, 4})});
}

TEST(Reshape, EqualsOracle) {
  RunCases(kReshape, {{{Int8({2, 6})}, {Int8({3, 4})}, {}},
                      {{Int8({24})}, {Int8({1, 2, 3, 1, 4, 1})}, {}},
                      {{Int8({1, 1})}, {Int8({})}, {}}});
}

TEST(Concatenation, EqualsOracle) {
  const auto c = [](std::vector<Dims> parts, int64_t axis) {
    OpCase result = {{}, {Int8({})}, {{"axis", axis}}};
    for (Dims& part : parts) result.inputs.push_back(Int8(std::move(part)));
    return result;
  };
  RunCases(kConcatenation, {c({{2, 3}, {2, 1}, {2, 5}}, 1), c({{1, 2, 2, 3}, {1, 1, 2, 3}}, 1), c({{4}}, 0),
                            c({{1, 2, 1, 1, 2, 1}, {1, 2, 1, 3, 2, 1}}, 3)});
  OpCase constant = c({{2, 3}, {2, 2}}, 1);
  constant.inputs[1] = constant.inputs[1].Constant();
  RunCases(kConcatenation, {constant});
}

TEST(Slice, EqualsOracle) {
  const auto c = [](Dims x, Dims y, Ints begin, Ints strides) {
    return OpCase{
        {Int8(std::move(x))}, {Int8(std::move(y))}, {{"begin", std::move(begin)}, {"strides", std::move(strides)}}};
  };
  RunCases(kSlice, {c({5, 6}, {2, 3}, {1, 2}, {1, 1}), c({9}, {3}, {1}, {3}),
                    c({2, 3, 4, 5}, {1, 3, 2, 2}, {1, 0, 0, 1}, {1, 1, 2, 3}), c({4, 4}, {4, 4}, {0, 0}, {1, 1})});
}

/// Of rank 0 to 6; failures name the seed.
TEST(DataMovement, OfAnyShapeEqualsOracle) {
  constexpr DataType kTypes[] = {DataType::kFloat32, DataType::kUint8, DataType::kInt16,
                                 DataType::kInt32,   DataType::kInt64, DataType::kBool};
  std::vector<OpCase> padded, transposed, slices, concatenations;
  for (uint32_t seed = 1; seed <= 42; ++seed) {
    std::mt19937 random(seed);
    const auto draw = [&random](int64_t least, int64_t most) {
      return least + static_cast<int64_t>(random() % static_cast<uint64_t>(most - least + 1));
    };
    const size_t rank = seed % 7;
    Dims dims, sliced;
    Ints before, after, permutation(rank), begin, strides;
    for (size_t d = 0; d < rank; ++d) {
      dims.push_back(static_cast<int32_t>(draw(1, 4)));
      before.push_back(draw(0, 2));
      after.push_back(draw(0, 2));
      begin.push_back(draw(0, dims[d] - 1));
      strides.push_back(draw(1, 3));
      sliced.push_back(static_cast<int32_t>(draw(1, (dims[d] - 1 - begin[d]) / strides[d] + 1)));
    }
    std::iota(permutation.begin(), permutation.end(), 0);
    std::shuffle(permutation.begin(), permutation.end(), random);
    const DataType type = kTypes[random() % std::size(kTypes)];
    const Operand x = Plain(type, dims, 0, type == DataType::kBool ? 1 : 100);
    Operand y = x;
    padded.push_back(PadCase(x, before, after, 1));
    transposed.push_back(TransposeCase(x, permutation));
    y.dims = sliced;
    slices.push_back({{x}, {y}, {{"begin", begin}, {"strides", strides}}});
    if (rank == 0) continue;
    const int64_t axis = draw(0, static_cast<int64_t>(rank) - 1);
    OpCase joined = {{}, {y}, {{"axis", axis}}};
    for (int64_t parts = draw(1, 4); parts > 0; --parts) {
      joined.inputs.push_back(x);
      joined.inputs.back().dims[static_cast<size_t>(axis)] = static_cast<int32_t>(draw(1, 3));
    }
    joined.outputs[0].dims = {};
    concatenations.push_back(joined);
  }
  RunCases(kPad, padded);
  RunCases(kTranspose, transposed);
  RunCases(kSlice, slices);
  RunCases(kConcatenation, concatenations);
}

TEST(DataMovement, RejectsWhatBreaksItsRules) {
  ExpectRejections(kCopy, {{Plain(DataType::kInt32, {2, 3})}, {Plain(DataType::kInt32, {})}, {}}, Numerics::kFp32Rne,
                   {{"same shape", Site::kOpOperands, [](MutableCall& m) { m.dims[1][1] = 2; }},
                    {"strides of whole elements", Site::kOpOperands, [](MutableCall& m) {
                       static constexpr int32_t kOdd[] = {12, 3};
                       m.inputs[0].strides = kOdd;
                     }}});
  using P = schema::PadParams;
  ExpectRejections(
      kPad, PadCase(Int8({2, 3}), {1, 1}, {1, 1}, 0), Numerics::kFp32Rne,
      {{"rank of the output", Site::kOpOperands, [](MutableCall& m) { m.outputs[0].rank = 1; }},
       {"count", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_count(1); }},
       {"before from 0", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutable_before()->Mutate(1, -1); }},
       {"after from 0", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutable_after()->Mutate(0, -1); }},
       {"dims of the output", Site::kOpOperands, [](MutableCall& m) { m.dims[1][0] = 5; }}});
  using T = schema::TransposeParams;
  ExpectRejections(
      kTranspose, TransposeCase(Int8({3, 3}), {1, 0}), Numerics::kFp32Rne,
      {{"rank of the output", Site::kOpOperands, [](MutableCall& m) { m.outputs[0].rank = 1; }},
       {"count", Site::kOpParams, [](MutableCall& m) { m.params<T>().mutate_count(1); }},
       {"axis below the rank", Site::kOpParams,
        [](MutableCall& m) { m.params<T>().mutable_permutation()->Mutate(0, 2); }},
       {"each axis once", Site::kOpParams, [](MutableCall& m) { m.params<T>().mutable_permutation()->Mutate(0, 0); }},
       {"dims of the output", Site::kOpOperands, [](MutableCall& m) { m.dims[1][0] = 4; }}});
}

}  // namespace
}  // namespace takt::test
