// lstm
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>

#include "engine/base/fixed_point.h"
#include "schema/plan_generated.h"
#include "tests/ops/lstm_oracle.h"
#include "tests/ops/op_test.h"

namespace takt::test {
namespace {

/// TFLite's kernel with all parts: products saturate after they are added, gates and c go through 16-bit fixed point.
struct TfliteFullCell {
  using F = double;
  const OpCase& c;
  static constexpr bool kReal = false;

  static double Saturated16(double v) { return std::clamp(v, -32768.0, 32767.0); }
  static double Short(double v, float scale) {
    return static_cast<double>(MultiplyByTflite(static_cast<int64_t>(v), Multiplier(static_cast<double>(scale))));
  }
  float Unit(size_t gate) const {
    const auto at = c.attributes.find("gate_scales");
    if (at == c.attributes.end()) return 0x1p-12f;
    return static_cast<float>(std::get<std::vector<double>>(at->second)[gate - Sizes(c).first]);
  }
  double One() const { return 32767; }
  double Sum(size_t gate, double x, double h) const {
    const float xs = c.inputs[kX].scales[0] * WeightScale(c, kW, gate) / Unit(gate);
    const float hs = c.inputs[kH].scales[0] * WeightScale(c, kR, gate) / Unit(gate);
    return Saturated16(Saturated16(Short(x, xs)) + Short(h, hs));
  }
  double Function(size_t gate, double sum) const {
    const auto q = static_cast<int16_t>(sum);
    return gate == kCandidate ? fixed_point::Tanh(q, 3) : fixed_point::Logistic(q, 3);
  }
  double Next(double f, double cell, double i, double g) const {
    const double scale = c.inputs[kC].scale();
    const double sum = Saturated16(std::round(f * cell * 0x1p-15) + std::round(i * g * 0x1p-30 / scale));
    const double bound = std::trunc(std::min(Bound(c, "cell_clip") / scale, 32768.0));
    return bound < 32768 ? std::clamp(sum, -bound, bound) : sum;
  }
  double Hidden(double o, double cell) const {
    const int bits = 15 + std::ilogb(c.inputs[kC].scale());
    const bool projected = Has(c, kProjection);
    const auto scale =
        static_cast<float>(projected ? std::get<double>(c.attributes.at("hidden_scale")) : c.outputs[0].scale());
    const double zp = projected ? -static_cast<double>(Flag(c, "hidden_zero_point")) : c.outputs[0].zero_point;
    const double product = o * fixed_point::Tanh(static_cast<int16_t>(cell), bits);
    return std::clamp(Short(product, 0x1p-30f / scale) + zp, -128.0, 127.0) - zp;
  }
  double Project(double acc) const {
    const Operand& y = c.outputs[0];
    const auto hidden = static_cast<float>(std::get<double>(c.attributes.at("hidden_scale")));
    const float scale = c.inputs[kProjection].scales[0] * hidden / y.scales[0];
    const double bound = std::trunc(std::min(Bound(c, "projection_clip") / y.scale(), 128.0));
    const double q = std::clamp(Short(acc, scale) + y.zero_point, -128.0, 127.0);
    return (bound < 128 ? std::clamp(q, -bound, bound) : q) - y.zero_point;
  }
  void AddPeepholes(size_t gate, const Sizes& n, const Inputs& in, const double* cell, double* sums) const {
    const size_t which = gate == kOut ? 2 : gate;
    const double scale = c.inputs[kC].scale() * c.inputs[kPeepholes].scale(which) / static_cast<double>(Unit(gate));
    for (size_t k = 0; k < n.cells; ++k)
      sums[k] =
          Saturated16(sums[k] + Short(in[kPeepholes].stored[which * n.cells + k] * cell[k], static_cast<float>(scale)));
  }
  void Normalize(size_t gate, const Sizes& n, const Inputs& in, double* sums) const {
    const size_t at = (gate - n.first) * n.cells;
    const float factor = c.inputs[kFactors].scales[at];
    double sum = 0, squares = 0;
    for (size_t k = 0; k < n.cells; ++k) sum += sums[k], squares += sums[k] * sums[k];
    const auto cells = static_cast<double>(n.cells);
    const double mean = std::trunc(sum * 1024 / cells);
    const double variance = std::trunc((squares * std::trunc(0x1p20 / cells) - mean * mean) * 0x1p-20);
    const double guard = std::max(1.0, static_cast<double>(std::trunc(10000.0f * factor)));
    const fixed_point::Scaled root =
        fixed_point::InverseSquareRoot(static_cast<int32_t>(variance < 1 ? guard : variance));
    Multiplier inverse(1), stage(static_cast<double>(factor));
    inverse.mantissa = root.multiplier, inverse.exponent = root.shift;
    stage.exponent += 12;
    for (size_t k = 0; k < n.cells; ++k) {
      const auto z = static_cast<double>(MultiplyByTflite(static_cast<int64_t>(1024 * sums[k] - mean), inverse));
      const double fine = z * in[kFactors].stored[at + k] + in[kOffsets].stored[at + k];
      const auto rounded = static_cast<int64_t>(std::trunc((fine + (fine > 0 ? 512 : -512)) / 1024));
      sums[k] = Saturated16(static_cast<double>(MultiplyByTflite(rounded, stage)));
    }
  }
};

/// The operands of a row, as the cell's arithmetic sees them.
template <typename A>
struct Runner {
  const OpCase& c;
  const Inputs& in;
  const Sizes n{c};
  const A a{c};

