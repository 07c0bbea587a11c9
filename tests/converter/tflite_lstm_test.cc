// Integer LSTM operators of TFLite files with all their parts: what TFLite's arithmetic gives lies near what the
// default one does, which reads the same file as real values.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <string>

#include "converter/backend/convert.h"
#include "tests/converter/tflite_builder.h"
#include "tests/support/messages.h"
#include "tests/support/plan_runner.h"

namespace takt::test {
namespace {

using Type = tflite::TensorType;
using test::Messages;

constexpr int32_t kInputs = 5, kCells = 12, kSteps = 8;

struct Parts {
  bool coupled = false, peepholes = false, normalized = false, projected = false;
};

/// One operator in the making; absent inputs are -1.
class IntegerLstm {
 public:
  explicit IntegerLstm(const Parts& parts) : parts_(parts), outputs_(parts.projected && !parts.peepholes ? 4 : kCells) {
    Input("x", Type::INT8, {1, kSteps, kInputs}, 0.02f, 5);
    model_.inputs = {0};
    Gates({kCells, kInputs}, 0.006f);
    Gates({kCells, outputs_}, 0.005f);
    for (int g = 0; g < 3; ++g) Maybe(parts.peepholes && (g > 0 || !parts.coupled), Type::INT16, {kCells}, 3e-5f);
    for (int g = 0; g < 4; ++g)
      Maybe(g > 0 || !parts.coupled, Type::INT32, {kCells}, parts.normalized ? kFactor / 1024 : 0.00012f);
    Maybe(parts.projected, Type::INT8, {outputs_, kCells}, 0.004f);
    Maybe(false, Type::INT32, {}, 0);
    Input("h", Type::INT8, {1, outputs_}, 0.0078125f, 0);
    Input("c", Type::INT16, {1, kCells}, 0x1p-12f, 0);
    model_.tensors[model_.tensors.size() - 2].variable = model_.tensors.back().variable = true;
    for (int g = 0; g < 4; ++g) Maybe(parts.normalized && (g > 0 || !parts.coupled), Type::INT16, {kCells}, kFactor);
    for (const float scale : {0.0003f, 0.0004f, 0.0005f, 0.0006f, 0.0079f}) {
      op_.intermediates.push_back(static_cast<int32_t>(model_.tensors.size()));
      model_.tensors.push_back(
          {.name = "inside", .shape = {0}, .scales = {scale}, .zero_points = {scale > 0.001f ? 3 : 0}});
    }
    op_.outputs = {static_cast<int32_t>(model_.tensors.size())};
    model_.outputs = op_.outputs;
    model_.tensors.push_back({.name = "y", .shape = {1, kSteps, outputs_}, .scales = {0.0078125f}, .zero_points = {0}});
    op_.code = tflite::BuiltinOperator::UNIDIRECTIONAL_SEQUENCE_LSTM;
    op_.options_type = tflite::BuiltinOptions::UnidirectionalSequenceLSTMOptions;
    op_.options = [](auto& fbb) {
      return tflite::CreateUnidirectionalSequenceLSTMOptions(fbb, tflite::ActivationFunctionType::TANH).Union();
    };
    model_.operators = {op_};
  }

  TfliteModel& model() { return model_; }

 private:
  static constexpr float kFactor = 5e-5f;

