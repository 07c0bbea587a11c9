// svdf
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>

#include "converter/ir/text.h"
#include "schema/plan_generated.h"
#include "tests/ops/op_test.h"
#include "tests/support/plan_runner.h"

namespace takt::test {
namespace {

/// Stored value of an accumulator, by output (0: y, 1: state).
using Stage = std::function<double(int output, double acc)>;

/// y and the next state. The rows of the state lose their oldest value and take the filter's; y sums over them.
Results Compute(const OpCase& c, const Inputs& in, const Stage& stage) {
  const auto batches = in[0].dims[0], depth = in[0].dims[1], filters = in[1].dims[0], length = in[2].dims[1];
  const auto rank = static_cast<int32_t>(std::get<int64_t>(c.attributes.at("rank")));
  Values y({batches, filters / rank}), next({batches, filters * length});
  const auto at = [](int32_t row, int32_t width, int32_t i) { return static_cast<size_t>(row * width + i); };
  for (int32_t b = 0; b < batches; ++b) {
    for (int32_t f = 0; f < filters; ++f) {
      const int32_t row = b * filters + f;
      double feature = 0;
      for (int32_t i = 0; i < depth; ++i) feature += in[0].centered[at(b, depth, i)] * in[1].centered[at(f, depth, i)];
      for (int32_t i = 0; i < length; ++i)
        next[at(row, length, i)] = i + 1 < length ? in[4].stored[at(row, length, i + 1)] : stage(1, feature);
      for (int32_t i = 0; i < length; ++i)
        y[at(row, 1, 0) / static_cast<size_t>(rank)] +=
            (next[at(row, length, i)] - c.outputs[1].zero_point) * in[2].centered[at(f, length, i)];
    }
  }
  for (size_t i = 0; i < y.v.size(); ++i) {
    y[i] = stage(0, y[i] + in[3].centered[i % static_cast<size_t>(filters / rank)]);
  }
  return {y, next};
}

/// Products of scales are made in float, left to right, as the converter's.
float Scale(const OpCase& c, int output) {
  const auto of = [&](size_t i) { return c.inputs[i].scales[0]; };
  return output == 0 ? of(4) * of(2) / c.outputs[0].scales[0] : of(0) * of(1) / of(4);
}

Results Real(const OpCase& c, const Inputs& in) {
  double lo = 0, hi = 0;
  ActivationBounds(c, lo, hi);
  return Compute(c, in, [&](int output, double acc) { return output == 0 ? std::clamp(acc, lo, hi) : acc; });
}

int32_t ZeroPoint(const OpCase& c, int output) {
  return c.outputs[static_cast<size_t>(output)].zero_point;
}

double InRange(const OpCase& c, int output, double value) {
  const bool wide = c.outputs[static_cast<size_t>(output)].type == DataType::kInt16;
  return wide ? std::clamp(value, -32768.0, 32767.0) : std::clamp(value, -128.0, 127.0);
}

Results Fp32Rne(const OpCase& c, const Inputs& in) {
  return Compute(c, in, [&](int output, double acc) {
    const float product = static_cast<float>(acc) * Scale(c, output);
    const double stored = static_cast<double>(std::nearbyint(product)) + ZeroPoint(c, output);
    return output == 0 ? Saturated(c, c.outputs[0], stored) : InRange(c, output, stored);
  });
}

/// Without an activation: TFLite's integers have none.
Results Tflite(const OpCase& c, const Inputs& in) {
  return Compute(c, in, [&](int output, double acc) {
    const Multiplier m(static_cast<double>(Scale(c, output)));
    const auto product = static_cast<double>(MultiplyByTflite(static_cast<int64_t>(acc), m));
    return InRange(c, output, product + ZeroPoint(c, output));
  });
}

const OpTraits kSvdf = {.op = Op::kSvdf, .oracle = Real, .fp32_rne = Fp32Rne, .tflite = Tflite, .also_float = false};

/// A batch of `batches`, `depth` inputs, `units` of `rank` filters that remember `length` values.
OpCase Case(int32_t batches, int32_t depth, int32_t units, int32_t rank, int32_t length) {
  const int32_t filters = units * rank;
  return {{Int8({batches, depth}, 0.06f, -7), Weights({filters, depth}),
           Int16({filters, length}, 0.0037f).Range(-300, 300).Constant(), Bias(units),
           Int16({batches, filters * length}, 0.0044f).Range(-3000, 3000)},
          {Int8({}, 0.2f, 5), Int16({}, 0.0044f)},
          {{"rank", int64_t{rank}}, {"activation", std::string("none")}}};
}

/// What filters remember has 8 bits and a zero point.
OpCase NarrowCase(int32_t batches, int32_t depth, int32_t units, int32_t rank, int32_t length) {
  OpCase c = Case(batches, depth, units, rank, length);
  c.inputs[2] = Weights(c.inputs[2].dims);
  c.inputs[4] = Int8(c.inputs[4].dims, 0.31f, 17);
  c.outputs[1] = Int8({}, 0.31f, 17);
  return c;
}

OpCase FloatCase(int32_t batches, int32_t depth, int32_t units, int32_t rank, int32_t length) {
  OpCase c = Case(batches, depth, units, rank, length);
  for (Operand& t : c.inputs) {
    const bool constant = t.constant;
    t = Float(t.dims);
    t.constant = constant;
  }
  for (Operand& t : c.outputs) t = Float(t.dims);
  return c;
}

OpCase WithRelu(OpCase c) {
  c.attributes["activation"] = std::string("relu");
  return c;
}

TEST(Svdf, EqualsOracle) {
  RunCases(kSvdf, {Case(1, 9, 5, 1, 8), Case(2, 7, 3, 2, 4), Case(3, 1, 1, 3, 1), WithRelu(Case(2, 7, 3, 2, 4))});
  RunCases(kSvdf, {NarrowCase(1, 9, 5, 1, 8), NarrowCase(2, 7, 3, 2, 4)});
  RunCases(kSvdf, {FloatCase(1, 9, 5, 1, 8), FloatCase(2, 7, 3, 2, 4), WithRelu(FloatCase(2, 7, 3, 2, 4))});
}

Filled FilledWith(const Operand& t, const std::function<double()>& draw) {
  Filled f;
  f.dims = t.dims;
  for (size_t i = 0; i < Values(t.dims).v.size(); ++i) {
    f.stored.push_back(draw());
    f.centered.push_back(f.stored.back() - t.zero_point);
    f.real.push_back(f.centered.back() * t.scale());
  }
  return f;
}

/// Mean square of y's distance from the real values over invocations on drawn inputs, in its units; each goes on with
/// its own state. RunCases has shown that the arithmetic is the kernels'.
double ErrorOf(const OpCase& c, Results (*compute)(const OpCase&, const Inputs&), uint32_t seed) {
  const auto draw = [&seed](const Operand& t) {
    seed = seed * 1664525u + 1013904223u;
    return std::nearbyint(t.lo + (t.hi - t.lo) * ((seed >> 8) * 0x1p-24));
  };
  Inputs stored, real;
  for (const Operand& t : c.inputs) {
    const bool state = &t == &c.inputs[4];
    stored.push_back(FilledWith(t, [&] { return state ? t.zero_point : draw(t); }));
    real.push_back(stored.back());
    real.back().stored = real.back().centered = real.back().real;
  }
  OpCase exact = c;
  exact.outputs[1].zero_point = 0;
  double square = 0;
  constexpr int kInvocations = 400;
  for (int i = 0; i < kInvocations; ++i) {
    stored[0] = FilledWith(c.inputs[0], [&] { return draw(c.inputs[0]); });
    real[0].centered = stored[0].real;
    const Results got = compute(c, stored), want = Compute(exact, real, [](int, double acc) { return acc; });
    stored[4].stored = got[1].v, real[4].stored = want[1].v;
    for (size_t k = 0; k < got[0].v.size(); ++k) {
      const double d = got[0][k] - c.outputs[0].zero_point - want[0][k] / c.outputs[0].scale();
      square += d * d;
    }
  }
  return square / kInvocations;
}

TEST(Svdf, Fp32RneIsNoFartherFromTheRealValuesThanTflite) {
  for (OpCase c : {Case(1, 9, 5, 1, 8), NarrowCase(2, 7, 3, 2, 4)}) {
    const bool wide = c.inputs[4].type == DataType::kInt16;
    c.outputs[0].scales = {c.inputs[4].scales[0] * c.inputs[2].scales[0] * (wide ? 0x1p18f : 4096)};  // None saturates.
    c.inputs[3].scales = {c.inputs[4].scales[0] * c.inputs[2].scales[0]};
    double fp32_rne = 0, tflite = 0;
    for (uint32_t seed = 1; seed <= 20; ++seed)
      fp32_rne += ErrorOf(c, Fp32Rne, seed), tflite += ErrorOf(c, Tflite, seed);
    std::printf("mean square error of y in its units: fp32_rne %.6f, tflite %.6f\n", fp32_rne / 20, tflite / 20);
    EXPECT_LE(fp32_rne, 1.001 * tflite);  // Their difference is in roundings of ties, either way.
  }
}

TEST(Svdf, RejectsWhatBreaksItsRule) {
  using P = schema::SvdfParams;
  const std::vector<Rejection> rejections = {
      {"x of rank 2", Site::kOpOperands, [](MutableCall& m) { m.inputs[0].rank = 1; }},
      {"depth", Site::kOpOperands, [](MutableCall& m) { m.dims[1][1] = 6; }},
      {"filters", Site::kOpOperands, [](MutableCall& m) { m.dims[2][0] = 5; }},
      {"rank 0", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_rank(0); }},
      {"rank divides the filters", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_rank(4); }},
      {"bias", Site::kOpOperands, [](MutableCall& m) { m.dims[3][0] = 4; }},
      {"state", Site::kOpOperands, [](MutableCall& m) { m.dims[4][1] = 23; }},
      {"units", Site::kOpOperands, [](MutableCall& m) { m.dims[5][1] = 4; }},
      {"next state", Site::kOpOperands, [](MutableCall& m) { m.dims[6][1] = 23; }},
      {"clamp", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutable_clamp().mutate_min(-129); }},
      {"zero point", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_input_zero_point(128); }},
      {"stages", Site::kOpParams, [](MutableCall& m) {
         m.params<P>().mutable_output().mutate_scale(256), m.params<P>().mutable_output().mutate_multiplier(-1);
       }}};
  for (const Numerics numerics : {Numerics::kFp32Rne, Numerics::kTflite})
    ExpectRejections(kSvdf, Case(2, 7, 3, 2, 4), numerics, rejections);
}

