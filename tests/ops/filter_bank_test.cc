// filter_bank, filter_bank_square_root, spectral_subtraction, filter_bank_log, pcan
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "schema/plan_generated.h"
#include "tests/ops/op_test.h"
#include "tests/ops/plan_run.h"

namespace takt::test {
namespace {

constexpr double kTwo32 = 4294967296.0;

int64_t Option(const OpCase& c, const char* key) {
  return std::get<int64_t>(c.attributes.at(key));
}
Operand Words(Dims dims, double hi = kTwo32 - 1) {
  return Plain(DataType::kUint32, std::move(dims), 0, hi);
}
Operand Rows(std::vector<double> values) {
  const auto count = static_cast<int32_t>(values.size());
  return Plain(DataType::kInt16, {count}).Fixed(std::move(values)).Constant();
}
size_t At(const Filled& f, size_t i) {
  return static_cast<size_t>(f.stored[i]);
}

/// Channel c's triangle: its rising side with the weights, its falling side, which is the next channel's cells, with
/// their unweights.
Results FilterBank(const OpCase&, const Inputs& in) {
  Values y({in[3].dims[0] - 1});
  const auto side = [&](size_t channel, size_t weights) {
    double sum = 0;
    for (size_t i = 0; i < At(in[5], channel); ++i)
      sum += in[weights].stored[At(in[4], channel) + i] * in[0].stored[At(in[3], channel) + i];
    return sum;
  };
  for (size_t c = 0; c < y.v.size(); ++c) y[c] = side(c, 2) + side(c + 1, 1);
  return {y};
}
const OpTraits kFilterBank = {.op = Op::kFilterBank, .oracle = FilterBank};

OpCase FilterBankCase() {
  return {
      {Words({20}), Plain(DataType::kInt16, {16}, 0, 4096).Constant(),
       Plain(DataType::kInt16, {16}, 0, 4096).Constant(), Rows({0, 3, 7, 15}), Rows({0, 4, 8, 12}), Rows({3, 4, 0, 4})},
      {Plain(DataType::kUint64, {})},
      {}};
}

/// Of eight channels of the same width.
OpCase EvenCase() {
  OpCase c = FilterBankCase();
  c.inputs[0].dims = c.inputs[1].dims = c.inputs[2].dims = {36};
  c.inputs[3] = c.inputs[4] = Rows({0, 4, 8, 12, 16, 20, 24, 28, 32});
  c.inputs[5] = Rows({4, 4, 4, 4, 4, 4, 4, 4, 4});
  return c;
}

TEST(FilterBank, EqualsOracle) {
  RunCases(kFilterBank, {FilterBankCase(), EvenCase()});
}

TEST(FilterBank, RejectsWhatBreaksItsRule) {
  ExpectRejections(kFilterBank, FilterBankCase(), Numerics::kFp32Rne,
                   {{"unweights", Site::kOpOperands, [](MutableCall& m) { m.dims[2][0] = 15; }},
                    {"channels", Site::kOpOperands, [](MutableCall& m) { m.dims[4][0] = 3; }},
                    {"constants", Site::kOpOperands, [](MutableCall& m) { m.inputs[5].constant = false; }},
                    {"a start", Site::kOpConstant, [](MutableCall& m) { m.constant<int16_t>(3)[3] = 17; }},
                    {"a negative start", Site::kOpConstant, [](MutableCall& m) { m.constant<int16_t>(3)[0] = -1; }},
                    {"weights", Site::kOpConstant, [](MutableCall& m) { m.constant<int16_t>(4)[3] = 13; }},
                    {"a width", Site::kOpConstant, [](MutableCall& m) { m.constant<int16_t>(5)[0] = -1; }}});
}

/// Roots of values below 2^32 have 16 bits.
Results SquareRoot(const OpCase&, const Inputs& in) {
  Values y(in[0].dims);
  for (size_t i = 0; i < y.v.size(); ++i) {
    const double v = in[0].stored[i];
    y[i] = std::min(std::nearbyint(std::sqrt(v)), v < kTwo32 ? 65535.0 : kTwo32 - 1);
    y[i] = std::floor(y[i] / std::ldexp(1.0, static_cast<int>(std::clamp(in[1].stored[0], 0.0, 31.0))));
  }
  return {y};
}
const OpTraits kSquareRoot = {.op = Op::kFilterBankSquareRoot, .oracle = SquareRoot};

OpCase SquareRootCase(Operand x, double bits) {
  return {{std::move(x), Plain(DataType::kInt32, {}).Fixed({bits})}, {Words({})}, {}};
}

TEST(FilterBankSquareRoot, EqualsOracle) {
  const auto wide = [](double hi) { return Plain(DataType::kUint64, {40}, 0, hi); };
  RunCases(kSquareRoot, {SquareRootCase(wide(0x1p52), 0), SquareRootCase(wide(0x1p33), 3), SquareRootCase(wide(70), 1),
                         SquareRootCase(wide(0x1p31), -5), SquareRootCase(wide(0x1p52), 99),
                         SquareRootCase(wide(0).Fixed({0, 1, 2, 3, 6, 7, kTwo32 - 1, kTwo32, kTwo32 + 65536}), 0)});
}

TEST(FilterBankSquareRoot, RejectsWhatBreaksItsRule) {
  ExpectRejections(kSquareRoot, SquareRootCase(Plain(DataType::kUint64, {40}, 0, 70), 1), Numerics::kFp32Rne,
                   {{"output", Site::kOpOperands, [](MutableCall& m) { m.dims[2][0] = 39; }},
                    {"a row", Site::kOpOperands, [](MutableCall& m) { m.inputs[0].rank = 0; }}});
}

double Halved(double v, int64_t bits) {
  return std::floor(v * std::ldexp(1.0, -static_cast<int>(bits)));
}

Results Subtract(const OpCase& c, const Inputs& in) {
  Values y(in[0].dims), next(in[0].dims);
  const int64_t bits = Option(c, "bits"), up = Option(c, "smoothing_bits");
  for (size_t i = 0; i < y.v.size(); ++i) {
    const double x = in[0].stored[i], signal = x * std::ldexp(1.0, static_cast<int>(up));
    const auto weight = [&](const char* even, const char* odd) {
      return static_cast<double>(Option(c, i % 2 == 0 ? even : odd));
    };
    const double sum = signal * weight("smoothing", "alternate_smoothing") +
                       in[1].stored[i] * weight("one_minus_smoothing", "alternate_one_minus_smoothing");
    const double estimate = Halved(sum, bits);
    next[i] = Option(c, "clamping") != 0 ? std::min(estimate, signal) : estimate;
    y[i] = std::max(Halved(signal - std::min(estimate, signal), up),
                    Halved(x * static_cast<double>(Option(c, "min_signal_remaining")), bits));
  }
  return {y, next};
}
const OpTraits kSubtraction = {.op = Op::kSpectralSubtraction, .oracle = Subtract};

OpCase SubtractionCase(int64_t clamping, double noise) {
  return {{Words({41}, 0x1p21), Words({41}, noise)},
          {Words({}), Words({})},
          {{"smoothing", int64_t{409}},
           {"one_minus_smoothing", int64_t{15975}},
           {"alternate_smoothing", int64_t{983}},
           {"alternate_one_minus_smoothing", int64_t{15401}},
           {"min_signal_remaining", int64_t{819}},
           {"smoothing_bits", int64_t{10}},
           {"bits", int64_t{14}},
           {"clamping", clamping}}};
}

TEST(SpectralSubtraction, EqualsOracle) {
  RunCases(kSubtraction,
           {SubtractionCase(0, 0x1p31), SubtractionCase(1, 0x1p31), SubtractionCase(0, 0), SubtractionCase(1, 0x1p21)});
}

TEST(SpectralSubtraction, RejectsWhatBreaksItsRule) {
  using P = schema::SpectralSubtractionParams;
  ExpectRejections(kSubtraction, SubtractionCase(0, 0x1p31), Numerics::kFp32Rne,
                   {{"bits", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_bits(64); }},
                    {"smoothing", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_smoothing_bits(32); }},
                    {"noise", Site::kOpOperands, [](MutableCall& m) { m.dims[1][0] = 40; }},
                    {"output", Site::kOpOperands, [](MutableCall& m) { m.dims[2][0] = 40; }},
                    {"next noise", Site::kOpOperands, [](MutableCall& m) { m.dims[3][0] = 40; }}});
}

