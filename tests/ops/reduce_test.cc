// mean, reduce
#include <gtest/gtest.h>

#include <algorithm>

#include "schema/plan_generated.h"
#include "tests/ops/op_test.h"

namespace takt::test {
namespace {

bool IsReduced(const OpCase& c, size_t axis) {
  const Ints& axes = std::get<Ints>(c.attributes.at("axes"));
  return std::find(axes.begin(), axes.end(), static_cast<int64_t>(axis)) != axes.end();
}

double Count(const OpCase& c) {
  double count = 1;
  for (const int64_t axis : std::get<Ints>(c.attributes.at("axes")))
    count *= c.inputs[0].dims[static_cast<size_t>(axis)];
  return count;
}

/// The output's dims, and those of the input with each reduced axis as 1.
Dims OutputDims(const OpCase& c, const Dims& x, Dims& kept) {
  Dims dims;
  for (size_t d = 0; d < x.size(); ++d) {
    kept.push_back(IsReduced(c, d) ? 1 : x[d]);
    if (!IsReduced(c, d) || std::get<int64_t>(c.attributes.at("keep_dims")) != 0) dims.push_back(kept.back());
  }
  return dims;
}

/// Accumulators: sums over the reduced axes.
Results Sum(const OpCase& c, const Inputs& in) {
  Dims kept;
  Values y(OutputDims(c, in[0].dims, kept));
  for (size_t i = 0; i < in[0].stored.size(); ++i) y[BroadcastIndex(in[0].dims, kept, i)] += in[0].centered[i];
  return {y};
}

/// 1/N goes into the multiplier, which keeps as many bits as fit.
Results MeanTflite(const OpCase& c, const Inputs& in) {
  Results y = Sum(c, in);
  Multiplier m(c.inputs[0].scale() / c.outputs[0].scale());
  const auto count = static_cast<int64_t>(Count(c));
  int shift = 0;
  while ((count >> (shift + 1)) != 0) ++shift;
  shift = std::min({shift, 32, 31 + m.exponent});
  m.mantissa = (m.mantissa << shift) / count;
  m.exponent -= shift;
  for (double& v : y[0].v)
    v = Saturated(c, c.outputs[0],
                  static_cast<double>(MultiplyByTflite(static_cast<int64_t>(v), m) + c.outputs[0].zero_point));
  return y;
}

const OpTraits kMean = {.op = Op::kMean,
                        .oracle = Sum,
                        .unit = [](const OpCase& c, size_t) { return c.inputs[0].scale() / Count(c); },
                        .tflite = MeanTflite};

OpCase Case(Dims x, Ints axes, bool keep, float in = 0.05f, float out = 0.043f) {
  return {{Int8(std::move(x), in, -9)}, {Int8({}, out, 21)}, {{"axes", std::move(axes)}, {"keep_dims", int64_t{keep}}}};
}

TEST(Mean, EqualsOracle) {
  const std::vector<OpCase> cases = {Case({2, 5, 7, 33}, {1, 2}, false),
                                     Case({2, 5, 7, 3}, {1, 2}, true),
                                     Case({31}, {0}, false),
                                     Case({4, 6}, {1}, true),
                                     Case({4, 6}, {0}, false),
                                     Case({2, 3, 2, 5, 3, 7}, {0, 2, 4}, false),
                                     Case({2, 3, 2, 5, 3, 7}, {1, 3, 5}, true),
                                     Case({3, 4}, {0, 1}, true),
                                     Case({1, 9, 1}, {0, 2}, false),
                                     Case({1, 8, 8, 40}, {1, 2}, false, 0.9f, 0.011f),
                                     Case({5, 3}, {}, false)};
  RunCases(kMean, cases);
  RunCases(kMean, Wide(cases));
}

double Combine(const std::string& function, double acc, double v) {
  if (function == "sum") return acc + v;
  if (function == "product") return acc * v;
  if (function == "maximum") return std::max(acc, v);
  if (function == "minimum") return std::min(acc, v);
  return function == "any" ? acc != 0 || v != 0 : acc != 0 && v != 0;
}

Results Reduce(const OpCase& c, const Inputs& in) {
  const auto& function = std::get<std::string>(c.attributes.at("function"));
  Dims kept;
  Values y(OutputDims(c, in[0].dims, kept));
  std::vector<bool> started(y.v.size());
  for (size_t i = 0; i < in[0].real.size(); ++i) {
    const size_t at = BroadcastIndex(in[0].dims, kept, i);
    y[at] = started[at] ? Combine(function, y[at], in[0].real[i]) : in[0].real[i];
    started[at] = true;
  }
  return {y};
}
const OpTraits kReduce = {.op = Op::kReduce, .oracle = Reduce};
const OpTraits kQuantizedSum = {
    .op = Op::kReduce, .oracle = Sum, .unit = [](const OpCase& c, size_t) { return c.inputs[0].scale(); }};

OpCase ReduceCase(const char* function, Operand x, Operand y, Ints axes, bool keep = false) {
  return {{std::move(x)},
          {std::move(y)},
          {{"function", std::string(function)}, {"axes", std::move(axes)}, {"keep_dims", int64_t{keep}}}};
}

TEST(Reduce, EqualsOracle) {
  const auto run = [](const char* function, DataType type, double lo, double hi) {
    const auto plain = [&](Dims dims) { return Plain(type, std::move(dims), lo, hi); };
    RunCases(kReduce,
             {ReduceCase(function, plain({2, 5, 3}), plain({}), {1}),
              ReduceCase(function, plain({2, 5, 3}), plain({}), {0, 2}, true),
              ReduceCase(function, plain({4, 6}), plain({}), {0, 1}),
              ReduceCase(function, plain({2, 3, 2, 2, 3, 2}), plain({}), {0, 2, 4}),
              ReduceCase(function, plain({7}), plain({}), {}), ReduceCase(function, plain({}), plain({}), {})});
  };
  for (const DataType type : {DataType::kFloat32, DataType::kInt32, DataType::kInt64})
    for (const char* function : {"sum", "product", "maximum", "minimum"}) run(function, type, -2, 2);
  for (const char* function : {"any", "all"}) run(function, DataType::kBool, 0, 1);
}

TEST(Reduce, OfInt8EqualsOracle) {
  for (const char* function : {"maximum", "minimum"})
    RunCases(kReduce, {ReduceCase(function, Int8({2, 5, 7, 3}), Int8({}), {1, 2}),
                       ReduceCase(function, Int16({2, 5, 3}), Int16({}), {1}),
                       ReduceCase(function, Int8({31}), Int8({}), {0}, true)});
  RunCases(kQuantizedSum, {ReduceCase("sum", Int8({2, 5, 7, 3}, 0.05f, -9), Int8({}, 0.4f, 21), {1, 2}),
                           ReduceCase("sum", Int8({4, 6}, 0.05f, 3), Int8({}, 0.07f, -5), {1}, true)});
}

TEST(Reduce, RejectsWhatBreaksItsRule) {
  using P = schema::ReduceParams;
  using F = schema::ReduceFunction;
  ExpectRejections(
      kReduce, ReduceCase("maximum", Int8({2, 3, 4, 5}), Int8({}), {1, 2}), Numerics::kFp32Rne,
      {{"axes up to the rank", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_count(5); }},
       {"each axis once", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutable_axes()->Mutate(0, 2); }},
       {"dims of the output", Site::kOpOperands, [](MutableCall& m) { m.dims[1][1] = 4; }},
       {"function", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_function(static_cast<F>(6)); }},
       {"function of int8", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_function(F::sum); }},
       {"function of bool", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_function(F::any); }}});
}

TEST(Mean, RejectsWhatBreaksItsRule) {
  using P = schema::MeanParams;
  const std::vector<Rejection> common = {
      {"axes up to the rank", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_count(5); }},
      {"axis below the rank", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutable_axes()->Mutate(0, 4); }},
      {"each axis once", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutable_axes()->Mutate(0, 2); }},
      {"rank of the output", Site::kOpOperands, [](MutableCall& m) { m.outputs[0].rank = 1; }},
      {"dims of the output", Site::kOpOperands, [](MutableCall& m) { m.dims[1][1] = 4; }},
      {"clamp", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutable_clamp().mutate_max(128); }},
      {"input zero point", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_input_zero_point(128); }},
      {"output zero point", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_output_zero_point(128); }}};
  const OpCase c = Case({2, 3, 4, 5}, {1, 2}, false);
  ExpectRejections(kMean, c, Numerics::kFp32Rne, common);
  ExpectRejections(kMean, c, Numerics::kTflite, common);
  ExpectRejections(kMean, c, Numerics::kFp32Rne,
                   {{"scale", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_scale(0); }}});
  ExpectRejections(kMean, c, Numerics::kTflite,
                   {{"shift", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_shift(-32); }}});
}

}  // namespace
}  // namespace takt::test