  const std::vector<double>& Of(size_t i) const { return A::kReal ? in[i].real : in[i].centered; }
  double Dot(const double* x, size_t operand, size_t row, size_t width) const {
    double sum = 0;
    for (size_t i = 0; i < width; ++i) sum += x[i] * Of(operand)[row * width + i];
    return sum;
  }
  double BiasOf(size_t operand, size_t row, double scale) const {
    const bool stored = c.inputs[operand].type != DataType::kFloat32;
    return Of(operand)[row] * (A::kReal && stored ? scale : 1);
  }
  void Refine(size_t gate, std::vector<typename A::F>& sums, const double* cell) const {
    using F = typename A::F;
    F* s = sums.data() + (gate - n.first) * n.cells;
    if constexpr (std::is_same_v<A, TfliteFullCell>) {
      if (Has(c, kPeepholes) && gate != kCandidate) a.AddPeepholes(gate, n, in, cell, s);
      if (Has(c, kFactors)) a.Normalize(gate, n, in, s);
      return;
    }
    if (Has(c, kPeepholes) && gate != kCandidate) {
      const size_t at = (gate == kOut ? 2 : gate) * n.cells;
      const auto scale = A::kReal ? F{1} : static_cast<F>(c.inputs[kC].scale());
      for (size_t k = 0; k < n.cells; ++k)
        s[k] += static_cast<F>(in[kPeepholes].real[at + k]) * scale * static_cast<F>(cell[k]);
    }
    if (!Has(c, kFactors)) return;
    F sum = 0, squares = 0;
    for (size_t k = 0; k < n.cells; ++k) sum += s[k];
    const F mean = sum / static_cast<F>(n.cells);
    for (size_t k = 0; k < n.cells; ++k) squares += (s[k] - mean) * (s[k] - mean);
    const F inverse = F{1} / std::sqrt(squares / static_cast<F>(n.cells) + static_cast<F>(1e-8f));
    const size_t at = (gate - n.first) * n.cells;
    for (size_t k = 0; k < n.cells; ++k)
      s[k] = (s[k] - mean) * inverse * static_cast<F>(in[kFactors].real[at + k]) +
             static_cast<F>(in[kOffsets].real[at + k]);
  }

