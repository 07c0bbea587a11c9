// rfft, inverse_rfft
#include <gtest/gtest.h>

#include <cmath>
#include <complex>

#include "converter/ops/twiddles.h"
#include "engine/base/crc32.h"
#include "schema/plan_generated.h"
#include "tests/ops/op_test.h"
#include "tests/ops/plan_run.h"

namespace takt::test {
namespace {

constexpr double kTurn = 6.283185307179586;

size_t LengthOf(const OpCase& c) {
  return static_cast<size_t>(std::get<int64_t>(c.attributes.at("length")));
}

/// The discrete Fourier transform from its definition. Integers are divided by the length.
Results Forward(const OpCase& c, const Inputs& in) {
  const size_t length = LengthOf(c), size = static_cast<size_t>(in[0].dims.back());
  Values y(in[0].dims);
  y.dims.back() = static_cast<int32_t>(length + 2);
  y = Values(y.dims);
  const double unit = c.inputs[0].type == DataType::kFloat32 ? 1 : 1 / static_cast<double>(length);
  for (size_t frame = 0; frame < in[0].stored.size() / size; ++frame) {
    for (size_t k = 0; k <= length / 2; ++k) {
      std::complex<double> sum;
      for (size_t i = 0; i < size; ++i)
        sum += std::polar(in[0].stored[frame * size + i],
                          -kTurn * static_cast<double>(i * k % length) / static_cast<double>(length));
      y[frame * (length + 2) + 2 * k] = unit * sum.real();
      y[frame * (length + 2) + 2 * k + 1] = unit * sum.imag();
    }
  }
  return {y};
}

/// The real signal whose spectrum's first half this is, divided by the length.
Results Inverse(const OpCase& c, const Inputs& in) {
  const size_t length = LengthOf(c), size = length + 2;
  Values y(in[0].dims);
  y.dims.back() = static_cast<int32_t>(length);
  y = Values(y.dims);
  for (size_t frame = 0; frame < in[0].stored.size() / size; ++frame) {
    const double* x = &in[0].stored[frame * size];
    for (size_t i = 0; i < length; ++i) {
      double sum = x[0] + (i % 2 == 0 ? x[length] : -x[length]);
      for (size_t k = 1; k < length / 2; ++k) {
        const auto turn = std::polar(1.0, kTurn * static_cast<double>(i * k % length) / static_cast<double>(length));
        sum += 2 * (turn * std::complex<double>(x[2 * k], x[2 * k + 1])).real();
      }
      y[frame * length + i] = sum / static_cast<double>(length);
    }
  }
  return {y};
}

const OpTraits kForward = {.op = Op::kRfft, .oracle = Forward};
const OpTraits kInverse = {.op = Op::kInverseRfft, .oracle = Inverse};

OpCase Case(Operand x, int64_t length) {
  Operand y = x;
  y.dims = {};
  return {{std::move(x)}, {std::move(y)}, {{"length", length}}};
}

TEST(Rfft, EqualsOracle) {
  RunCases(kForward, {Case(Float({480}), 512), Case(Float({2, 3, 4}), 4), Case(Float({2, 36}), 36),
                      Case(Float({250}), 250), Case(Float({7}), 10), Case(Float({1}), 6)});
}

TEST(InverseRfft, EqualsOracle) {
  RunCases(kInverse, {Case(Float({514}), 512), Case(Float({2, 3, 6}), 4), Case(Float({2, 38}), 36),
                      Case(Float({252}), 250), Case(Float({12}), 10), Case(Float({8}), 6)});
}

/// Each stage rounds, and so does each half: a few units are lost.
TEST(Rfft, IsCloseToTheOracleInIntegers) {
  for (const OpTraits& traits : {kForward, kInverse}) {
    for (const int32_t length : {4, 30, 250, 480, 512}) {
      for (const DataType type : {DataType::kInt16, DataType::kInt32}) {
        const double most = type == DataType::kInt16 ? 16000 : 1e9;
        const OpCase c = Case(Plain(type, {traits.op == Op::kRfft ? length : length + 2}, -most, most), length);
        SCOPED_TRACE("length " + std::to_string(length));
        Filled x;
        x.dims = c.inputs[0].dims;
        uint32_t state = 1;
        for (int32_t i = 0; i < x.dims[0]; ++i) {
          state = state * 1664525u + 1013904223u;
          x.stored.push_back(std::nearbyint(most * static_cast<int32_t>(state) * 0x1p-31));
        }
        const auto outputs = RunOnPorts(ConvertCase(traits, c, Numerics::kTflite).plan, {Pack(type, x.stored)});
        ASSERT_EQ(outputs.size(), 1u);
        const std::vector<double> got = Unpack(type, outputs[0]);
        const Values want = traits.oracle(c, {x})[0];
        for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], want[i], 6) << i;
      }
    }
  }
}

