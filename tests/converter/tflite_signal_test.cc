// Signal operators of TFLite Micro that become slices of a state and the input: files of one operator, run for several
// invocations.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "converter/backend/convert.h"
#include "flatbuffers/flexbuffers.h"
#include "tests/converter/tflite_builder.h"
#include "tests/support/messages.h"
#include "tests/support/plan_runner.h"

namespace takt::test {
namespace {

using Samples = std::vector<int16_t>;
using Fields = std::vector<std::pair<const char*, int64_t>>;
using test::Errors;

std::vector<uint8_t> Flex(const Fields& fields) {
  flexbuffers::Builder builder;
  builder.Map([&] {
    for (const auto& [key, value] : fields) builder.Int(key, value);
  });
  builder.Finish();
  return builder.GetBuffer();
}

TfliteTensor Tensor(const char* name, tflite::TensorType type, std::vector<int32_t> shape) {
  TfliteTensor t;
  t.name = name;
  t.type = type;
  t.shape = std::move(shape);
  return t;
}

/// x -> operator -> y, and a flag if `flagged`.
TfliteModel ModelOf(const char* name, std::vector<uint8_t> options, std::vector<int32_t> x, std::vector<int32_t> y,
                    bool flagged) {
  TfliteModel model;
  model.tensors = {Tensor("x", tflite::TensorType::INT16, std::move(x)),
                   Tensor("y", tflite::TensorType::INT16, std::move(y))};
  TfliteOperator op;
  op.inputs = {0};
  op.outputs = {1};
  op.custom = name;
  op.custom_options = std::move(options);
  if (flagged) {
    model.tensors.push_back(Tensor("valid", tflite::TensorType::BOOL, {}));
    op.outputs.push_back(2);
  }
  model.operators = {op};
  model.inputs = {0};
  model.outputs = op.outputs;
  return model;
}

/// An operator that is fed with 1, 2, 3, .. over several invocations.
class Counting {
 public:
  explicit Counting(const TfliteModel& model) : made_(ConvertTflite(WriteTflite(model), "m", {})) {
    EXPECT_EQ(Errors(made_), "");
    if (!made_.plan.empty()) runner_.emplace(made_.plan);
  }

  Samples Next(bool* valid = nullptr) {
    if (!runner_) return {};
    Samples x(runner_->net().input(0).bytes.size() / sizeof(int16_t));
    for (int16_t& v : x) v = static_cast<int16_t>(++count_);
    Bytes bytes(x.size() * sizeof(int16_t));
    std::memcpy(bytes.data(), x.data(), bytes.size());
    const std::vector<Bytes> outputs = runner_->Run({bytes});
    if (valid != nullptr) *valid = outputs.at(1).at(0) != 0;
    Samples y(outputs[0].size() / sizeof(int16_t));
    std::memcpy(y.data(), outputs[0].data(), outputs[0].size());
    return y;
  }
  void Reset() {
    EXPECT_TRUE(runner_->net().ResetState().ok());
    count_ = 0;
  }