  void Step(const double* x, double* h, double* cell) const {
    std::vector<typename A::F> sums(n.rows());
    for (size_t gate = n.first; gate < 4; ++gate) {
      for (size_t k = 0; k < n.cells; ++k) {
        const size_t row = (gate - n.first) * n.cells + k;
        const double scale = A::kReal ? c.inputs[kX].scale() * static_cast<double>(RowScale(gate)) : 1;
        sums[row] = static_cast<typename A::F>(
            a.Sum(gate, Dot(x, kW, row, n.inputs) + BiasOf(kBias, row, scale), Dot(h, kR, row, n.outputs)));
      }
    }
    for (size_t gate = n.first; gate < kOut; ++gate) Refine(gate, sums, cell);
    const auto value = [&](size_t gate, size_t k) { return a.Function(gate, sums[(gate - n.first) * n.cells + k]); };
    for (size_t k = 0; k < n.cells; ++k) {
      const double forget = value(kForget, k);
      cell[k] = a.Next(forget, cell[k], n.first == 1 ? a.One() - forget : value(kIn, k), value(kCandidate, k));
    }
    Refine(kOut, sums, cell);
    std::vector<double> hidden(n.cells);
    for (size_t k = 0; k < n.cells; ++k) hidden[k] = a.Hidden(value(kOut, k), cell[k]);
    if (!Has(c, kProjection)) return void(std::copy(hidden.begin(), hidden.end(), h));
    for (size_t i = 0; i < n.outputs; ++i) {
      const double scale = A::kReal && c.inputs[kX].type != DataType::kFloat32
                               ? std::get<double>(c.attributes.at("hidden_scale")) * c.inputs[kProjection].scale()
                               : 1;
      h[i] = a.Project(Dot(hidden.data(), kProjection, i, n.cells) + BiasOf(kProjectionBias, i, scale));
    }
  }
  float RowScale(size_t gate) const { return c.inputs[kW].scales.empty() ? 1 : WeightScale(c, kW, gate); }

