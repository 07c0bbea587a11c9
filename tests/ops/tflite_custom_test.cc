// Custom operators of TFLite files: their options are read, and the results come out.
#include <flatbuffers/flexbuffers.h>
#include <gtest/gtest.h>

#include <cstring>

#include "converter/backend/convert.h"
#include "tests/converter/tflite_builder.h"
#include "tests/ops/plan_run.h"

namespace takt::test {
namespace {

using Type = tflite::TensorType;
using Bytes = std::vector<uint8_t>;

TfliteTensor Float(const std::string& name, std::vector<int32_t> shape) {
  return {.name = name, .type = Type::FLOAT32, .shape = std::move(shape)};
}

TfliteOperator Custom(const std::string& name, std::vector<int32_t> inputs, std::vector<int32_t> outputs,
                      Bytes options) {
  return {.code = tflite::BuiltinOperator::CUSTOM,
          .inputs = std::move(inputs),
          .outputs = std::move(outputs),
          .custom = name,
          .custom_options = std::move(options)};
}

Bytes Int32s(const std::vector<int32_t>& values) {
  Bytes bytes(values.size() * sizeof(int32_t));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::string Messages(const Conversion& made) {
  std::string text;
  for (const Diagnostic& d : made.diagnostics.all()) text += d.ToString() + "\n";
  return text;
}

/// What outputs hold, given the inputs.
std::vector<std::vector<double>> RunModel(const TfliteModel& model, const std::vector<std::vector<double>>& inputs,
                                          DataType type = DataType::kFloat32) {
  const Conversion made = ConvertTflite(WriteTflite(model), "m", {});
  EXPECT_FALSE(made.plan.empty()) << Messages(made);
  if (made.plan.empty()) return {};
  std::vector<Bytes> packed;
  for (const auto& values : inputs) packed.push_back(Pack(type, values));
  std::vector<std::vector<double>> outputs;
  for (const Bytes& bytes : RunOnPorts(made.plan, packed)) outputs.push_back(Unpack(DataType::kFloat32, bytes));
  return outputs;
}

void ExpectRefused(const TfliteModel& model, const std::string& message) {
  const Conversion made = ConvertTflite(WriteTflite(model), "m", {});
  EXPECT_TRUE(made.plan.empty());
  EXPECT_NE(Messages(made).find(message), std::string::npos) << Messages(made);
}

// Padding (1: same, 2: valid), width and height of the stride, of the window, activation.
const Bytes kPool = Int32s({2, 2, 2, 2, 2, 0});

TfliteModel PoolAndBack() {
  TfliteModel model;
  model.tensors = {Float("x", {1, 2, 4, 1}), Float("maxima", {1, 1, 2, 1}), Float("places", {1, 1, 2, 1}),
                   Float("y", {1, 2, 4, 1})};
  model.operators = {Custom("MaxPoolingWithArgmax2D", {0}, {1, 2}, kPool),
                     Custom("MaxUnpooling2D", {1, 2}, {3}, kPool)};
  model.inputs = {0};
  model.outputs = {3, 2};
  return model;
}

TEST(TfliteCustom, MaximaReturnToTheirPlaces) {
  const auto outputs = RunModel(PoolAndBack(), {{1, 2, 9, 4, 5, 3, 7, 8}});
  ASSERT_EQ(outputs.size(), 2u);
  EXPECT_EQ(outputs[0], (std::vector<double>{0, 0, 9, 0, 5, 0, 0, 0}));
  EXPECT_NEAR(outputs[1][0], 2.1, 1e-6);
  EXPECT_NEAR(outputs[1][1], 0.1, 1e-6);
}

TEST(TfliteCustom, OptionsOfPoolsAreChecked) {
  TfliteModel model = PoolAndBack();
  model.operators[0].custom_options.resize(20);
  ExpectRefused(model, "m:0(MaxPoolingWithArgmax2D): error: has options of fewer than 24 bytes");
  model = PoolAndBack();
  model.operators[1].custom_options = Int32s({0, 2, 2, 2, 2, 0});
  ExpectRefused(model, "m:1(MaxUnpooling2D): error: has padding 0");
}

Bytes DetectionOptions(bool regular) {
  flexbuffers::Builder fbb;
  fbb.Map([&] {
    fbb.Int("max_detections", 3);
    fbb.Int("max_classes_per_detection", 1);
    fbb.Int("num_classes", 2);
    fbb.Bool("use_regular_nms", regular);
    fbb.Float("nms_score_threshold", 0.25f);
    fbb.Float("nms_iou_threshold", 0.5f);
    for (const char* scale : {"y_scale", "x_scale"}) fbb.Float(scale, 10);
    for (const char* scale : {"h_scale", "w_scale"}) fbb.Float(scale, 5);
  });
  fbb.Finish();
  return fbb.GetBuffer();
}

/// Three boxes, the second on the first.
TfliteModel Detector(bool regular, Type type) {
  TfliteModel model;
  model.tensors = {Float("boxes", {1, 3, 4}), Float("scores", {1, 3, 3}), Float("anchors", {3, 4}),
                   Float("out", {1, 3, 4}),   Float("classes", {1, 3}),   Float("best", {1, 3}),
                   Float("count", {1})};
  for (int i = 0; i < 3 && type != Type::FLOAT32; ++i) {
    TfliteTensor& t = model.tensors[static_cast<size_t>(i)];
    t.type = type;
    t.scales = {0.01f};
    t.zero_points = {0};
  }
  const std::vector<double> anchors = {0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.7, 0.7, 0.2, 0.2};
  std::vector<double> stored = anchors;
  for (double& v : stored) v *= type == Type::FLOAT32 ? 1 : 100;
  model.tensors[2].data = Pack(type == Type::FLOAT32 ? DataType::kFloat32 : DataType::kUint8, stored);
  model.operators = {Custom("TFLite_Detection_PostProcess", {0, 1, 2}, {3, 4, 5, 6}, DetectionOptions(regular))};
  model.inputs = {0, 1};
  model.outputs = {3, 4, 5, 6};
  return model;
}

TEST(TfliteCustom, DetectionsOfFloatAndUint8) {
  const std::vector<double> boxes(12, 0);
  std::vector<double> scores = {0, 0.9, 0.1, 0, 0.8, 0.2, 0, 0.1, 0.6};  // The background comes first.
  for (const bool regular : {false, true}) {
    for (const Type type : {Type::FLOAT32, Type::UINT8}) {
      std::vector<double> given = scores;
      for (double& v : given) v *= type == Type::FLOAT32 ? 1 : 100;
      const auto outputs = RunModel(Detector(regular, type), {boxes, given},
                                    type == Type::FLOAT32 ? DataType::kFloat32 : DataType::kUint8);
      ASSERT_EQ(outputs.size(), 4u);
      EXPECT_EQ(outputs[3][0], 2);
      EXPECT_EQ(outputs[1], (std::vector<double>{0, 1, 0}));
      EXPECT_NEAR(outputs[2][0], 0.9, 1e-6);
      EXPECT_NEAR(outputs[2][1], 0.6, 1e-6);
      for (size_t i = 0; i < 8; ++i) EXPECT_NEAR(outputs[0][i], (i < 4 ? 0.2 : 0.7) + (i % 4 < 2 ? -0.1 : 0.1), 1e-6);
      for (size_t i = 8; i < 12; ++i) EXPECT_EQ(outputs[0][i], 0);
    }
  }
}

TEST(TfliteCustom, OptionsOfDetectionsAreChecked) {
  TfliteModel model = Detector(false, Type::FLOAT32);
  model.operators[0].custom_options = {1, 2, 3};
  ExpectRefused(model, "m:0(TFLite_Detection_PostProcess): error: option 'y_scale' cannot be read");
  model = Detector(false, Type::FLOAT32);
  model.tensors[1].shape = {1, 3, 5};
  ExpectRefused(model, "scores of shape [1, 3, 5]");
  for (size_t size = 0; size < DetectionOptions(false).size(); ++size) {  // Cut options never crash.
    model = Detector(false, Type::FLOAT32);
    model.operators[0].custom_options.resize(size);
    EXPECT_TRUE(ConvertTflite(WriteTflite(model), "m", {}).plan.empty());
  }
}

}  // namespace
}  // namespace takt::test