/// Results of KissFFT 130 (compiled for 16 and 32 bits) for this generator's numbers, which start at the length.
struct Known {
  int32_t length;
  uint32_t forward16, inverse16, forward32, inverse32;
};
constexpr Known kKnown[] = {
    {4, 0x196372bb, 0x3c0de21e, 0xbf908c43, 0xf60e4a97},    {6, 0x24f2313e, 0x5d401210, 0x4227f5fd, 0x60004c12},
    {8, 0x79b0e478, 0x600d04cb, 0x3d421fa0, 0x1fcee06e},    {10, 0x5fd2ba2e, 0xbc7e9337, 0xc7bf39ac, 0x1a23339a},
    {12, 0xeee0a324, 0x3ed9e902, 0x093ffce5, 0x31a04d66},   {36, 0x433231be, 0x57a5bb27, 0xf9d952dd, 0x519cdc84},
    {50, 0x4c03dc40, 0x366da0ed, 0xbff6635a, 0xba926360},   {100, 0x876ac741, 0x8ab48d98, 0x1c4e5fcd, 0xbca3a5a8},
    {240, 0x8fbdc26b, 0x0cee237a, 0xd905c8e5, 0x68400d9f},  {250, 0xfb35ecbc, 0x94be7154, 0x9af04023, 0x5e130d08},
    {480, 0xd02c960d, 0x240bc33b, 0x4c1ef97a, 0xecd05bea},  {512, 0x6f5f0cb6, 0x93653666, 0x8c2aff29, 0x7bf838eb},
    {720, 0xe8b3cd79, 0x9b0d845c, 0xa156bf4c, 0x72e14f75},  {1024, 0x4368eb58, 0x6d9c3811, 0xc50382ce, 0x66437dc6},
    {3600, 0xf858dbd3, 0x478dced7, 0x5fe3f955, 0xb62c9bbc}, {4096, 0xd0abeb22, 0x28c07244, 0xbb105523, 0x1b40908e},
};

Results Shape(const OpCase& c, const Inputs& in) {
  const auto length = static_cast<int32_t>(LengthOf(c));
  return {Values({in[0].dims[0] == length ? length + 2 : length})};
}

template <typename T>
uint32_t CrcOf(Op op, int32_t length) {
  const OpTraits traits = {.op = op, .oracle = Shape};
  constexpr DataType kType = kDataTypeOf<T>;
  std::vector<double> values(static_cast<size_t>(op == Op::kRfft ? length : length + 2));
  auto state = static_cast<uint32_t>(length);
  for (double& v : values) {
    state = state * 1664525u + 1013904223u;
    v = static_cast<int32_t>(state) >> (32 - 8 * sizeof(T));
  }
  const OpCase c = Case(Plain(kType, {static_cast<int32_t>(values.size())}), length);
  const auto outputs = RunOnPorts(ConvertCase(traits, c, Numerics::kTflite).plan, {Pack(kType, values)});
  return outputs.size() == 1 ? Crc32(std::as_bytes(std::span(outputs[0]))) : 0;
}

TEST(Rfft, EqualsKissFftInIntegers) {
  for (const Known& k : kKnown) {
    SCOPED_TRACE("length " + std::to_string(k.length));
    EXPECT_EQ(CrcOf<int16_t>(Op::kRfft, k.length), k.forward16);
    EXPECT_EQ(CrcOf<int16_t>(Op::kInverseRfft, k.length), k.inverse16);
    EXPECT_EQ(CrcOf<int32_t>(Op::kRfft, k.length), k.forward32);
    EXPECT_EQ(CrcOf<int32_t>(Op::kInverseRfft, k.length), k.inverse32);
  }
}

TEST(Rfft, RejectsWhatBreaksItsRule) {
  using P = schema::FftParams;
  const std::vector<Rejection> rejections = {
      {"odd", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_length(61); }},
      {"factor 7", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_length(56); }},
      {"two points", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_length(2); }},
      {"too long", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_length(1 << 17); }},
      {"another length", Site::kOpOperands, [](MutableCall& m) { m.params<P>().mutate_length(54); }},
      {"twiddles", Site::kOpOperands, [](MutableCall& m) { m.dims[1][0] -= 1; }},
      {"operand", Site::kOpOperands, [](MutableCall& m) { m.dims[0][1] += 10; }},
      {"frames", Site::kOpOperands, [](MutableCall& m) { m.dims[2][0] = 3; }}};
  ExpectRejections(kForward, Case(Float({2, 60}), 60), Numerics::kFp32Rne, rejections);
  ExpectRejections(kInverse, Case(Float({2, 62}), 60), Numerics::kFp32Rne, rejections);
}

TEST(Twiddles, AreWithinAUnitInTheLastPlaceOfTheHostsFunctions) {
  for (int i = -800; i <= 800; ++i) {
    const double phase = i * 0.01;
    const ir::UnitComplex z = ir::UnitCircle(phase);
    EXPECT_NEAR(z.cosine, std::cos(phase), 0x1p-53) << phase;
    EXPECT_NEAR(z.sine, std::sin(phase), 0x1p-53) << phase;
  }
}

}  // namespace
}  // namespace takt::test