 private:
  Conversion made_;
  std::optional<PlanRunner> runner_;
  int count_ = 0;
};

TEST(SignalDelay, GivesTheInputOfBefore) {
  Counting delay(ModelOf("SignalDelay", Flex({{"delay_length", 3}}), {2, 4}, {2, 4}, false));
  EXPECT_EQ(delay.Next(), (Samples{0, 0, 0, 1, 0, 0, 0, 5}));
  EXPECT_EQ(delay.Next(), (Samples{2, 3, 4, 9, 6, 7, 8, 13}));
  delay.Reset();
  EXPECT_EQ(delay.Next(), (Samples{0, 0, 0, 1, 0, 0, 0, 5}));
}

TEST(SignalDelay, OfMoreThanAFrame) {
  Counting delay(ModelOf("SignalDelay", Flex({{"delay_length", 5}}), {2}, {2}, false));
  for (const Samples& want : {Samples{0, 0}, Samples{0, 0}, Samples{0, 1}, Samples{2, 3}})
    EXPECT_EQ(delay.Next(), want);
}

TEST(SignalDelay, OfNothingIsTheInput) {
  Counting delay(ModelOf("SignalDelay", Flex({{"delay_length", 0}}), {2}, {2}, false));
  EXPECT_EQ(delay.Next(), (Samples{1, 2}));
}

TEST(SignalFramer, IsValidFromTheFirstWholeFrame) {
  Counting framer(
      ModelOf("SignalFramer", Flex({{"frame_size", 5}, {"frame_step", 2}, {"prefill", 0}}), {4}, {2, 5}, true));
  bool valid = true;
  framer.Next(&valid);
  EXPECT_FALSE(valid);
  EXPECT_EQ(framer.Next(&valid), (Samples{1, 2, 3, 4, 5, 3, 4, 5, 6, 7}));
  EXPECT_TRUE(valid);
  EXPECT_EQ(framer.Next(&valid), (Samples{5, 6, 7, 8, 9, 7, 8, 9, 10, 11}));
  EXPECT_TRUE(valid);
}

TEST(SignalFramer, StartsWithZerosWherePrefilled) {
  Counting framer(
      ModelOf("SignalFramer", Flex({{"frame_size", 5}, {"frame_step", 2}, {"prefill", 1}}), {4}, {2, 5}, true));
  bool valid = false;
  EXPECT_EQ(framer.Next(&valid), (Samples{0, 0, 0, 1, 2, 0, 1, 2, 3, 4}));
  EXPECT_TRUE(valid);
  EXPECT_EQ(framer.Next(&valid), (Samples{2, 3, 4, 5, 6, 4, 5, 6, 7, 8}));
}

TEST(SignalStacker, RepeatsTheFirstFrameToItsLeft) {
  const Fields fields = {
      {"num_channels", 2}, {"stacker_left_context", 1}, {"stacker_right_context", 1}, {"stacker_step", 2}};
  Counting stacker(ModelOf("SignalStacker", Flex(fields), {2}, {6}, true));
  bool valid = true;
  stacker.Next(&valid);
  EXPECT_FALSE(valid);
  EXPECT_EQ(stacker.Next(&valid), (Samples{1, 2, 1, 2, 3, 4}));
  EXPECT_TRUE(valid);
  stacker.Next(&valid);
  EXPECT_FALSE(valid);
  EXPECT_EQ(stacker.Next(&valid), (Samples{3, 4, 5, 6, 7, 8}));
  EXPECT_TRUE(valid);
  stacker.Next(&valid);
  EXPECT_FALSE(valid);
}

TEST(SignalStacker, OfOneFrameIsTheInput) {
  const Fields fields = {
      {"num_channels", 2}, {"stacker_left_context", 0}, {"stacker_right_context", 0}, {"stacker_step", 1}};
  Counting stacker(ModelOf("SignalStacker", Flex(fields), {2}, {2}, true));
  bool valid = false;
  for (const Samples& want : {Samples{1, 2}, Samples{3, 4}, Samples{5, 6}}) {
    EXPECT_EQ(stacker.Next(&valid), want);
    EXPECT_TRUE(valid);
  }
}

TEST(SignalStacker, FillsAnOutputOfItsSize) {
  const Fields fields = {
      {"num_channels", 2}, {"stacker_left_context", 1}, {"stacker_right_context", 1}, {"stacker_step", 2}};
  const std::vector<uint8_t> model = WriteTflite(ModelOf("SignalStacker", Flex(fields), {2}, {}, true));
  EXPECT_NE(Errors(ConvertTflite(model, "m", {})).find("gives an output of shape [6]"), std::string::npos);
}

std::string ErrorsOf(std::vector<uint8_t> options) {
  return Errors(ConvertTflite(WriteTflite(ModelOf("SignalDelay", std::move(options), {4}, {4}, false)), "m", {}));
}

TEST(CustomOptions, NamesTheOptionThatIsWrong) {
  EXPECT_NE(ErrorsOf({}).find("option 'delay_length' cannot be read"), std::string::npos);
  EXPECT_NE(ErrorsOf(Flex({{"delay", 3}})).find("option 'delay_length' is missing"), std::string::npos);
  EXPECT_NE(ErrorsOf(Flex({{"delay_length", -1}})).find("option 'delay_length' is -1; allowed are 0"),
            std::string::npos);
}

TEST(CustomOptions, DamagedInAnyByteAreErrorsOrValues) {
  const std::vector<uint8_t> good = Flex({{"delay_length", 3}, {"other", 70000}});
  for (size_t i = 0; i < good.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::vector<uint8_t> bad = good;
      bad[i] = static_cast<uint8_t>(bad[i] ^ 1 << bit);
      ErrorsOf(bad);
      bad.resize(i);
      ErrorsOf(bad);
    }
  }
}

}  // namespace
}  // namespace takt::test
