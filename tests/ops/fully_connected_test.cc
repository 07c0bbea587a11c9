// fully_connected
#include <gtest/gtest.h>

#include "schema/plan_generated.h"
#include "tests/ops/op_test.h"

namespace takt::test {
namespace {

Results Multiply(const OpCase&, const Inputs& in) {
  const auto outputs = static_cast<size_t>(in[1].dims[0]), depth = static_cast<size_t>(in[1].dims[1]);
  Dims dims = in[0].dims;
  dims.back() = in[1].dims[0];
  Values y(dims);
  for (size_t i = 0; i < y.v.size(); ++i) {
    y[i] = in[2].centered[i % outputs];
    for (size_t k = 0; k < depth; ++k)
      y[i] += in[0].centered[i / outputs * depth + k] * in[1].centered[i % outputs * depth + k];
  }
  return {y};
}

/// One scale for all channels: TFLite multiplies it with the input's in float.
double Unit(const OpCase& c, size_t channel) {
  if (c.inputs[1].scales.size() != 1) return c.inputs[0].scale() * c.inputs[1].scale(channel);
  return static_cast<double>(c.inputs[0].scales[0] * c.inputs[1].scales[0]);
}

const OpTraits kFullyConnected = {.op = Op::kFullyConnected, .oracle = Multiply, .unit = Unit, .wide_sums = true};

OpCase Case(Dims x, Dims weights, const char* activation = "none", float out_scale = 0.08f, int axis = -1) {
  const int32_t channels = weights[0];
  return {{Int8(std::move(x), 0.043f), Weights(std::move(weights), axis), Bias(channels)},
          {Int8({}, out_scale, 12)},
          {{"activation", std::string(activation)}}};
}

TEST(FullyConnected, EqualsOracle) {
  OpCase extreme = Case({1, 64}, {7, 64}, "none", 3.0f);
  extreme.inputs[0] = Int8({1, 64}, 0.5f, 127).Fixed({-128});
  extreme.inputs[1] = extreme.inputs[1].Fixed({-128, -128, 127});
  OpCase weight_zero_point = Case({3, 9}, {4, 9});
  weight_zero_point.inputs[1] = Weights({4, 9}, -1, -31);
  OpCase wraps = Case({2, 5}, {3, 5});
  wraps.inputs[2] = Bias(3).Fixed({2147483647, -2147483647, 5}).Constant();
  const std::vector<OpCase> cases = {Case({1, 1}, {1, 1}),
                                     Case({1, 13}, {5, 13}, "relu"),
                                     Case({4, 33}, {17, 33}, "relu6", 0.02f),
                                     Case({2, 3, 5, 7}, {2, 7}, "relu_n1_to_1"),
                                     Case({3, 40}, {9, 40}, "none", 0.05f, 0),
                                     Case({5, 8}, {3, 8}, "none", 1e-4f),
                                     extreme,
                                     weight_zero_point};
  RunCases(kFullyConnected, cases);
  RunCases(kFullyConnected, Wide(cases));
  OpCase dynamic = Case({3, 7}, {4, 7});
  dynamic.inputs[1].constant = false;
  RunCases(kFullyConnected, {dynamic});
  OpTraits integer_only = kFullyConnected;
  integer_only.also_float = false;
  RunCases(integer_only, {wraps});
}

TEST(FullyConnected, RejectsWhatBreaksItsRule) {
  using P = schema::FullyConnectedParams;
  for (const Numerics numerics : {Numerics::kFp32Rne, Numerics::kTflite})
    ExpectRejections(
        kFullyConnected, Case({2, 6}, {3, 6}), numerics,
        {{"weights of rank 2", Site::kOpOperands, [](MutableCall& m) { m.inputs[1].rank = 1; }},
         {"whole rows", Site::kOpOperands, [](MutableCall& m) { m.dims[1][1] = 5; }},
         {"bias of O", Site::kOpOperands, [](MutableCall& m) { m.dims[2][0] = 2; }},
         {"size of the output", Site::kOpOperands, [](MutableCall& m) { m.dims.back()[0] = 3; }},
         {"clamp", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutable_clamp().mutate_max(200); }},
         {"input zero point", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_input_zero_point(128); }},
         {"weight zero point", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_weight_zero_point(128); }},
         {"output zero point", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_output_zero_point(-129); }},
         {"constant requantization", Site::kOpConstant, [](MutableCall& m) { m.inputs[3].constant = false; }}});
}

}  // namespace
}  // namespace takt::test
