// From a float model and samples to integer steps, and from QDQ models to the same.
#include "converter/quant/quantizer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "converter/backend/convert.h"
#include "converter/ir/constants.h"
#include "tests/converter/onnx_builder.h"
#include "tests/support/plan_runner.h"

namespace takt {
namespace {

using test::OnnxBuilder;

Calibration Samples(size_t count, size_t values, quant::Options options = {}) {
  Calibration calibration;
  calibration.options = options;
  calibration.open = [=](const ir::Graph&, Diagnostics&) {
    return quant::Samples{
        count, [=](size_t i) {
          return std::vector<ir::Bytes>{ir::ToBytes(test::Values(values, static_cast<uint32_t>(100 + i)))};
        }};
  };
  return calibration;
}

Conversion Quantized(const OnnxBuilder& b, const Calibration& calibration) {
  ConvertOptions options;
  options.calibration = calibration;
  return ConvertOnnx(b.Bytes(), "test.onnx", {}, options);
}

size_t Count(const Conversion& made, Op op) {
  return static_cast<size_t>(std::count_if(made.graph.nodes.begin(), made.graph.nodes.end(),
                                           [&](const ir::Node& node) { return node.op == op; }));
}

bool HasError(const Conversion& made, const std::string& part) {
  return std::any_of(made.diagnostics.all().begin(), made.diagnostics.all().end(), [&](const Diagnostic& d) {
    return d.severity == Severity::kError && d.message.find(part) != std::string::npos;
  });
}

std::string Text(const Conversion& made) {
  std::string text;
  for (const Diagnostic& d : made.diagnostics.all()) text += d.ToString() + "\n";
  return text;
}

double SqnrDb(const std::vector<float>& want, const std::vector<float>& got) {
  double signal = 0;
  double noise = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    signal += std::pow(static_cast<double>(want[i]), 2);
    noise += std::pow(static_cast<double>(want[i]) - static_cast<double>(got[i]), 2);
  }
  return 10 * std::log10(signal / noise);
}

TEST(Quantizer, CnnRunsInIntegersCloseToFloat) {
  const OnnxBuilder cnn = test::SmallCnn();
  const Conversion real = ConvertOnnx(cnn.Bytes(), "test.onnx", {}, {});
  for (quant::Observer observer : {quant::Observer::kMinMax, quant::Observer::kMovingAverage,
                                   quant::Observer::kPercentile, quant::Observer::kEntropy, quant::Observer::kMse}) {
    quant::Options options;
    options.observer = observer;
    const Conversion made = Quantized(cnn, Samples(8, 192, options));
    ASSERT_TRUE(made.diagnostics.ok());
    EXPECT_EQ(Count(made, Op::kQuantize), 1u);
    EXPECT_EQ(Count(made, Op::kDequantize), 1u);
    EXPECT_GE(made.accuracy.tensors.size(), 4u);
    const std::vector<test::Bytes> input = {ir::ToBytes(test::Values(192, 105))};
    const auto want = test::Floats(test::PlanRunner(real.plan).Run(input)[0]);
    const auto got = test::Floats(test::PlanRunner(made.plan).Run(input)[0]);
    EXPECT_GT(SqnrDb(want, got), 25) << static_cast<int>(observer);
  }
}

TEST(Quantizer, IntegerIoHasNoFloatStep) {
  quant::Options options;
  options.float_io = false;
  const Conversion made = Quantized(test::SmallCnn(), Samples(4, 192, options));
  ASSERT_TRUE(made.diagnostics.ok());
  EXPECT_EQ(Count(made, Op::kQuantize) + Count(made, Op::kDequantize), 0u);
  test::PlanRunner runner(made.plan);
  EXPECT_EQ(runner.net().input(0).type, DataType::kInt8);
  EXPECT_EQ(runner.net().input(0).name, "x");
  EXPECT_EQ(runner.net().output(0).type, DataType::kInt8);
  EXPECT_EQ(runner.net().output(0).name, "y");
}

TEST(Quantizer, SameSamplesGiveTheSamePlan) {
  EXPECT_EQ(Quantized(test::SmallCnn(), Samples(4, 192)).plan, Quantized(test::SmallCnn(), Samples(4, 192)).plan);
}

TEST(Quantizer, RefusesBadInput) {
  EXPECT_TRUE(HasError(Quantized(test::SmallCnn(), Samples(0, 192)), "no calibration samples"));
  Calibration infinite = Samples(1, 192);
  infinite.open = [](const ir::Graph&, Diagnostics&) {
    return quant::Samples{
        1, [](size_t) { return std::vector<ir::Bytes>{ir::ToBytes(std::vector<float>(192, std::nanf("")))}; }};
  };
  EXPECT_TRUE(HasError(Quantized(test::SmallCnn(), infinite), "NaN"));
  OnnxBuilder b = test::SmallCnn();
  std::vector<float> weights = test::Values(216, 1);
  weights[5] = std::numeric_limits<float>::infinity();
  b.model().mutable_graph()->mutable_initializer(0)->set_raw_data(weights.data(), weights.size() * sizeof(float));
  const Conversion made = Quantized(b, Samples(2, 192));
  EXPECT_FALSE(made.diagnostics.ok());
  EXPECT_TRUE(made.plan.empty());
}

/// x -> Q -> DQ -> Gemm(DQ(int8 weights), float bias) -> Q -> DQ -> y, all scales powers of two: exact arithmetic.
OnnxBuilder QdqModel() {
  OnnxBuilder b;
  b.Input("x", {1, 4});
  b.Constant("xs", {}, std::vector<float>{0.25f});
  b.Constant("xz", {}, std::vector<int8_t>{3});
  b.Constant("w", {2, 4}, std::vector<int8_t>{1, -2, 3, 4, -5, 6, 7, -8});
  b.Constant("ws", {2}, std::vector<float>{0.5f, 0.25f});
  b.Constant("wz", {2}, std::vector<int8_t>{0, 0});
  b.Constant("bias", {2}, std::vector<float>{1.0f, -0.5f});
  b.Constant("ys", {}, std::vector<float>{0.5f});
  b.Constant("yz", {}, std::vector<int8_t>{-1});
  b.Node("QuantizeLinear", {"x", "xs", "xz"}, "xq");
  b.Node("DequantizeLinear", {"xq", "xs", "xz"}, "xd");
  onnx::AttributeProto* axis = b.Node("DequantizeLinear", {"w", "ws", "wz"}, "wd").add_attribute();
  axis->set_name("axis");
  axis->set_type(onnx::AttributeProto::INT);
  axis->set_i(0);
  onnx::AttributeProto* trans = b.Node("Gemm", {"xd", "wd", "bias"}, "g").add_attribute();
  trans->set_name("transB");
  trans->set_type(onnx::AttributeProto::INT);
  trans->set_i(1);
  b.Node("QuantizeLinear", {"g", "ys", "yz"}, "yq");
  b.Node("DequantizeLinear", {"yq", "ys", "yz"}, "y");
  b.Output("y", {1, 2});
  return b;
}

TEST(QuantizationFusion, QdqBecomesOneIntegerStep) {
  const Conversion made = ConvertOnnx(QdqModel().Bytes(), "qdq.onnx", {}, {});
  ASSERT_TRUE(made.diagnostics.ok()) << Text(made);
  ASSERT_EQ(Count(made, Op::kFullyConnected), 1u);
  EXPECT_EQ(made.graph.nodes.size(), 3u);  // quantize, fully connected, dequantize
  for (const ir::Node& node : made.graph.nodes) {
    if (node.op != Op::kFullyConnected) continue;
    EXPECT_EQ(made.graph.tensor(node.inputs[0]).type, DataType::kInt8);
  }
  // x = [1, 0.5, -0.25, 2]: row 0 gives 0.5 * (1 - 1 - 0.75 + 8) + 1 = 4.625, stored rne(9.25) - 1; row 1 gives
  // 0.25 * (-5 + 3 - 1.75 - 16) - 0.5 = -5.4375, stored rne(-10.875) - 1.
  const auto y = test::Floats(test::PlanRunner(made.plan).Run({ir::ToBytes<float>({1, 0.5f, -0.25f, 2})})[0]);
  EXPECT_EQ(y, (std::vector<float>{4.5f, -5.5f}));
}

TEST(QuantizationFusion, NamesWhatStaysFloat) {
  OnnxBuilder b = QdqModel();
  b.model().mutable_graph()->mutable_node(3)->set_input(0, "x");  // The Gemm reads x itself.
  const Conversion made = ConvertOnnx(b.Bytes(), "qdq.onnx", {}, {});
  ASSERT_TRUE(made.diagnostics.ok()) << Text(made);
  EXPECT_TRUE(std::any_of(made.diagnostics.all().begin(), made.diagnostics.all().end(), [](const Diagnostic& d) {
    return d.message.find("stays float") != std::string::npos && d.message.find("input 0") != std::string::npos;
  }));
}

}  // namespace
}  // namespace takt