/// One filter of weight 2 that remembers three values.
constexpr const char* kOneFilter = R"(graph "one"
%0 "x": float32[1,1]
%1 "feature": float32[1,1] = [2.0]
%2 "time": float32[1,3] = [1.0, 10.0, 100.0]
%3 "bias": float32[1] = [0.0]
%4 "state": float32[1,3]
%5 "y": float32[1,1]
%6 "next": float32[1,3]
inputs %0
outputs %5
state %4, %6
%5, %6 = svdf(%0, %1, %2, %3, %4) "SVDF" {rank = 1}
)";

Bytes FloatBytes(float v) {
  Bytes bytes(sizeof v);
  std::memcpy(bytes.data(), &v, sizeof v);
  return bytes;
}

TEST(Svdf, KeepsItsStateUntilReset) {
  std::string error;
  const auto graph = ir::ParseGraph(kOneFilter, error);
  ASSERT_TRUE(graph.has_value()) << error;
  EXPECT_EQ(ir::PrintGraph(*graph), kOneFilter);
  const Conversion made = ConvertGraph(*graph, {}, {});
  for (const Diagnostic& d : made.diagnostics.all()) ADD_FAILURE() << d.ToString();
  ASSERT_FALSE(made.plan.empty());
  PlanRunner runner(made.plan);
  const auto run = [&](float x) { return runner.Run({FloatBytes(x)})[0]; };
  EXPECT_EQ(run(1), FloatBytes(200));
  EXPECT_EQ(run(2), FloatBytes(420));
  // An invocation that is cut short before the commit leaves the state as it was.
  ASSERT_TRUE(runner.net().Begin().ok());
  EXPECT_EQ(runner.net().Step(1), Progress::kMore);
  EXPECT_EQ(run(3), FloatBytes(642));
  ASSERT_TRUE(runner.net().ResetState().ok());
  EXPECT_EQ(run(1), FloatBytes(200));
}

}  // namespace
}  // namespace takt::test
