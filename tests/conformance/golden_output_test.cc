// Whole models with tflite numerics against the outputs of TensorFlow Lite Micro's reference kernels.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/conformance/golden_suite.h"
#include "tests/support/plan_runner.h"

namespace takt::test {
namespace {

class GoldenOutput : public GoldenSuite {};
TAKT_INSTANTIATE_GOLDEN_SUITE(GoldenOutput, FindGoldenModels());

void ExpectGolden(const GoldenModel& model, const Bytes& plan) {
  for (const GoldenCase& golden : model.cases) {
    PlanRunner runner(plan);
    const std::vector<Bytes> inputs = model.Inputs(golden);
    const std::vector<Bytes> want = model.Outputs(golden);
    ASSERT_FALSE(want.empty());
    for (size_t i = 0; i < want.size();) {
      for (const Bytes& got : runner.Run(inputs)) {
        const DataType type = runner.net().output(static_cast<uint32_t>(i % runner.plan().output_count())).type;
        ExpectWithin(type, got, want.at(i), ExactTolerance(type), golden.outputs[i]);
        ++i;
      }
    }
  }
}

TEST_P(GoldenOutput, EqualsInEveryCase) {
  const Conversion made = ConvertOrSkip({.numerics = Numerics::kTflite});
  if (IsSkipped()) return;
  ASSERT_FALSE(GetParam().cases.empty());
  ExpectGolden(GetParam(), made.plan);
  if (PlanRunner(made.plan).plan().state_count() == 0) return;
  ExpectGolden(GetParam(), ConvertOrSkip({.numerics = Numerics::kTflite, .state_in_place = true}).plan);
}

TEST(RequiredModels, AreAmongTheGoldensAndConvertToTheSameBytesTwice) {
  const std::vector<GoldenModel> models = FindGoldenModels();
  if (models.empty()) GTEST_SKIP() << "no goldens in " << SharedDir() << "; set TAKT_SHARED_DIR";
  for (const char* name :
       {"kws_ref_model", "vww_96_int8", "pretrainedResnet_quant", "pretrainedResnet", "model_ToyCar",
        "model_ToyCar_quant_fullint", "model_ToyCar_quant_fullint_micro_intio", "person_detect", "hello_world_int8",
        "hello_world_float", "simple_add_model", "mobilenet_v2_quantized_1x3x224x224", "keyword_scrambled",
        "trained_lstm", "trained_lstm_int8"}) {
    const auto model = std::find_if(models.begin(), models.end(), [&](const GoldenModel& m) { return m.name == name; });
    ASSERT_NE(model, models.end()) << name << " has no golden";
    for (const Numerics numerics : {Numerics::kTflite, Numerics::kFp32Rne}) {
      const Bytes file = ReadFile(model->file);
      const Conversion made = ConvertTflite(file, name, {.numerics = numerics});
      EXPECT_EQ(Refusal(made), "") << name;
      EXPECT_EQ(made.plan, ConvertTflite(file, name, {.numerics = numerics}).plan) << name;
    }
  }
}

}  // namespace
}  // namespace takt::test