  Results Run() const {
    const auto dim = [](size_t v) { return static_cast<int32_t>(v); };
    Values y({c.inputs[kX].dims[0], c.inputs[kX].dims[1], dim(n.outputs)});
    Values h({dim(n.batches), dim(n.outputs)}), cell({dim(n.batches), dim(n.cells)});
    h.v = Of(kH), cell.v = Of(kC);
    const double zp = A::kReal ? 0 : c.outputs[0].zero_point;
    for (size_t i = 0; i < n.steps; ++i) {
      const size_t t = Flag(c, "reverse") != 0 ? n.steps - 1 - i : i;
      for (size_t b = 0; b < n.batches; ++b) {
        const size_t row = Flag(c, "batch_major") != 0 ? b * n.steps + t : t * n.batches + b;
        double* own = h.v.data() + b * n.outputs;
        Step(Of(kX).data() + row * n.inputs, own, cell.v.data() + b * n.cells);
        for (size_t k = 0; k < n.outputs; ++k) y[row * n.outputs + k] = own[k] + zp;
      }
    }
    for (double& v : h.v) v += zp;
    return {y, h, cell};
  }
};

template <typename A>
Results Compute(const OpCase& c, const Inputs& in) {
  return Runner<A>{c, in}.Run();
}

const OpTraits kLstm = {.op = Op::kLstm,
                        .oracle = Compute<RealCell>,
                        .fp32_rne = Compute<Fp32RneCell>,
                        .tflite = Compute<TfliteCell>,
                        .also_float = false};

Operand GateWeights(int32_t gates, int32_t cells, int32_t width, float scale) {
  Operand t = Weights({gates * cells, width});
  t.axis = 0;
  t.scales.clear();
  for (int32_t i = 0; i < gates * cells; ++i) t.scales.push_back(scale * static_cast<float>(1 + i / cells));
  return t;
}

/// c_scale: a power of two.
OpCase Case(int32_t steps, int32_t batches, int32_t inputs, int32_t cells, float c_scale = 0x1p-12f) {
  return {{Int8({steps, batches, inputs}, 0.031f, -9), GateWeights(4, cells, inputs, 0.004f),
           GateWeights(4, cells, cells, 0.0031f), Bias(4 * cells), Int8({batches, cells}, 0.0079f, 4),
           Int16({batches, cells}, c_scale).Range(-9000, 9000)},
          {Int8({}, 0.0079f, 4), Int8({}, 0.0079f, 4), Int16({}, c_scale)},
          {}};
}

OpCase With(OpCase c, const std::string& key, ir::Attribute value) {
  c.attributes[key] = std::move(value);
  return c;
}

OpCase BatchMajor(OpCase c) {
  std::swap(c.inputs[kX].dims[0], c.inputs[kX].dims[1]);
  return With(std::move(c), "batch_major", int64_t{1});
}

/// int16 activations: int64 biases.
OpCase Wide16(OpCase c) {
  c.inputs[kX] = Int16(c.inputs[kX].dims, 0.031f / 256);
  c.inputs[kH] = Int16(c.inputs[kH].dims, 0x1p-15f);
  c.outputs[0] = c.outputs[1] = Int16({}, 0x1p-15f);
  c.inputs[kBias] = Plain(DataType::kInt64, c.inputs[kBias].dims, -500000, 500000).Constant();
  if (Has(c, kProjectionBias))
    c.inputs[kProjectionBias] = Plain(DataType::kInt64, c.inputs[kProjectionBias].dims, -500000, 500000).Constant();
  c.attributes.erase("hidden_zero_point");
  if (c.attributes.count("hidden_scale") != 0) c.attributes["hidden_scale"] = 0x1p-15;
  return c;
}

OpCase Coupled(OpCase c) {
  const int32_t cells = c.inputs[kC].dims[1];
  c.inputs[kW] = GateWeights(3, cells, c.inputs[kX].dims[2], 0.004f);
  c.inputs[kR] = GateWeights(3, cells, c.inputs[kH].dims[1], 0.0031f);
  c.inputs[kBias] = Bias(3 * cells);
  return With(std::move(c), "coupled", int64_t{1});
}

/// Peepholes, normalization or a projection to `outputs` values, as asked.
OpCase Extended(OpCase c, bool peepholes, bool normalized, int32_t outputs) {
  const int32_t cells = c.inputs[kC].dims[1], rows = c.inputs[kBias].dims[0], batches = c.inputs[kC].dims[0];
  c.inputs.resize(outputs > 0 ? 11 : 9);
  if (peepholes) c.inputs[kPeepholes] = Float({3, cells}).Constant();
  if (normalized) {
    c.inputs[kFactors] = Float({rows}, -1.5, 1.5).Constant();
    c.inputs[kOffsets] = Float({rows}, -1.5, 1.5).Constant();
  }
  if (outputs == 0) return c;
  c.inputs[kProjection] = Weights({outputs, cells});
  c.inputs[kProjectionBias] = Bias(outputs);
  c.inputs[kR] = GateWeights(rows / cells, cells, outputs, 0.0031f);
  c.inputs[kH].dims = {batches, outputs};
  return With(With(std::move(c), "hidden_scale", 0.0078), "hidden_zero_point", int64_t{-3});
}

/// Peepholes and normalization as integers, one scale for each gate, as TFLite has them.
OpCase Stored(OpCase c) {
  const int32_t cells = c.inputs[kC].dims[1], rows = c.inputs[kBias].dims[0];
  if (Has(c, kPeepholes)) {
    Operand& t = c.inputs[kPeepholes] = Int16({3, cells}, 0.00004f).Range(-30000, 30000).Constant();
    t.scales = {0.00004f, 0.00003f, 0.00005f};
  }
  if (!Has(c, kFactors)) return c;
  c.inputs[kFactors] = Int16({rows}).Range(-32768, 32767).Constant();
  c.inputs[kOffsets] = Bias(rows, 2e7);
  c.inputs[kFactors].scales.clear(), c.inputs[kOffsets].scales.clear();
  std::vector<double> units;
  for (int32_t i = 0; i < rows; ++i) {
    const float scale = 0.00004f + 0.00001f * static_cast<float>(i / cells);
    c.inputs[kFactors].scales.push_back(scale);
    c.inputs[kOffsets].scales.push_back(scale * 0x1p-10f);
    if (i % cells == 0) units.push_back(static_cast<double>(0.0002f + 0.0001f * static_cast<float>(i / cells)));
  }
  return With(std::move(c), "gate_scales", units);
}

/// On float32, from the same ranges of real values.
OpCase AsFloat(OpCase c) {
  for (Operand& t : c.inputs) {
    if (t.type == DataType::kNone || t.type == DataType::kFloat32) continue;
    const bool constant = t.constant;
    t = Float(t.dims, -0.8, 0.8);
    t.constant = constant;
  }
  for (Operand& t : c.outputs) t = Float({});
  c.attributes.erase("hidden_scale"), c.attributes.erase("hidden_zero_point");
  return c;
}

std::vector<OpCase> BasicCases() {
  return {Case(1, 1, 3, 5),
          Case(6, 2, 7, 4),
          BatchMajor(Case(5, 3, 4, 6, 0x1p-11f)),
          Case(9, 1, 2, 8, 0x1p-13f),
          With(Case(4, 2, 5, 3), "reverse", int64_t{1}),
          With(Case(5, 1, 6, 4), "cell_clip", 0.7)};
}

std::vector<OpCase> ExtendedCases() {
  return {Coupled(Case(4, 2, 5, 3)),
          Extended(Case(3, 2, 4, 5), true, false, 0),
          Extended(Case(3, 1, 4, 6), false, true, 0),
          Extended(Case(4, 2, 3, 6), false, false, 4),
          With(Extended(BatchMajor(Case(4, 2, 3, 6)), true, true, 4), "projection_clip", 0.5),
          With(Extended(Coupled(Case(5, 1, 3, 4)), true, true, 2), "clip", 0.9)};
}

/// What TFLite's kernel takes: peepholes for as many cells as there are outputs.
std::vector<OpCase> StoredCases() {
  return {Coupled(Case(4, 2, 5, 3, 0x1p-10f)),
          Stored(Extended(Case(3, 2, 4, 5), true, false, 0)),
          Stored(Extended(Case(3, 1, 4, 6, 0x1p-15f), false, true, 0)),
          Extended(Case(4, 2, 3, 6, 0x1p-9f), false, false, 4),
          With(Stored(Extended(BatchMajor(Case(4, 2, 3, 6)), false, true, 4)), "projection_clip", 0.5),
          With(Stored(Extended(Case(5, 2, 3, 7), true, true, 7)), "cell_clip", 0.7),
          Stored(Extended(Coupled(Case(5, 1, 3, 4)), true, true, 4))};
}

std::vector<OpCase> Each(std::vector<OpCase> cases, OpCase (*change)(OpCase)) {
  for (OpCase& c : cases) c = change(std::move(c));
  return cases;
}

TEST(Lstm, EqualsOracle) {
  RunCases(kLstm, BasicCases());
  RunCases(kLstm, Each(BasicCases(), Wide16));
  RunCases(kLstm, Each(BasicCases(), AsFloat));
}

TEST(Lstm, EqualsOracleWithAllParts) {
  OpTraits traits = kLstm;
  traits.also_tflite = false;
  RunCases(traits, ExtendedCases());
  RunCases(traits, Each(ExtendedCases(), Wide16));
  RunCases(traits, Each(ExtendedCases(), AsFloat));
}

TEST(Lstm, EqualsOracleWithAllPartsAsTflite) {
  OpTraits traits = kLstm;
  traits.tflite = Compute<TfliteFullCell>;
  RunCases(traits, StoredCases());
}

TEST(Lstm, FixedPointOf16BitsIsNear) {
  for (int x = -32768; x < 32768; ++x) {
    const auto q = static_cast<int16_t>(x);
    ASSERT_NEAR(fixed_point::Logistic(q, 3) * 0x1p-15, Logistic(x * 0x1p-12), 2e-4) << x;
    for (int bits = 0; bits <= 6; ++bits)
      ASSERT_NEAR(fixed_point::Tanh(q, bits) * 0x1p-15, std::tanh(std::ldexp(x, bits - 15)), 4e-4) << x << " " << bits;
  }
}

/// Inputs of a case from a generator of its own, in the range of what operands hold.
Inputs Drawn(const OpCase& c, uint32_t seed) {
  Inputs in;
  for (const Operand& t : c.inputs) {
    Filled f;
    f.dims = t.dims;
    const size_t count = Values(t.dims).v.size(), row = count / static_cast<size_t>(t.dims[0]);
    for (size_t i = 0; i < count; ++i) {
      seed = seed * 1664525u + 1013904223u;
      const double q = std::nearbyint(t.lo + (t.hi - t.lo) * ((seed >> 8) * 0x1p-24));
      f.stored.push_back(q);
      f.centered.push_back(q - t.zero_point);
      f.real.push_back((q - t.zero_point) * (t.scales.empty() ? 1 : t.scale(i / row)));
    }
    in.push_back(std::move(f));
  }
  return in;
}

/// Root mean square of the distance of y to the real values, in units of y. RunCases has shown that the arithmetic is
/// the kernels'.
template <typename A>
double Error(const OpCase& c, const Inputs& in) {
  const Values real = Compute<RealCell>(c, in)[0], stored = Compute<A>(c, in)[0];
  const Operand& y = c.outputs[0];
  double square = 0;
  for (size_t i = 0; i < real.v.size(); ++i) {
    const double d = stored[i] - y.zero_point - real[i] / y.scale();
    square += d * d;
  }
  return std::sqrt(square / static_cast<double>(real.v.size()));
}

TEST(Lstm, Fp32RneIsNearerToTheRealValuesThanTflite) {
  for (const bool wide : {false, true}) {
    double fp32_rne = 0, tflite = 0;
    int cases = 0;
    for (const float c_scale : {0x1p-11f, 0x1p-12f, 0x1p-13f}) {
      for (uint32_t seed = 1; seed <= 5; ++seed, ++cases) {
        OpCase c = Case(28, 2, 28, 20, c_scale);
        if (wide) c = Wide16(std::move(c));
        const Inputs in = Drawn(c, seed);
        fp32_rne += Error<Fp32RneCell>(c, in);
        tflite += Error<TfliteCell>(c, in);
      }
    }
    std::printf("int%d: rms error of y in its units: fp32_rne %.3f, tflite %.3f\n", wide ? 16 : 8, fp32_rne / cases,
                tflite / cases);
    EXPECT_LT(fp32_rne, tflite);
  }
}

using P = schema::LstmParams;

const std::vector<Rejection> kRejections = {
    {"x of rank 3", Site::kOpOperands, [](MutableCall& m) { m.inputs[kX].rank = 2; }},
    {"rows of W", Site::kOpOperands, [](MutableCall& m) { m.dims[kW][0] -= 1; }},
    {"columns of R", Site::kOpOperands, [](MutableCall& m) { m.dims[kR][1] += 1; }},
    {"bias", Site::kOpOperands, [](MutableCall& m) { m.dims[kBias][0] += 1; }},
    {"batches of h", Site::kOpOperands, [](MutableCall& m) { m.dims[kH][0] += 1; }},
    {"h as wide as c", Site::kOpOperands, [](MutableCall& m) { m.dims[kC][1] += 1; }},
    {"batches, other way round", Site::kOpOperands, [](MutableCall& m) { m.params<P>().mutate_batch_major(true); }},
    {"coupled gates are three", Site::kOpOperands, [](MutableCall& m) { m.params<P>().mutate_coupled(true); }},
    {"peepholes are an operand", Site::kOpOperands, [](MutableCall& m) { m.params<P>().mutate_peepholes(true); }},
    {"y", Site::kOpOperands, [](MutableCall& m) { m.dims[m.inputs.size()][2] += 1; }},
    {"last h", Site::kOpOperands, [](MutableCall& m) { m.dims[m.inputs.size() + 1][1] += 1; }},
    {"last c", Site::kOpOperands, [](MutableCall& m) { m.dims[m.inputs.size() + 2][1] += 1; }},
    {"clamp of sums", Site::kOpParams,
     [](MutableCall& m) { m.params<P>().mutable_sum().mutate_min(1e38f), m.params<P>().mutable_sum().mutate_max(0); }},
    {"clamp of c", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutable_cell().mutate_min(0.5f); }},
    {"clamp of h", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutable_output().mutate_max(128); }},
    {"zero point", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_output_zero_point(128); }},
    {"functions that the table has", Site::kOpParams,
     [](MutableCall& m) { m.params<P>().mutate_candidate_function(schema::GateFunction::relu); }},
    {"a constant table", Site::kOpConstant, [](MutableCall& m) { m.inputs[6].constant = false; }},
    {"a table's range", Site::kOpConstant, [](MutableCall& m) { m.constant<int32_t>(6)[7] = 65536; }},
    {"a table of 256", Site::kOpOperands, [](MutableCall& m) { m.dims[6][0] = 255; }},
    {"stages of gates", Site::kOpParams,
     [](MutableCall& m) {
       schema::Rescale stage(-1, -1, 0);
       std::memcpy(m.params_store.data(), &stage, sizeof stage);
     }},
    {"stage of the function", Site::kOpParams, [](MutableCall& m) {
       m.params<P>().mutable_function().mutate_scale(0), m.params<P>().mutable_function().mutate_multiplier(32768);
     }}};

