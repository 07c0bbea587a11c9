// softmax
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "schema/plan_generated.h"
#include "tests/ops/op_test.h"

namespace takt::test {
namespace {

/// Calls f(first, end) for each row.
template <typename F>
void Rows(const Filled& x, F f) {
  const auto depth = static_cast<size_t>(x.dims.back());
  for (size_t at = 0; at < x.stored.size(); at += depth) f(at, at + depth);
}

double Beta(const OpCase& c) {
  return std::get<double>(c.attributes.at("beta"));
}

Results Softmax(const OpCase& c, const Inputs& in) {
  Values y(in[0].dims);
  Rows(in[0], [&](size_t first, size_t end) {
    const std::vector<double>& x = in[0].real;
    const double max =
        *std::max_element(x.begin() + static_cast<ptrdiff_t>(first), x.begin() + static_cast<ptrdiff_t>(end));
    double sum = 0;
    for (size_t i = first; i < end; ++i) sum += y[i] = std::exp(Beta(c) * (x[i] - max));
    for (size_t i = first; i < end; ++i) y[i] /= sum;
  });
  return {y};
}

/// The table's 22 bits, then the correctly rounded quotient (half up), from 0 on.
Results SoftmaxFp32Rne(const OpCase& c, const Inputs& in) {
  const double levels = c.outputs[0].type == DataType::kInt8 ? 256 : 65536;
  Values y(in[0].dims);
  Rows(in[0], [&](size_t first, size_t end) {
    const std::vector<double>& q = in[0].stored;
    const double max =
        *std::max_element(q.begin() + static_cast<ptrdiff_t>(first), q.begin() + static_cast<ptrdiff_t>(end));
    const double step = static_cast<double>(static_cast<float>(Beta(c))) * c.inputs[0].scale();
    double sum = 0;
    for (size_t i = first; i < end; ++i) sum += y[i] = std::nearbyint(std::exp(step * (q[i] - max)) * (1 << 22));
    for (size_t i = first; i < end; ++i) {
      y[i] = std::min(levels - 1, std::floor((2 * levels * y[i] + sum) / (2 * sum))) - levels / 2;
    }
  });
  return {y};
}

const OpTraits kSoftmax = {.op = Op::kSoftmax, .oracle = Softmax, .fp32_rne = SoftmaxFp32Rne};

OpCase Case(Dims x, float scale, double beta = 1.0) {
  return {{Int8(std::move(x), scale, 14)}, {Int8({}, 1.0f / 256, -128)}, {{"beta", beta}}};
}

TEST(Softmax, EqualsOracle) {
  OpCase equal = Case({2, 300}, 0.1f);
  equal.inputs[0] = equal.inputs[0].Fixed({-128});
  RunCases(kSoftmax, {Case({1}, 0.1f), Case({3, 12}, 0.125f), Case({2, 5, 7}, 0.02f, 0.5),
                      Case({1, 2, 1, 3, 1, 10}, 0.3f), Case({1, 1000}, 0.0123f), Case({4, 2}, 2.5f), equal});
}

/// tflite sums in 12 bits, which shows in 16 bits of output.
TEST(Softmax, Int8ToInt16EqualsOracle) {
  const auto wide = [](OpCase c) {
    c.outputs = {Int16({}, 1.0f / 65536)};
    c.outputs[0].zero_point = -32768;
    return c;
  };
  OpTraits traits = kSoftmax;
  traits.also_float = false;
  traits.within = 16;
  RunCases(traits, {wide(Case({1}, 0.1f)), wide(Case({4, 12}, 0.125f)), wide(Case({1, 2}, 0.07f))});
}

/// int16, output scale 2^-15: tables of 24 bits and a quotient of 64 (fp32_rne) are within 1;
/// tflite's interpolated tables are within 2 units, no golden shows its bytes.
TEST(Softmax, Int16IsNearTheOracle) {
  const auto wide = [](Dims x, float scale, double beta) {
    return OpCase{{Int16(std::move(x), scale)}, {Int16({}, 1.0f / 32768)}, {{"beta", beta}}};
  };
  const std::vector<OpCase> cases = {wide({1}, 1e-3f, 1), wide({3, 12}, 1e-4f, 1), wide({2, 5, 7}, 3e-4f, 0.5),
                                     wide({1, 1000}, 1e-5f, 1), wide({4, 2}, 1e-2f, 1)};
  RunCases({.op = Op::kSoftmax, .oracle = Softmax, .also_float = false, .also_tflite = false, .within = 1}, cases);
  OpTraits tflite = {.op = Op::kSoftmax, .oracle = Softmax, .also_float = false};
  tflite.within = 2;
  RunCases(tflite, cases);
}

TEST(Softmax, RejectsWhatBreaksItsRule) {
  using P = schema::SoftmaxParams;
  const OpCase c = Case({2, 5}, 0.1f);
  ExpectRejections(kSoftmax, c, Numerics::kFp32Rne,
                   {{"an axis", Site::kOpOperands, [](MutableCall& m) { m.inputs[0].rank = 0; }},
                    {"shape of the output", Site::kOpOperands, [](MutableCall& m) { m.dims[2][1] = 4; }},
                    {"table of 256", Site::kOpOperands, [](MutableCall& m) { m.dims[1][0] = 255; }},
                    {"constant table", Site::kOpConstant, [](MutableCall& m) { m.inputs[1].constant = false; }},
                    {"sum above 0", Site::kOpConstant, [](MutableCall& m) { *m.constant<uint32_t>(1) = 0; }}});
  ExpectRejections(kSoftmax, c, Numerics::kTflite,
                   {{"rows below 4096", Site::kOpOperands, [](MutableCall& m) { m.dims[0][1] = m.dims[1][1] = 4096; }},
                    {"multiplier", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_multiplier(-1); }},
                    {"shift from 0", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_shift(-1); }},
                    {"differences", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_diff_min(1); }}});
  const OpCase real = {{Float({2, 5})}, {Float({})}, {{"beta", 1.0}}};
  ExpectRejections(kSoftmax, real, Numerics::kFp32Rne,
                   {{"beta", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_beta(0); }}});
}

}  // namespace
}  // namespace takt::test
