// One file with all kinds of bad input: every finding comes in one run, at its node and tensor, with rule and remedy.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "converter/backend/convert.h"
#include "tests/converter/tflite_builder.h"

namespace takt::test {
namespace {

using Code = tflite::BuiltinOperator;
using Type = tflite::TensorType;

TfliteTensor Int8(const std::string& name, std::vector<int32_t> shape = {1, 4}) {
  return {.name = name, .shape = std::move(shape), .data = {}, .scales = {0.5f}, .zero_points = {3}, .signature = {}};
}

template <typename T>
TfliteTensor Constant(const std::string& name, Type type, const std::vector<T>& values) {
  TfliteTensor t = {.name = name, .type = type, .shape = {static_cast<int32_t>(values.size())}};
  const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
  t.data.assign(bytes, bytes + values.size() * sizeof(T));
  return t;
}

/// A model in the making: operators that read its input or tensors of their own.
class BadModel {
 public:
  BadModel() {
    model_.tensors = {Int8("in")};
    model_.inputs = {0};
    model_.outputs = {0};
  }

  /// An operator on `inputs` (tensor 0 is the model's input) with an output; the index of the operator.
  size_t Add(Code code, std::vector<int32_t> inputs, TfliteTensor output) {
    model_.operators.push_back({code, std::move(inputs), {Tensor(std::move(output))}});
    return model_.operators.size() - 1;
  }
  int32_t Tensor(TfliteTensor t) {
    model_.tensors.push_back(std::move(t));
    return static_cast<int32_t>(model_.tensors.size() - 1);
  }
  /// An addition that reads tensor `name` after `damage`.
  void Damaged(const std::string& name, const std::function<void(TfliteTensor&)>& damage, const std::string& message) {
    TfliteTensor t = Int8(name);
    t.data = {1, 2, 3, 4};
    damage(t);
    const size_t op = Add(Code::ADD, {0, Tensor(std::move(t))}, Int8(name + "_out"));
    Expect(std::to_string(op) + "(ADD):" + name + ": error: " + message);
  }
  void Expect(std::string message) { expected_.push_back("bad:" + std::move(message)); }
  TfliteModel& model() { return model_; }

  void Run() {
    const Conversion made = ConvertTflite(WriteTflite(model_), "bad", {});
    EXPECT_TRUE(made.plan.empty());
    std::string messages;
    for (const Diagnostic& d : made.diagnostics.all()) messages += d.ToString() + "\n";
    for (const std::string& message : expected_)
      EXPECT_NE(messages.find(message), std::string::npos) << messages << "lacks " << message;
  }

 private:
  TfliteModel model_;
  std::vector<std::string> expected_;
};

TEST(TfliteBadInput, AllKindsAreFoundInOneRun) {
  BadModel bad;
  bad.Add(Code::LSH_PROJECTION, {0}, Int8("projected"));
  bad.Expect("0(LSH_PROJECTION): error: is not supported; the note at the end lists the operators that are");
  bad.Damaged(
      "text", [](auto& t) { t.type = Type::STRING; }, "has type STRING; supported are");
  bad.Damaged(
      "open",
      [](auto& t) {
        t.shape = {-1, 4}, t.data = {};
      },
      "has dimension -1; dimensions are not negative");
  bad.Damaged(
      "seven", [](auto& t) { t.shape = {1, 1, 1, 1, 1, 1, 4}; }, "has rank 7; allowed are up to 6");
  bad.Damaged(
      "short", [](auto& t) { t.data.pop_back(); }, "has 3 bytes of data; its shape needs 4");
  bad.Damaged(
      "lost", [](auto& t) { t.buffer = 99; }, "names buffer 99, which is missing; the file is damaged");
  bad.Damaged(
      "nobody", [](auto& t) { t.data = {}; }, "is read, but nothing writes it and it has no data");
  bad.Damaged(
      "zero", [](auto& t) { t.scales = {0}; }, "has scale 0; scales are finite and positive");
  bad.Damaged(
      "nan", [](auto& t) { t.scales = {NAN}; }, "has scale nan; scales are finite and positive");
  bad.Damaged(
      "far", [](auto& t) { t.zero_points = {128}; }, "has zero point 128, which its type does not hold");
  bad.Damaged(
      "pairs",
      [](auto& t) {
        t.scales = {1, 1, 1, 1}, t.zero_points = {0, 0}, t.axis = 1;
      },
      "has 4 scales and 2 zero points; they come in pairs");
  bad.Damaged(
      "channels",
      [](auto& t) {
        t.scales = {1, 1, 1}, t.axis = 1;
      },
      "has 3 scales along dimension 1, which has another size or does not exist");
  bad.Damaged(
      "axis",
      [](auto& t) {
        t.scales = {1, 1, 1, 1}, t.axis = 2;
      },
      "has 4 scales along dimension 2");
  const auto shape = bad.Add(Code::RELU, {0}, Int8("reshaped", {1, 5}));
  bad.Expect(std::to_string(shape) + "(RELU):reshaped: error: is int8[1,5]; clamp gives int8[1,4]");
  const auto axis = bad.Add(Code::ARG_MAX, {0, bad.Tensor(Constant<int32_t>("seventh", Type::INT32, {7}))},
                            {.name = "best", .type = Type::INT32, .shape = {1}});
  bad.Expect(std::to_string(axis) + "(ARG_MAX): error: has axis 7 of 2 dimensions; an axis names one of them");
  const int64_t huge = int64_t{1} << 40;
  const auto pads = bad.Add(Code::PAD, {0, bad.Tensor(Constant<int64_t>("pads", Type::INT64, {0, huge, 0, 0}))},
                            Int8("padded", {1, 4}));
  bad.model().tensors[static_cast<size_t>(bad.model().operators[pads].inputs[1])].shape = {2, 2};
  bad.Expect(std::to_string(pads) + "(PAD):pads: error: input 1 has value 1099511627776; allowed are those of int32");
  const auto absent = bad.Add(Code::ADD, {0, -1}, Int8("half"));
  bad.Expect(std::to_string(absent) + "(ADD): error: input 1 is absent; the operator needs it");
  const auto wrong = bad.Add(Code::ADD, {0, 999}, Int8("beyond"));
  bad.Expect(std::to_string(wrong) + "(ADD): error: reads tensor 999, which does not exist; the file is damaged");
  const int32_t back = bad.Tensor(Int8("back"));
  const auto first = bad.Add(Code::RELU, {back}, Int8("forth"));
  bad.model().operators.push_back({Code::RELU, bad.model().operators[first].outputs, {back}});
  const std::string cycle = std::to_string(first) + "(RELU), " + std::to_string(first + 1) + "(RELU)";
  bad.Expect(" error: has operators that wait for each other: " + cycle + "; a graph has no cycles");
  bad.Run();
}

TEST(TfliteBadInput, PadsBeyondEveryTensorAreRefused) {
  BadModel bad;
  const int32_t most = std::numeric_limits<int32_t>::max();
  const int32_t pads = bad.Tensor(Constant<int32_t>("pads", Type::INT32, {0, 0, most, most}));
  bad.model().tensors.back().shape = {2, 2};
  bad.Add(Code::PAD, {0, pads}, Int8("padded", {1, 2}));
  bad.Expect("0(PAD): error: pads make dimension 1 too large");
  bad.Run();
}

}  // namespace
}  // namespace takt::test