TEST(Lstm, RejectsWhatBreaksItsRule) {
  for (const Numerics numerics : {Numerics::kFp32Rne, Numerics::kTflite})
    ExpectRejections(kLstm, Case(6, 2, 7, 4), numerics, kRejections);
  ExpectRejections(kLstm, Extended(Case(4, 2, 3, 6), true, true, 4), Numerics::kFp32Rne,
                   {{"peepholes", Site::kOpOperands, [](MutableCall& m) { m.dims[7][0] = 4; }},
                    {"normalization", Site::kOpOperands, [](MutableCall& m) { m.dims[8][1] += 1; }},
                    {"projection", Site::kOpOperands, [](MutableCall& m) { m.dims[9][0] += 1; }},
                    {"projection's bias", Site::kOpOperands, [](MutableCall& m) { m.dims[10][0] += 1; }}});
  ExpectRejections(
      kLstm, Stored(Extended(Case(4, 2, 3, 6), true, true, 6)), Numerics::kTflite,
      {{"shift of c", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutable_forget().mutate_shift(31); }},
       {"shift of the update", Site::kOpParams,
        [](MutableCall& m) { m.params<P>().mutable_update().mutate_shift(-1); }},
       {"integer bits of c", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutable_function().mutate_shift(7); }},
       {"guard", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutable_variance_guard()->Mutate(3, 0); }},
       {"stage of a peephole", Site::kOpParams,
        [](MutableCall& m) { const_cast<schema::Rescale*>(m.params<P>().peephole()->Get(2))->mutate_shift(31); }},
       {"stage of the normalization", Site::kOpParams, [](MutableCall& m) {
          const_cast<schema::Rescale*>(m.params<P>().normalization()->Get(0))->mutate_multiplier(-1);
        }}});
}

}  // namespace
}  // namespace takt::test