/// Shapes and rejections only: LogIsCloseToTheFunction has the values.
Results NoLog(const OpCase&, const Inputs& in) {
  return {Values(in[0].dims)};
}
const OpTraits kLog = {.op = Op::kFilterBankLog, .oracle = NoLog};

OpCase LogCase(Operand x, int64_t scale, int64_t bits) {
  return {{std::move(x)}, {Plain(DataType::kInt16, {})}, {{"scale", scale}, {"correction_bits", bits}}};
}

std::vector<double> Outputs(const OpTraits& traits, const OpCase& c, const std::vector<std::vector<double>>& inputs) {
  std::vector<std::vector<uint8_t>> bytes;
  for (size_t i = 0; i < inputs.size(); ++i) bytes.push_back(Pack(c.inputs[i].type, inputs[i]));
  const auto outputs = RunOnPorts(ConvertCase(traits, c, Numerics::kTflite).plan, bytes);
  return outputs.empty() ? std::vector<double>() : Unpack(c.outputs[0].type, outputs[0]);
}

TEST(FilterBankLog, IsCloseToTheFunction) {
  const std::vector<double> x = {0, 1, 2, 3, 5, 100, 4097, 65535, 65536, 1e6, 0x1p28};
  for (const int64_t bits : {0, 3}) {
    const std::vector<double> y = Outputs(kLog, LogCase(Words({11}), 1600, bits), {x});
    ASSERT_EQ(y.size(), x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      const double scaled = x[i] * std::ldexp(1.0, static_cast<int>(bits));
      EXPECT_NEAR(y[i], scaled > 1 ? std::min(1600 * std::log(scaled), 32767.0) : 0, 6) << x[i];
    }
  }
}

