// local_response_normalization
#include <gtest/gtest.h>

#include <cmath>

#include "schema/plan_generated.h"
#include "tests/ops/op_test.h"

namespace takt::test {
namespace {

Results LocalResponse(const OpCase& c, const Inputs& in) {
  const auto number = [&](const char* name) { return std::get<double>(c.attributes.at(name)); };
  const auto radius = std::get<int64_t>(c.attributes.at("radius"));
  const int64_t depth = in[0].dims.back();
  Values y(in[0].dims);
  for (size_t i = 0; i < y.v.size(); ++i) {
    const auto channel = static_cast<int64_t>(i) % depth;
    double sum = 0;
    for (int64_t k = std::max<int64_t>(0, channel - radius); k <= std::min(depth - 1, channel + radius); ++k) {
      const double v = in[0].real[i - static_cast<size_t>(channel) + static_cast<size_t>(k)];
      sum += v * v;
    }
    y[i] = in[0].real[i] * std::pow(number("bias") + number("alpha") * sum, -number("beta"));
  }
  return {y};
}
const OpTraits kLocalResponse = {.op = Op::kLocalResponseNormalization, .oracle = LocalResponse};

OpCase Case(Dims x, int64_t radius, double bias, double alpha, double beta) {
  return {{Float(std::move(x))}, {Float({})}, {{"radius", radius}, {"bias", bias}, {"alpha", alpha}, {"beta", beta}}};
}

TEST(LocalResponseNormalization, EqualsOracle) {
  RunCases(kLocalResponse, {Case({2, 3, 4, 20}, 5, 1, 0.5, 0.5), Case({1, 1, 1, 7}, 2, 2, 1e-4, 0.75),
                            Case({6}, 0, 1, 1, 1), Case({3, 4}, 100, 0.5, 0.25, 0.5)});
}

TEST(LocalResponseNormalization, RejectsWhatBreaksItsRule) {
  using P = schema::LocalResponseNormalizationParams;
  ExpectRejections(kLocalResponse, Case({2, 3}, 1, 1, 1, 1), Numerics::kFp32Rne,
                   {{"radius", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_radius(-1); }},
                    {"bias", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_bias(NAN); }},
                    {"shape of the output", Site::kOpOperands, [](MutableCall& m) { m.dims[1][0] = 3; }}});
}

}  // namespace
}  // namespace takt::test
