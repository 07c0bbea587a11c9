// From a float model and samples to integer steps, and from QDQ models to the same.
#include "converter/quant/quantizer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "converter/ir/constants.h"
#include "tests/converter/quant/quantize.h"

namespace takt {
namespace {

using test::OnnxBuilder;

size_t Count(const Conversion& made, Op op) {
  return static_cast<size_t>(std::count_if(made.graph.nodes.begin(), made.graph.nodes.end(),
                                           [&](const ir::Node& node) { return node.op == op; }));
}

bool HasError(const Conversion& made, const std::string& part) {
  return std::any_of(made.diagnostics.all().begin(), made.diagnostics.all().end(), [&](const Diagnostic& d) {
    return d.severity == Severity::kError && d.message.find(part) != std::string::npos;
  });
}

TEST(Quantizer, CnnRunsInIntegersCloseToFloat) {
  const OnnxBuilder cnn = test::SmallCnn();
  const Conversion real = ConvertOnnx(cnn.Bytes(), "test.onnx", {}, {});
  for (quant::Observer observer : {quant::Observer::kMinMax, quant::Observer::kMovingAverage,
                                   quant::Observer::kPercentile, quant::Observer::kEntropy, quant::Observer::kMse}) {
    quant::Options options;
    options.observer = observer;
    const Conversion made = test::Quantized(cnn, test::SomeCalibration(8, 192, options));
    ASSERT_TRUE(made.diagnostics.ok());
    EXPECT_EQ(Count(made, Op::kQuantize), 1u);
    EXPECT_EQ(Count(made, Op::kDequantize), 1u);
    EXPECT_GE(made.accuracy.tensors.size(), 4u);
    const std::vector<test::Bytes> input = {ir::ToBytes(test::Values(192, 105))};
    const auto want = test::Floats(test::PlanRunner(real.plan).Run(input)[0]);
    const auto got = test::Floats(test::PlanRunner(made.plan).Run(input)[0]);
    EXPECT_GT(test::SqnrDb(want, got), 25) << static_cast<int>(observer);
  }
}

TEST(Quantizer, WideActivationsAreFiner) {
  const OnnxBuilder cnn = test::SmallCnn();
  const std::vector<test::Bytes> input = {ir::ToBytes(test::Values(192, 105))};
  const auto want = test::Floats(test::PlanRunner(ConvertOnnx(cnn.Bytes(), "test.onnx", {}, {}).plan).Run(input)[0]);
  quant::Options options;
  const Conversion narrow = test::Quantized(cnn, test::SomeCalibration(8, 192, options));
  options.precision = quant::Precision::kInt16;
  const Conversion wide = test::Quantized(cnn, test::SomeCalibration(8, 192, options));
  ASSERT_TRUE(wide.diagnostics.ok()) << test::Messages(wide);
  for (const ir::Node& node : wide.graph.nodes) {
    if (node.op == Op::kConv2d || node.op == Op::kFullyConnected) {
      EXPECT_EQ(wide.graph.tensor(node.inputs[0]).type, DataType::kInt16);
    }
  }
  const auto sqnr = [&](const Conversion& made) {
    return test::SqnrDb(want, test::Floats(test::PlanRunner(made.plan).Run(input)[0]));
  };
  EXPECT_GT(sqnr(wide), sqnr(narrow) + 3);
}

TEST(Quantizer, WideNetworkWithNarrowInputs) {
  quant::Options options;
  options.precision = quant::Precision::kInt16;
  options.io = DataType::kInt8;
  const Conversion made = test::Quantized(test::SmallCnn(), test::SomeCalibration(4, 192, options));
  ASSERT_TRUE(made.diagnostics.ok()) << test::Messages(made);
  EXPECT_EQ(Count(made, Op::kQuantize) + Count(made, Op::kDequantize), 0u);
  test::PlanRunner runner(made.plan);
  EXPECT_EQ(runner.net().input(0).type, DataType::kInt8);
  EXPECT_EQ(runner.net().output(0).type, DataType::kInt8);
}

TEST(Quantizer, MovesTheWorstLayersUntilTheLossIsInBounds) {
  quant::Options options;
  const Conversion narrow = test::Quantized(test::SmallCnn(), test::SomeCalibration(8, 192, options));
  size_t last = SIZE_MAX;
  for (const double db : {10.0, 40.0, 60.0, 200.0}) {
    options.max_loss = {db, quant::MaxLoss::kDb};
    const Conversion made = test::Quantized(test::SmallCnn(), test::SomeCalibration(8, 192, options));
    ASSERT_TRUE(made.diagnostics.ok()) << test::Messages(made);
    const auto& damages = made.accuracy.damages;
    const auto kept = static_cast<size_t>(std::count_if(
        damages.begin(), damages.end(), [](const quant::Damage& d) { return d.precision == quant::Precision::kInt8; }));
    if (db == 10.0) {
      EXPECT_EQ(made.plan, narrow.plan);
      continue;
    }
    EXPECT_LE(kept, last);
    last = kept;
    if (db == 200.0) {  // Float only.
      EXPECT_EQ(Count(made, Op::kQuantize), 0u);
    }
  }
}

TEST(Quantizer, IntegerIoHasNoFloatStep) {
  quant::Options options;
  options.io = DataType::kInt8;
  const Conversion made = test::Quantized(test::SmallCnn(), test::SomeCalibration(4, 192, options));
  ASSERT_TRUE(made.diagnostics.ok());
  EXPECT_EQ(Count(made, Op::kQuantize) + Count(made, Op::kDequantize), 0u);
  test::PlanRunner runner(made.plan);
  EXPECT_EQ(runner.net().input(0).type, DataType::kInt8);
  EXPECT_EQ(runner.net().input(0).name, "x");
  EXPECT_EQ(runner.net().output(0).type, DataType::kInt8);
  EXPECT_EQ(runner.net().output(0).name, "y");
}

TEST(Quantizer, SameSamplesGiveTheSamePlan) {
  EXPECT_EQ(test::Quantized(test::SmallCnn(), test::SomeCalibration(4, 192)).plan,
            test::Quantized(test::SmallCnn(), test::SomeCalibration(4, 192)).plan);
}

TEST(Quantizer, RefusesBadInput) {
  EXPECT_TRUE(HasError(test::Quantized(test::SmallCnn(), test::SomeCalibration(0, 192)), "no calibration samples"));
  Calibration infinite = test::SomeCalibration(1, 192);
  infinite.open = [](const ir::Graph&, Diagnostics&) {
    return quant::Samples{
        1, [](size_t) { return std::vector<ir::Bytes>{ir::ToBytes(std::vector<float>(192, std::nanf("")))}; }};
  };
  EXPECT_TRUE(HasError(test::Quantized(test::SmallCnn(), infinite), "NaN"));
  OnnxBuilder b = test::SmallCnn();
  std::vector<float> weights = test::Values(216, 1);
  weights[5] = std::numeric_limits<float>::infinity();
  b.model().mutable_graph()->mutable_initializer(0)->set_raw_data(weights.data(), weights.size() * sizeof(float));
  const Conversion made = test::Quantized(b, test::SomeCalibration(2, 192));
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
  ASSERT_TRUE(made.diagnostics.ok()) << test::Messages(made);
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
  ASSERT_TRUE(made.diagnostics.ok()) << test::Messages(made);
  EXPECT_TRUE(std::any_of(made.diagnostics.all().begin(), made.diagnostics.all().end(), [](const Diagnostic& d) {
    return d.message.find("stays float") != std::string::npos && d.message.find("input 0") != std::string::npos;
  }));
}

}  // namespace
}  // namespace takt
