// Every intermediate tensor with tflite numerics, byte for byte, against golden_layers.
#include <gtest/gtest.h>

#include <cstdio>
#include <set>

#include "tests/conformance/golden_suite.h"
#include "tests/support/plan_runner.h"

namespace takt::test {
namespace {

std::vector<GoldenModel> ModelsWithLayers() {
  std::vector<GoldenModel> models = FindGoldenModels();
  std::erase_if(models, [](const GoldenModel& model) { return model.Layers(model.cases.at(0)).empty(); });
  return models;
}

class GoldenLayer : public GoldenSuite {
 protected:
  /// Compares all that the plan of `options` computes; returns the golden tensors that it does not.
  std::set<int32_t> CompareLayers(ConvertOptions options);
  std::string TensorText(int32_t id) const { return "t" + std::to_string(id) + " (" + source_.tensor(id).name + ")"; }

  ir::Graph source_;  ///< As imported: tensor i is tensor i of the model.
};
TAKT_INSTANTIATE_GOLDEN_SUITE(GoldenLayer, ModelsWithLayers());

std::set<int32_t> GoldenLayer::CompareLayers(ConvertOptions options) {
  std::set<int32_t> absent;
  options.numerics = Numerics::kTflite;
  options.debug = true;
  options.on_stage = [&](const std::string& stage, const ir::Graph& graph) {
    if (stage == "import") source_ = graph;
  };
  const GoldenModel& model = GetParam();
  const Conversion made = ConvertOrSkip(options);
  if (IsSkipped()) return absent;
  for (const GoldenCase& golden : model.cases) {
    const std::map<int32_t, Bytes> layers = model.Layers(golden);
    if (layers.empty()) continue;
    const auto captured = PlanRunner(made.plan).RunAndCapture(model.Inputs(golden));
    for (const auto& [id, want] : layers) {
      const auto got = captured.find(id);
      if (got == captured.end()) {
        absent.insert(id);
        continue;
      }
      const DataType type = source_.tensor(id).type;
      ExpectWithin(type, got->second, want, ExactTolerance(type), "case " + golden.label + ", " + TensorText(id));
    }
  }
  return absent;
}

TEST_P(GoldenLayer, EqualsInEveryTensorThatIsKept) {
  for (const int32_t id : CompareLayers({.keep_tensors = true})) {
    EXPECT_TRUE(source_.tensor(id).is_constant()) << TensorText(id) << " has a golden and no step computes it";
  }
}

TEST_P(GoldenLayer, EqualsInEveryTensorThatThePassesLeave) {
  for (const int32_t id : CompareLayers({})) {
    EXPECT_FALSE(source_.IsOutput(id)) << TensorText(id);
    std::printf("eliminated: %s\n", TensorText(id).c_str());
  }
}

}  // namespace
}  // namespace takt::test