/// The product with the scale has 32 bits.
TEST(FilterBankLog, SaturatesAndWraps) {
  EXPECT_EQ(Outputs(kLog, LogCase(Words({1}), 1600, 0), {{0x1p31}}), std::vector<double>{32767});
  EXPECT_EQ(Outputs(kLog, LogCase(Words({1}), 65536, 0), {{2}}), std::vector<double>{32767});
  EXPECT_EQ(Outputs(kLog, LogCase(Words({1}), 1 << 20, 0), {{2}}), std::vector<double>{(45426 * 16) % 65536 + 0.0});
}

TEST(FilterBankLog, RejectsWhatBreaksItsRule) {
  using P = schema::FilterBankLogParams;
  ExpectRejections(kLog, LogCase(Words({40}, 9e6), 1600, 3), Numerics::kFp32Rne,
                   {{"bits", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_correction_bits(32); }},
                    {"table", Site::kOpOperands, [](MutableCall& m) { m.dims[1][0] = 128; }},
                    {"output", Site::kOpOperands, [](MutableCall& m) { m.dims[2][0] = 39; }}});
}

/// The gain at `x`: up to 2 the table's start, else a parabola between powers of two, of 10 bits of fraction.
double GainOf(double x, const Filled& gains) {
  if (x <= 2) return gains.stored[static_cast<size_t>(x)];
  const int bits = std::ilogb(x) + 1;
  const auto at = static_cast<size_t>(4 * bits - 6);
  const double fraction = std::floor((x - std::ldexp(1.0, bits - 1)) * std::ldexp(1.0, 11 - bits));
  const double slope = std::floor(gains.stored[at + 2] * fraction / 32) + gains.stored[at + 1] * 32;
  return std::floor((slope * fraction + 16384) / 32768) + gains.stored[at];
}

Results Pcan(const OpCase& c, const Inputs& in) {
  Values y(in[0].dims);
  for (size_t i = 0; i < y.v.size(); ++i) {
    const double ratio = Halved(in[0].stored[i] * GainOf(in[1].stored[i], in[2]), Option(c, "snr_shift"));
    y[i] = ratio < 8192 ? std::floor(ratio * ratio / 0x1p20) : std::floor(ratio / 64) - 64;
  }
  return {y};
}
const OpTraits kPcan = {.op = Op::kPcan, .oracle = Pcan};

OpCase PcanCase(double x, double noise, int64_t shift) {
  return {{Words({200}, x), Words({200}, noise), Plain(DataType::kInt16, {125}, 200, 8000).Constant()},
          {Words({})},
          {{"snr_shift", shift}}};
}

TEST(Pcan, EqualsOracle) {
  RunCases(kPcan,
           {PcanCase(60000, 0x1p31, 6), PcanCase(60000, 40, 6), PcanCase(9e6, kTwo32 - 1, 8), PcanCase(300, 3000, 6)});
}

TEST(Pcan, RejectsWhatBreaksItsRule) {
  using P = schema::PcanParams;
  ExpectRejections(kPcan, PcanCase(60000, 40, 6), Numerics::kFp32Rne,
                   {{"shift", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_snr_shift(64); }},
                    {"noise", Site::kOpOperands, [](MutableCall& m) { m.dims[1][0] = 199; }},
                    {"gains", Site::kOpOperands, [](MutableCall& m) { m.dims[2][0] = 124; }},
                    {"output", Site::kOpOperands, [](MutableCall& m) { m.dims[3][0] = 199; }}});
}

}  // namespace
}  // namespace takt::test