  void Input(const char* name, Type type, std::vector<int32_t> shape, float scale, int64_t zero_point) {
    op_.inputs.push_back(static_cast<int32_t>(model_.tensors.size()));
    model_.tensors.push_back(
        {.name = name, .type = type, .shape = std::move(shape), .scales = {scale}, .zero_points = {zero_point}});
  }
  /// A constant of values drawn from the type's range; biases are at most 2^13.
  void Maybe(bool there, Type type, std::vector<int32_t> shape, float scale) {
    if (!there) return op_.inputs.push_back(-1);
    Input("constant", type, std::move(shape), scale, 0);
    TfliteTensor& t = model_.tensors.back();
    int count = 1;
    for (const int32_t d : t.shape) count *= d;
    for (int i = 0; i < count; ++i) {
      const int64_t bound = type == Type::INT8 ? 127 : type == Type::INT16 ? 32767 : parts_.normalized ? 1 << 23 : 8192;
      const auto value = static_cast<int32_t>(static_cast<int64_t>(random_() % (2 * bound + 1)) - bound);
      const auto* bytes = reinterpret_cast<const uint8_t*>(&value);
      t.data.insert(t.data.end(), bytes, bytes + (type == Type::INT8 ? 1 : type == Type::INT16 ? 2 : 4));
    }
  }
  void Gates(const std::vector<int32_t>& shape, float scale) {
    for (int g = 0; g < 4; ++g)
      Maybe(g > 0 || !parts_.coupled, Type::INT8, shape, scale * (1.0f + 0.1f * static_cast<float>(g)));
  }

  const Parts parts_;
  const int32_t outputs_;
  std::mt19937 random_{7};
  TfliteModel model_;
  TfliteOperator op_;
};

/// Outputs of three invocations, one behind another.
Bytes RunAs(const TfliteModel& model, Numerics numerics) {
  ConvertOptions options;
  options.numerics = numerics;
  const Conversion made = ConvertTflite(WriteTflite(model), "m", options);
  EXPECT_FALSE(made.plan.empty()) << Messages(made);
  if (made.plan.empty()) return {};
  PlanRunner runner(made.plan);
  std::mt19937 random(3);
  Bytes all;
  for (int i = 0; i < 3; ++i) {
    Bytes x(kSteps * kInputs);
    for (uint8_t& byte : x) byte = static_cast<uint8_t>(random());
    const Bytes y = runner.Run({x})[0];
    all.insert(all.end(), y.begin(), y.end());
  }
  return all;
}

TEST(TfliteLstm, PartsOfIntegersMeanTheSameInBothArithmetics) {
  for (int bits = 0; bits < 16; ++bits) {
    const Parts parts = {(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0, (bits & 8) != 0};
    SCOPED_TRACE("parts " + std::to_string(bits));
    IntegerLstm lstm(parts);
    const Bytes real = RunAs(lstm.model(), Numerics::kFp32Rne), tflite = RunAs(lstm.model(), Numerics::kTflite);
    ASSERT_EQ(real.size(), tflite.size());
    double error = 0, power = 0;
    for (size_t i = 0; i < real.size(); ++i) {
      const double a = static_cast<int8_t>(real[i]), b = static_cast<int8_t>(tflite[i]);
      error += (a - b) * (a - b), power += a * a;
    }
    EXPECT_GT(power / static_cast<double>(real.size()), 25) << "the outputs are small";
    EXPECT_LT(std::sqrt(error / power), 0.05);
  }
}

TEST(TfliteLstm, NamesWhatTflitesKernelLacks) {
  struct Wrong {
    void (*change)(TfliteModel& model);
    const char* message;
  };
  const Wrong wrong[] = {
      {[](TfliteModel& m) { m.operators[0].intermediates.clear(); }, "lacks the scales of its gates' sums"},
      {[](TfliteModel& m) {
         for (TfliteTensor& t : m.tensors)
           if (t.name == "c") t.scales = {0.0003f};
       },
       "has a cell state whose scale is a power of two"}};
  for (const Wrong& w : wrong) {
    IntegerLstm lstm({.normalized = true});
    w.change(lstm.model());
    ConvertOptions options;
    options.numerics = Numerics::kTflite;
    const Conversion made = ConvertTflite(WriteTflite(lstm.model()), "m", options);
    EXPECT_TRUE(made.plan.empty());
    EXPECT_NE(Messages(made).find(w.message), std::string::npos) << Messages(made);
  }
}

}  // namespace
}  // namespace takt::test
