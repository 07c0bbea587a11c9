// Operators of ONNX Runtime's own give what the standard's operators that define them give.
#include <gtest/gtest.h>
#include <onnx/defs/parser.h>

#include <cmath>

#include "converter/backend/convert.h"
#include "converter/ir/constants.h"
#include "tests/converter/onnx_builder.h"
#include "tests/support/plan_runner.h"

namespace takt {
namespace {

/// What a model of the given nodes, which write y from x and constants, makes of x [1, 2, 3, 4].
std::vector<float> Outputs(const std::string& nodes) {
  const std::string text =
      "<ir_version: 8, opset_import: [\"\" : 17, \"com.microsoft\" : 1]>\n"
      "test (float[1, 2, 3, 4] x) => (float[1, 2, 3, 4] y) {\n"
      "w = Constant <value = float[4] {0.5, -1.0, 2.0, 0.25}> ()\n"
      "v = Constant <value = float[4] {1.0, 2.0, -0.5, 0.75}> ()\n"
      "m = Constant <value = float[2, 4] {0.5, -1.0, 2.0, 0.25, 1.0, 0.0, -2.0, 3.0}> ()\n"
      "k = Constant <value = float[2, 2, 1, 1] {0.5, -1.0, 2.0, 0.25}> ()\n"
      "s = Constant <value = float {0.02}> ()\n"
      "t = Constant <value = float {0.015}> ()\n"
      "z = Constant <value = uint8 {120}> ()\n" +
      nodes + "}";
  onnx::ModelProto model;
  const auto status = onnx::OnnxParser(text.c_str()).Parse(model);
  if (!status.IsOK()) return ADD_FAILURE() << status.ErrorMessage(), std::vector<float>();
  const std::string bytes = model.SerializeAsString();
  const Conversion made =
      ConvertOnnx({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, "test.onnx", {}, {});
  for (const Diagnostic& d : made.diagnostics.all())
    if (d.severity == Severity::kError) ADD_FAILURE() << d.ToString();
  if (made.plan.empty()) return {};
  return test::Floats(test::PlanRunner(made.plan).Run({ir::ToBytes(test::Values(24, 3))})[0]);
}

struct Case {
  const char* name;
  const char* own;
  const char* standard;
};

const Case kCases[] = {
    {"FusedConv", "y = com.microsoft.FusedConv <activation = \"LeakyRelu\", activation_params = [0.1]> (x, k, , x)\n",
     "c = Conv (x, k)\nd = Add (c, x)\ny = LeakyRelu <alpha = 0.1> (d)\n"},
    {"FusedGemm",
     "f = Flatten <axis = 3> (x)\ny = com.microsoft.FusedGemm <activation = \"Relu\", transB = 1> (f, m)\n",
     "f = Flatten <axis = 3> (x)\ng = Gemm <transB = 1> (f, m)\ny = Relu (g)\n"},
    {"FusedMatMul", "y = com.microsoft.FusedMatMul <transB = 1, alpha = 0.5> (x, m)\n",
     "n = Transpose <perm = [1, 0]> (m)\np = MatMul (x, n)\nh = Constant <value = float {0.5}> ()\ny = Mul (p, h)\n"},
    {"BiasGelu", "y = com.microsoft.BiasGelu (x, w)\n", "a = Add (x, w)\ny = com.microsoft.Gelu (a)\n"},
    {"QuickGelu", "y = com.microsoft.QuickGelu <alpha = 1.5> (x)\n",
     "h = Constant <value = float {1.5}> ()\na = Mul (x, h)\nb = Sigmoid (a)\ny = Mul (x, b)\n"},
    {"SkipLayerNormalization", "y = com.microsoft.SkipLayerNormalization <epsilon = 0.01> (x, x, w, v, v)\n",
     "a = Add (x, x)\nb = Add (a, v)\ny = LayerNormalization <epsilon = 0.01> (b, w, v)\n"},
    {"SkipSimplifiedLayerNormalization", "y, , , o = com.microsoft.SkipSimplifiedLayerNormalization (x, w, v)\n",
     "a = Add (x, w)\ny = com.microsoft.SimplifiedLayerNormalization (a, v)\n"},
    {"QLinearMul",
     "q = QuantizeLinear (x, s, z)\nr = com.microsoft.QLinearMul (q, s, z, q, s, z, t, z)\ny = DequantizeLinear (r, t, "
     "z)\n",
     "q = QuantizeLinear (x, s, z)\na = DequantizeLinear (q, s, z)\nb = Mul (a, a)\nr = QuantizeLinear (b, t, z)\ny = "
     "DequantizeLinear (r, t, z)\n"},
    {"QLinearConcat",
     "q = QuantizeLinear (x, s, z)\nr = com.microsoft.QLinearConcat <axis = 1> (t, z, q, s, z, q, s, z)\ny = "
     "DequantizeLinear (r, t, z)\n",
     "q = QuantizeLinear (x, s, z)\na = DequantizeLinear (q, s, z)\nb = Concat <axis = 1> (a, a)\nr = QuantizeLinear "
     "(b, t, z)\ny = DequantizeLinear (r, t, z)\n"},
    {"QLinearGlobalAveragePool",
     "q = QuantizeLinear (x, s, z)\nr = com.microsoft.QLinearGlobalAveragePool <channels_last = 1> (q, s, z, t, z)\ny "
     "= "
     "DequantizeLinear (r, t, z)\n",
     "q = QuantizeLinear (x, s, z)\na = DequantizeLinear (q, s, z)\nb = ReduceMean <axes = [1, 2]> (a)\nr = "
     "QuantizeLinear (b, t, z)\ny = DequantizeLinear (r, t, z)\n"},
};

TEST(OnnxContrib, EqualsTheStandardsOperators) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    const std::vector<float> own = Outputs(c.own), standard = Outputs(c.standard);
    ASSERT_EQ(own.size(), standard.size());
    ASSERT_FALSE(own.empty());
    for (size_t i = 0; i < own.size(); ++i) EXPECT_NEAR(own[i], standard[i], 1e-6f * std::fabs(standard[i])) << i;
  }
}

TEST(OnnxContrib, GeluIsHalfXTimesOnePlusErf) {
  const std::vector<float> x = test::Values(24, 3), y = Outputs("y = com.microsoft.Gelu (x)\n"),
                           fast = Outputs("y = com.microsoft.FastGelu (x)\n");
  ASSERT_EQ(y.size(), x.size());
  ASSERT_EQ(fast.size(), x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    EXPECT_NEAR(y[i], 0.5f * x[i] * (1 + std::erf(x[i] / std::sqrt(2.0f))), 1e-6f);
    EXPECT_NEAR(fast[i], y[i], 1e-3f);
  }
}

}  // namespace
}  // namespace takt
