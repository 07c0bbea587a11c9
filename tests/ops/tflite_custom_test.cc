// Custom operators of TFLite files: their options are read, and the results come out.
#include <flatbuffers/flexbuffers.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "converter/backend/convert.h"
#include "tests/converter/tflite_builder.h"
#include "tests/ops/plan_run.h"
#include "tests/support/messages.h"

namespace takt::test {
namespace {

using Type = tflite::TensorType;
using Bytes = std::vector<uint8_t>;
using test::Messages;

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

// Crops around landmarks, as in MediaPipe's attention meshes.

using Matrix = std::vector<double>;  // 3 x 3

Matrix Product(const Matrix& a, const Matrix& b) {
  Matrix y(9);
  for (size_t i = 0; i < 9; ++i)
    for (size_t k = 0; k < 3; ++k) y[i] += a[i / 3 * 3 + k] * b[3 * k + i % 3];
  return y;
}
Matrix Rotation(double r) {
  return {std::cos(r), -std::sin(r), 0, std::sin(r), std::cos(r), 0, 0, 0, 1};
}
Matrix Shift(double x, double y) {
  return {1, 0, x, 0, 1, y, 0, 0, 1};
}

TfliteOperator Version2(TfliteOperator op) {
  op.version = 2;
  return op;
}

Bytes CropOptions(const std::vector<int>& subset, double rotation) {
  flexbuffers::Builder fbb;
  fbb.Map([&] {
    fbb.TypedVector("subset_idxs", [&] {
      for (const int i : subset) fbb.Int(i);
    });
    fbb.Int("left_rotation_idx", 1);
    fbb.Int("right_rotation_idx", 3);
    fbb.Float("target_rotation_radians", static_cast<float>(rotation));
    fbb.Int("output_width", 8);
    fbb.Int("output_height", 4);
    fbb.Float("scale_x", 1.5f);
    fbb.Float("scale_y", 1.25f);
  });
  fbb.Finish();
  return fbb.GetBuffer();
}

const std::vector<double> kPoints = {0.5, 7, 99, 3, 1, 0, 4, 2, -5, 2.5, -1, 8, 9, 9, 9};

TfliteModel Crop(const Bytes& options) {
  TfliteModel model;
  model.tensors = {Float("landmarks", {1, 5, 3}), Float("matrix", {1, 4, 4})};
  model.operators = {Version2(Custom("Landmarks2TransformMatrix", {0}, {1}, options))};
  model.inputs = {0};
  model.outputs = {1};
  return model;
}

/// The box around the turned landmarks, as a product of matrices.
Matrix CropMatrix(const std::vector<int>& subset, double target) {
  const double r = target - std::atan2(kPoints[10] - kPoints[4], kPoints[9] - kPoints[3]);
  double low[2] = {1e9, 1e9}, high[2] = {-1e9, -1e9};
  for (const int i : subset) {
    const Matrix at =
        Product(Rotation(r), Shift(kPoints[static_cast<size_t>(3 * i)], kPoints[static_cast<size_t>(3 * i + 1)]));
    for (size_t d = 0; d < 2; ++d) {
      low[d] = std::min(low[d], at[3 * d + 2]);
      high[d] = std::max(high[d], at[3 * d + 2]);
    }
  }
  const Matrix middle = Product(Rotation(-r), Shift((low[0] + high[0]) / 2, (low[1] + high[1]) / 2));
  const Matrix scale = {1.5 * (high[0] - low[0]) / 8, 0, 0, 0, 1.25 * (high[1] - low[1]) / 4, 0, 0, 0, 1};
  return Product(Product(Product(Shift(middle[2], middle[5]), Rotation(-r)), scale), Shift(-4, -2));
}

TEST(TfliteCustom, CropsAroundLandmarks) {
  for (const double rotation : {0.0, 0.5, -2.0}) {
    for (const std::vector<int>& subset : {std::vector<int>{0, 1, 2}, std::vector<int>{3, 0, 2, 1, 1}}) {
      const auto outputs = RunModel(Crop(CropOptions(subset, rotation)), {kPoints});
      ASSERT_EQ(outputs.size(), 1u);
      const Matrix m = CropMatrix(subset, rotation);
      const std::vector<double> expected = {m[0], m[1], 0, m[2], m[3], m[4], 0, m[5], 0, 0, 1, 0, 0, 0, 0, 1};
      for (size_t i = 0; i < 16; ++i) EXPECT_NEAR(outputs[0][i], expected[i], 1e-5) << i;
    }
  }
}

TEST(TfliteCustom, OptionsOfCropsAreChecked) {
  ExpectRefused(Crop(CropOptions({0, 5}, 0)), "option 'subset_idxs' is missing or no list of integers from 0 to 4");
  ExpectRefused(Crop(CropOptions({}, 0)), "names no landmark");
  TfliteModel model = Crop(CropOptions({0, 1}, 0));
  model.operators[0].version = 1;
  ExpectRefused(model, "m:0(Landmarks2TransformMatrix): error: has version 1; version 2 is supported");
  for (size_t size = 0; size < CropOptions({0, 1}, 0).size(); ++size) {  // Cut options never crash.
    model = Crop(CropOptions({0, 1}, 0));
    model.operators[0].custom_options.resize(size);
    EXPECT_TRUE(ConvertTflite(WriteTflite(model), "m", {}).plan.empty());
  }
}

TEST(TfliteCustom, LandmarksGoThroughAMatrix) {
  const std::vector<double> matrix = {2, -1, 7, 3, 0.5, 4, 7, -2, 9, 9, 9, 9, 9, 9, 9, 9};
  for (const int32_t depth : {2, 3}) {
    TfliteModel model;
    model.tensors = {Float("x", {1, 3, depth}), Float("m", {1, 4, 4}), Float("y", {1, 3, depth})};
    model.operators = {Version2(Custom("TransformLandmarks", {0, 1}, {2}, {}))};
    model.inputs = {0, 1};
    model.outputs = {2};
    std::vector<double> x, expected;
    for (int i = 0; i < 3; ++i) {
      const double a = i + 1, b = 5 - 2 * i;
      x.insert(x.end(), {a, b}), expected.insert(expected.end(), {2 * a - b + 3, 0.5 * a + 4 * b - 2});
      if (depth == 3) x.push_back(i), expected.push_back(i);
    }
    const auto outputs = RunModel(model, {x, matrix});
    ASSERT_EQ(outputs.size(), 1u);
    EXPECT_EQ(outputs[0], expected);
    model.tensors[1].shape = {1, 4, 3};
    ExpectRefused(model, "has a matrix of shape [1, 4, 3]; it must be [1, 4, 4]");
  }
}

TEST(TfliteCustom, TensorsAreSampledThroughAMatrix) {
  constexpr int kIn = 5, kOut = 6, kDepth = 2;
  flexbuffers::Builder fbb;
  fbb.Map([&] { fbb.Int("output_height", kOut), fbb.Int("output_width", kOut); });
  fbb.Finish();
  TfliteModel model;
  model.tensors = {Float("x", {1, kIn, kIn, kDepth}), Float("m", {1, 4, 4}), Float("y", {1, kOut, kOut, kDepth})};
  model.operators = {Version2(Custom("TransformTensorBilinear", {0, 1}, {2}, fbb.GetBuffer()))};
  model.inputs = {0, 1};
  model.outputs = {2};
  std::vector<double> x;
  for (int i = 0; i < kIn * kIn * kDepth; ++i) x.push_back(i * 37 % 23);
  // Turned, so that some pixels come from outside; and moved by whole pixels, so that some lie on the border.
  for (const std::vector<double>& m :
       {std::vector<double>{0.9, 0.4, 0, -0.7, -0.3, 0.8, 0, 1.1, 0, 0, 1, 0, 0, 0, 0, 1},
        std::vector<double>{1, 0, 0, -1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}}) {
    const auto outputs = RunModel(model, {x, m});
    ASSERT_EQ(outputs.size(), 1u);
    for (int i = 0; i < kOut * kOut; ++i) {
      const double ox = i % kOut + 0.5, oy = i / kOut + 0.5;
      const double sx = m[0] * ox + m[1] * oy + m[3] - 0.5, sy = m[4] * ox + m[5] * oy + m[7] - 0.5;
      const bool inside = sx >= 0 && sx <= kIn - 1 && sy >= 0 && sy <= kIn - 1;
      for (int c = 0; c < kDepth; ++c) {
        double sum = 0;
        for (int k = 0; inside && k < kIn * kIn; ++k)
          sum += std::max(0.0, 1 - std::fabs(sx - k % kIn)) * std::max(0.0, 1 - std::fabs(sy - k / kIn)) *
                 x[static_cast<size_t>(k * kDepth + c)];
        EXPECT_NEAR(outputs[0][static_cast<size_t>(i * kDepth + c)], sum, 1e-4) << i;
      }
    }
  }
}

}  // namespace
}  // namespace takt::test
