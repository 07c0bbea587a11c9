// What the quantizer does on request: equalization, pairs of weights, normalization inside the network.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "converter/ir/constants.h"
#include "converter/quant/equalization.h"
#include "converter/quant/evaluator.h"
#include "converter/quant/stored_weights.h"
#include "tests/converter/quant/quantize.h"

namespace takt {
namespace {

using test::OnnxBuilder;

/// Two 3x3 convolutions with relu between, whose channels differ by a factor each.
OnnxBuilder UnequalChannels(int octaves = 1) {
  OnnxBuilder b;
  b.Input("x", {1, 3, 8, 8});
  std::vector<float> first = test::Values(216, 1), second = test::Values(4 * 8 * 9, 2);
  for (size_t i = 0; i < first.size(); ++i) first[i] = std::ldexp(first[i], -octaves * static_cast<int>(i / 27));
  for (size_t i = 0; i < second.size(); ++i) second[i] = std::ldexp(second[i], octaves * static_cast<int>(i / 9 % 8));
  b.Constant("w1", {8, 3, 3, 3}, first);
  b.Constant("w2", {4, 8, 3, 3}, second);
  b.Node("Conv", {"x", "w1"}, "c1");
  b.Node("Relu", {"c1"}, "r1");
  b.Node("Conv", {"r1", "w2"}, "y");
  b.Output("y", {1, 4, 4, 4});
  return b;
}

/// The graph that is quantized.
ir::Graph Prepared(const OnnxBuilder& b) {
  ir::Graph prepared;
  ConvertOptions options;
  options.on_stage = [&](const std::string& stage, const ir::Graph& graph) {
    if (stage == "quantization") prepared = graph;
  };
  EXPECT_TRUE(ConvertOnnx(b.Bytes(), "test.onnx", {}, options).diagnostics.ok());
  return prepared;
}

TEST(Equalization, ChangesNoResultAndNarrowsTheRanges) {
  const ir::Graph graph = Prepared(UnequalChannels());
  Diagnostics diagnostics;
  const quant::Samples samples = test::SomeSamples(4, 192);
  const auto observations = quant::Observations::Make(graph, samples, {}, diagnostics);
  ASSERT_TRUE(observations);
  ir::Graph equalized = graph;
  EXPECT_EQ(quant::Equalize(equalized, *observations), 1u);
  auto before = quant::Evaluator::Make(graph, diagnostics);
  auto after = quant::Evaluator::Make(equalized, diagnostics);
  ASSERT_TRUE(before && after);
  before->Run(samples.load(2));
  after->Run(samples.load(2));
  EXPECT_TRUE(std::ranges::equal(before->value(graph.outputs[0]), after->value(equalized.outputs[0])));
  const auto spread = [](const ir::Graph& g, const quant::Evaluator& evaluator) {
    std::vector<float> most(8);
    const auto conv = std::ranges::find(g.nodes, Op::kConv2d, &ir::Node::op);
    const std::span<const float> values = evaluator.floats(conv->outputs[0]);
    for (size_t i = 0; i < values.size(); ++i) most[i % 8] = std::max(most[i % 8], std::fabs(values[i]));
    return *std::ranges::max_element(most) / *std::ranges::min_element(most);
  };
  EXPECT_LT(spread(equalized, *after), spread(graph, *before) / 16);
}

TEST(Equalization, IsKeptOnlyWhereItGains) {
  quant::Options options;
  const Conversion plain = test::Quantized(UnequalChannels(), test::SomeCalibration(8, 192, options));
  options.equalize = true;
  const Conversion better = test::Quantized(UnequalChannels(), test::SomeCalibration(8, 192, options));
  ASSERT_TRUE(better.diagnostics.ok()) << test::Messages(better);
  EXPECT_NE(test::Messages(better).find("is kept"), std::string::npos) << test::Messages(better);
  EXPECT_GT(better.accuracy.tensors.back().sqnr_db, plain.accuracy.tensors.back().sqnr_db + 2);
  const Conversion nothing = test::Quantized(test::SmallCnn(), test::SomeCalibration(8, 192, options));
  EXPECT_NE(test::Messages(nothing).find("no pair of layers"), std::string::npos) << test::Messages(nothing);
}

/// Two convolutions of one input, the second `factor` times as large, side by side.
OnnxBuilder TwoHeads(float factor, bool read) {
  OnnxBuilder b;
  b.Input("x", {1, 3, 8, 8});
  std::vector<float> second = test::Values(27, 2);
  for (float& w : second) w *= factor;
  b.Constant("w1", {1, 3, 3, 3}, test::Values(27, 1));
  b.Constant("w2", {1, 3, 3, 3}, second);
  b.Constant("w3", {1, 2, 1, 1}, std::vector<float>{1, 0.5f});
  b.Node("Conv", {"x", "w1"}, "c1");
  b.Node("Conv", {"x", "w2"}, "c2");
  onnx::AttributeProto* axis = b.Node("Concat", {"c1", "c2"}, read ? "c" : "y").add_attribute();
  axis->set_name("axis");
  axis->set_type(onnx::AttributeProto::INT);
  axis->set_i(1);
  if (read) b.Node("Conv", {"c", "w3"}, "y");
  b.Output("y", {1, read ? 1 : 2, 6, 6});
  return b;
}

TEST(Heads, OfVeryDifferentRangeKeepTheirScales) {
  const auto separated = [](float factor, bool read, DataType io) {
    quant::Options options;
    options.io = io;
    const Conversion made = test::Quantized(TwoHeads(factor, read), test::SomeCalibration(8, 192, options));
    EXPECT_TRUE(made.diagnostics.ok()) << test::Messages(made);
    return test::Messages(made).find("a scale of its own") != std::string::npos;
  };
  EXPECT_TRUE(separated(100, false, DataType::kFloat32));
  EXPECT_FALSE(separated(1, false, DataType::kFloat32));
  EXPECT_FALSE(separated(100, true, DataType::kFloat32));
  EXPECT_FALSE(separated(100, false, DataType::kInt8));
  // The small head is as good as the large one.
  const std::vector<test::Bytes> input = {ir::ToBytes(test::Values(192, 102))};
  const Conversion real = ConvertOnnx(TwoHeads(100, false).Bytes(), "test.onnx", {}, {});
  const Conversion made = test::Quantized(TwoHeads(100, false), test::SomeCalibration(8, 192));
  std::vector<float> want = test::Floats(test::PlanRunner(real.plan).Run(input)[0]);
  std::vector<float> got = test::Floats(test::PlanRunner(made.plan).Run(input)[0]);
  want.resize(36), got.resize(36);
  EXPECT_GT(test::SqnrDb(want, got), 30);
}

TEST(StoredWeights, PairsAreWithinTheirBound) {
  ir::Graph graph;
  const std::vector<float> values = test::Values(6 * 35, 9);
  ir::Node node;
  node.op = Op::kFullyConnected;
  node.inputs = {0, graph.AddConstant("w", DataType::kFloat32, {6, 35}, ir::ToBytes(values))};
  const quant::WeightChannels channel(graph, node);
  const quant::StoredWeights free = quant::StoreWeights(values, channel, false);
  const quant::StoredWeights bound = quant::StoreWeights(values, channel, true);
  size_t beyond = 0;
  for (size_t row = 0; row < values.size(); row += 35) {
    for (size_t i = row; i + 1 < row + 35; i += 2) {
      const auto within = [&](const quant::StoredWeights& w) {
        const int a = w.levels[i], b = w.levels[i + 1];
        return std::max(a, 0) + std::max(b, 0) <= 128 && std::min(a, 0) + std::min(b, 0) >= -128;
      };
      beyond += !within(free);
      EXPECT_TRUE(within(bound)) << i;
    }
    const float scale = bound.quantization.scales[row / 35];
    EXPECT_LE(scale, 2 * free.quantization.scales[row / 35]);
    for (size_t i = row; i < row + 35; ++i) {  // A level of rounding at most, and one for the pair.
      EXPECT_NEAR(values[i], bound.levels[i] * scale, 1.51f * scale);
    }
  }
  EXPECT_GT(beyond, 0u);
}

TEST(StoredWeights, TheCostOfPairsIsNamed) {
  quant::Options options;
  options.pair_weights = true;
  const Conversion made = test::Quantized(test::SmallCnn(), test::SomeCalibration(8, 192, options));
  ASSERT_TRUE(made.diagnostics.ok()) << test::Messages(made);
  EXPECT_NE(test::Messages(made).find("constraint of pairs"), std::string::npos);
}

/// Pixels in [0, 1], each as exact as a byte.
quant::Samples Pixels(size_t count) {
  return {count, [](size_t i) {
            std::vector<float> pixels = test::Values(192, static_cast<uint32_t>(50 + i));
            for (float& v : pixels) v = std::nearbyint((v + 1) * 127.5f) / 255;
            return std::vector<ir::Bytes>{ir::ToBytes(pixels)};
          }};
}

class NormalizationTest : public testing::TestWithParam<bool> {};

/// (v - mean) / std in a float model, and v in a quantized one that normalizes.
TEST_P(NormalizationTest, IsThatOfTheFloatModel) {
  const bool padded = GetParam();
  const OnnxBuilder b = padded ? test::SmallCnn() : UnequalChannels(0);
  quant::Options options;
  options.normalization = quant::Normalization{{0.5, 0.4, 0.6}, {0.25, 0.2, 0.3}};
  options.precision = quant::Precision::kInt16;
  Calibration calibration{[](const ir::Graph&, Diagnostics&) { return Pixels(8); }, options};
  const Conversion made = test::Quantized(b, calibration);
  ASSERT_TRUE(made.diagnostics.ok()) << test::Messages(made);
  // Padding stands for the mean, which then can't join the bias.
  EXPECT_EQ(test::Messages(made).find("step of its own") != std::string::npos, padded) << test::Messages(made);
  std::vector<float> values = test::Floats(Pixels(1).load(0)[0]);
  const auto got = test::Floats(test::PlanRunner(made.plan).Run({ir::ToBytes(values)})[0]);
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t c = i / 64;
    values[i] = static_cast<float>((static_cast<double>(values[i]) - options.normalization->mean[c]) /
                                   options.normalization->std[c]);
  }
  const Conversion real = ConvertOnnx(b.Bytes(), "test.onnx", {}, {});
  const auto want = test::Floats(test::PlanRunner(real.plan).Run({ir::ToBytes(values)})[0]);
  EXPECT_GT(test::SqnrDb(want, got), 35);
}
INSTANTIATE_TEST_SUITE_P(Padding, NormalizationTest, testing::Bool());

TEST(Normalization, PixelsAreBytes) {
  quant::Options options;
  options.normalization = quant::Normalization{{0.5}, {0.25}};
  options.io = DataType::kInt8;
  const Conversion made =
      test::Quantized(test::SmallCnn(), {[](const ir::Graph&, Diagnostics&) { return Pixels(8); }, options});
  ASSERT_TRUE(made.diagnostics.ok()) << test::Messages(made);
  const TensorInfo input = test::PlanRunner(made.plan).net().input(0);
  EXPECT_EQ(input.type, DataType::kInt8);
  EXPECT_FLOAT_EQ(input.scale, 1.0f / 255);
  EXPECT_EQ(input.zero_point, -128);
}

TEST(Normalization, RefusesFiguresThatFitNoDimension) {
  quant::Options options;
  options.normalization = quant::Normalization{{0.5, 0.5}, {}};
  const Conversion made =
      test::Quantized(test::SmallCnn(), {[](const ir::Graph&, Diagnostics&) { return Pixels(2); }, options});
  EXPECT_FALSE(made.diagnostics.ok());
  EXPECT_NE(test::Messages(made).find("one a channel"), std::string::npos) << test::Messages(made);
}

}  // namespace
}  // namespace takt
