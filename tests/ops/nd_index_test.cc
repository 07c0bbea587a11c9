// gather_nd, scatter_nd, update_slice
#include <gtest/gtest.h>

#include <algorithm>

#include "schema/plan_generated.h"
#include "tests/ops/op_test.h"

namespace takt::test {
namespace {

using enum DataType;

int64_t IntOr(const OpCase& c, const char* name, int64_t fallback) {
  const auto at = c.attributes.find(name);
  return at == c.attributes.end() ? fallback : std::get<int64_t>(at->second);
}

/// The rows of indices, then the dims of x from `first` on.
Dims Parts(const Dims& indices, const Dims& x, size_t first) {
  Dims dims(indices.begin(), indices.end() - 1);
  dims.insert(dims.end(), x.begin() + static_cast<ptrdiff_t>(first), x.end());
  return dims;
}

/// From the flat index of each output element.
Results GatherNd(const OpCase& c, const Inputs& in) {
  const auto batch = static_cast<size_t>(IntOr(c, "batch_dims", 0));
  const Dims &x = in[0].dims, &i = in[1].dims;
  const auto named = static_cast<size_t>(i.back());
  Values y(Parts(i, x, batch + named));
  const size_t inner = Product(x, batch + named, x.size()), rows = Product(i, batch, i.size() - 1);
  for (size_t e = 0; e < y.v.size(); ++e) {
    const size_t row = e / inner;
    size_t at = row / rows;
    for (size_t k = 0; k < named; ++k) {
      const auto size = static_cast<size_t>(x[batch + k]);
      at = at * size +
           static_cast<size_t>(std::clamp(in[1].stored[row * named + k], 0.0, static_cast<double>(size - 1)));
    }
    y[e] = in[0].real[at * inner + e % inner];
  }
  return {y};
}
const OpTraits kGatherNd = {.op = Op::kGatherNd, .oracle = GatherNd, .also_float = false};

OpCase Gather(Operand x, Operand indices, int64_t batch_dims = 0) {
  Operand y = x;
  y.dims = {};
  y.constant = false;
  return {{std::move(x), std::move(indices)}, {std::move(y)}, {{"batch_dims", batch_dims}}};
}

/// Some are outside of every dimension here.
Operand Indices(Dims dims, DataType type = kInt32) {
  return Plain(type, std::move(dims), -2, 7);
}

Results ScatterNd(const OpCase& c, const Inputs& in) {
  const Ints& size = std::get<Ints>(c.attributes.at("size"));
  const auto function = std::get<std::string>(c.attributes.at("function"));
  const auto named = static_cast<size_t>(in[1].dims.back());
  Values y(Dims(size.begin(), size.end()));
  if (in.size() == 3) y.v = in[2].real;
  const size_t inner = Product(y.dims, named, y.dims.size());
  for (size_t e = 0; e < in[0].real.size(); ++e) {
    size_t at = 0;
    bool inside = true;
    for (size_t k = 0; k < named; ++k) {
      const double index = in[1].stored[e / inner * named + k];
      inside = inside && index >= 0 && index < static_cast<double>(size[k]);
      at = at * static_cast<size_t>(size[k]) + (inside ? static_cast<size_t>(index) : 0);
    }
    if (!inside) continue;
    double& cell = y[at * inner + e % inner];
    const double v = in[0].real[e];
    if (function == "replace") cell = v;
    if (function == "add") cell += v;
    if (function == "multiply") cell *= v;
    if (function == "maximum") cell = std::max(cell, v);
    if (function == "minimum") cell = std::min(cell, v);
  }
  return {y};
}
const OpTraits kScatterNd = {.op = Op::kScatterNd, .oracle = ScatterNd, .also_float = false};

/// `like` gives the type and quantization of all operands but the indices.
OpCase Scatter(Operand like, Dims updates, Operand indices, Dims size, const char* function, bool initial) {
  Operand y = like;
  y.dims = {};
  like.dims = std::move(updates);
  OpCase c = {
      {like, std::move(indices)}, {y}, {{"function", std::string(function)}, {"size", Ints(size.begin(), size.end())}}};
  if (initial) {
    like.dims = std::move(size);
    c.inputs.push_back(like);
  }
  return c;
}

Results UpdateSlice(const OpCase&, const Inputs& in) {
  const Dims &part = in[0].dims, &x = in[2].dims;
  Values y(x);
  y.v = in[2].real;
  for (size_t e = 0; e < in[0].real.size(); ++e) {
    size_t at = 0, step = 1, rest = e;
    for (size_t d = x.size(); d-- > 0;) {
      const double start = std::clamp(in[1].stored[d], 0.0, static_cast<double>(x[d] - part[d]));
      at += (rest % static_cast<size_t>(part[d]) + static_cast<size_t>(start)) * step;
      rest /= static_cast<size_t>(part[d]);
      step *= static_cast<size_t>(x[d]);
    }
    y[at] = in[0].real[e];
  }
  return {y};
}
const OpTraits kUpdateSlice = {.op = Op::kUpdateSlice, .oracle = UpdateSlice, .also_float = false};

OpCase Update(Operand x, Dims part, DataType index = kInt32) {
  Operand update = x, y = x;
  update.dims = std::move(part);
  y.dims = {};
  const auto rank = static_cast<int32_t>(x.dims.size());
  return {{std::move(update), Indices({rank}, index), std::move(x)}, {std::move(y)}, {}};
}

TEST(GatherNd, EqualsOracle) {
  std::vector<OpCase> cases = {
      Gather(Int8({5, 3}), Indices({4, 1})),
      Gather(Int8({5, 3}), Indices({4, 2})),
      Gather(Int8({2, 5, 3}), Indices({2, 3, 2})),
      Gather(Int8({2, 3, 6}), Indices({3})),
      Gather(Int8({2, 3, 4}), Indices({2, 5, 1}), 1),
      Gather(Int8({2, 3, 4, 2}), Indices({2, 3, 2, 1}), 2),
      Gather(Int8({2, 1, 3, 2, 2, 4}), Indices({3, 6})),
      Gather(Float({7, 2}).Constant(), Indices({3, 1})),
  };
  for (const DataType index : {kInt32, kInt64}) {
    for (const DataType type : {kFloat32, kInt16, kInt32, kInt64})
      cases.push_back(Gather(Plain(type, {3, 4, 2}), Indices({5, 2}, index)));
    cases.push_back(Gather(Plain(kBool, {9}, 0, 1), Indices({2, 3, 1}, index)));
  }
  RunCases(kGatherNd, cases);
}

TEST(GatherNd, RejectsWhatBreaksItsRule) {
  using P = schema::GatherNdParams;
  ExpectRejections(kGatherNd, Gather(Int8({2, 3, 4}), Indices({2, 5, 1}), 1), Numerics::kFp32Rne,
                   {{"batch_dims below the rank of indices", Site::kOpParams,
                     [](MutableCall& m) { m.params<P>().mutate_batch_dims(3); }},
                    {"type of indices", Site::kOpOperands, [](MutableCall& m) { m.inputs[1].type = kInt8; }},
                    {"dimensions that there are", Site::kOpOperands, [](MutableCall& m) { m.dims[1][2] = 3; }},
                    {"batches agree", Site::kOpOperands, [](MutableCall& m) { m.dims[1][0] = 1; }},
                    {"dims of the output", Site::kOpOperands, [](MutableCall& m) { m.dims[2][1] = 6; }},
                    {"rank of the output", Site::kOpOperands, [](MutableCall& m) { m.outputs[0].rank = 2; }}});
}

TEST(ScatterNd, EqualsOracle) {
  std::vector<OpCase> cases;
  for (const char* function : {"replace", "add", "multiply", "maximum", "minimum"}) {
    for (const DataType type : {kFloat32, kInt32, kInt64}) {
      const Operand like = Plain(type, {}, -9, 9);
      cases.push_back(Scatter(like, {6}, Indices({6, 1}), {8}, function, true));
      cases.push_back(Scatter(like, {2, 3, 4}, Indices({2, 3, 2}, type == kInt64 ? kInt64 : kInt32), {3, 5, 4},
                              function, type != kInt32));
    }
  }
  cases.push_back(Scatter(Int8({}), {4, 3}, Indices({4, 1}), {5, 3}, "replace", true));
  cases.push_back(Scatter(Int16({}), {4}, Indices({4, 2}, kInt64), {5, 3}, "replace", true));
  cases.push_back(Scatter(Plain(kBool, {}, 0, 1), {4}, Indices({4, 2}), {5, 3}, "replace", false));
  cases.push_back(Scatter(Float({}), {1, 2}, Indices({1, 5}), {2, 3, 2, 2, 1, 2}, "add", false));
  RunCases(kScatterNd, cases);
}

TEST(ScatterNd, RejectsWhatBreaksItsRule) {
  using P = schema::ScatterNdParams;
  ExpectRejections(kScatterNd, Scatter(Float({}), {4, 3}, Indices({4, 1}), {5, 3}, "add", true), Numerics::kFp32Rne,
                   {{"a function that exists", Site::kOpParams,
                     [](MutableCall& m) { m.params<P>().mutate_function(static_cast<schema::ScatterFunction>(5)); }},
                    {"type of indices", Site::kOpOperands, [](MutableCall& m) { m.inputs[1].type = kInt8; }},
                    {"dimensions that there are", Site::kOpOperands, [](MutableCall& m) { m.dims[1][1] = 3; }},
                    {"dims of the updates", Site::kOpOperands, [](MutableCall& m) { m.dims[0][1] = 2; }},
                    {"dims of x", Site::kOpOperands, [](MutableCall& m) { m.dims[2][0] = 4; }}});
}

TEST(UpdateSlice, EqualsOracle) {
  std::vector<OpCase> cases = {Update(Int8({9}), {3}), Update(Int8({4, 5}), {4, 1}), Update(Int8({4, 5}), {4, 5}),
                               Update(Int8({2, 3, 4, 2, 1, 3}), {1, 2, 3, 1, 1, 2})};
  for (const DataType index : {kInt32, kInt64}) {
    for (const DataType type : {kFloat32, kInt16, kInt32, kInt64})
      cases.push_back(Update(Plain(type, {3, 6, 2}), {1, 2, 2}, index));
    cases.push_back(Update(Plain(kBool, {2, 9}, 0, 1), {2, 2}, index));
  }
  RunCases(kUpdateSlice, cases);
}

TEST(UpdateSlice, RejectsWhatBreaksItsRule) {
  ExpectRejections(kUpdateSlice, Update(Int8({4, 5}), {2, 3}), Numerics::kFp32Rne,
                   {{"an update that fits", Site::kOpOperands, [](MutableCall& m) { m.dims[0][1] = 6; }},
                    {"type of starts", Site::kOpOperands, [](MutableCall& m) { m.inputs[1].type = kInt8; }},
                    {"a start for each dimension", Site::kOpOperands, [](MutableCall& m) { m.dims[1][0] = 1; }},
                    {"dims of the output", Site::kOpOperands, [](MutableCall& m) { m.dims[3][0] = 3; }}});
}

}  // namespace
}  // namespace takt::test
