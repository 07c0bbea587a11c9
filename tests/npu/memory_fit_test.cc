// Activations fit a feature memory that is too small for all of them: by cascades, by tensors in another memory, or an
// error says how much is missing.
#include <gtest/gtest.h>

#include <cstring>

#include "converter/backend/convert.h"
#include "converter/npu/machine_json.h"
#include "converter/npu/step_profile.h"
#include "engine/plan/plan.h"
#include "tests/converter/model_files.h"

namespace takt::npu {
namespace {

/// What a conversion made of a feature memory of so many bytes.
struct Fit {
  bool ok = false;
  uint32_t arenas[2] = {};  ///< Bytes of activations by memory.
  uint64_t cycles = 0;
  bool cascades = false;
  std::string said;
};

Fit Convert(const std::string& model, const std::string& preset, const std::vector<std::string>& overrides) {
  Diagnostics diagnostics;
  ConvertOptions options;
  options.machine = ParseMachine(*PresetJson(preset), preset, overrides, diagnostics).value().table;
  const Conversion made = ConvertTflite(test::ReadBytes(model), model, options);
  Fit fit;
  fit.ok = made.diagnostics.ok();
  for (const Diagnostic& d : made.diagnostics.all()) {
    if (d.message.find("bytes are missing") != std::string::npos) fit.said = d.message;
    EXPECT_EQ(d.message.find("internal"), std::string::npos) << d.ToString();
  }
  if (!fit.ok) return fit;
  std::vector<uint64_t> aligned((made.plan.size() + 7) / 8);
  std::memcpy(aligned.data(), made.plan.data(), made.plan.size());
  Plan plan;
  EXPECT_TRUE(plan.Open({reinterpret_cast<const std::byte*>(aligned.data()), made.plan.size()}).ok());
  for (uint32_t i = 0; i < plan.arena_count(); ++i) {
    if (plan.arena(i).kind == ArenaKind::kActivation) fit.arenas[plan.arena(i).memory] = plan.arena(i).bytes;
  }
  fit.cycles = TotalCycles(made.npu);
  for (const CompiledJob& job : made.npu.jobs) {
    for (const CompiledLayer& layer : job.layers) fit.cascades = fit.cascades || layer.cascade >= 0;
  }
  return fit;
}

std::vector<std::string> Models() {
  return test::ModelFiles({"kws_ref_model", "vww_96_int8", "pretrainedResnet_quant"});
}

TEST(MemoryFit, FitsOrSaysWhatIsMissing) {
  for (const std::string& model : Models()) {
    for (const char* preset : {"ethos-u55-128", "ethos-u65-256"}) {
      const Fit whole = Convert(model, preset, {});
      ASSERT_TRUE(whole.ok);
      EXPECT_EQ(whole.said, "");
      for (const uint32_t share : {90, 70, 50, 30, 10, 1}) {
        const uint32_t limit = whole.arenas[0] * share / 100;
        const Fit fit = Convert(model, preset, {"memories.sram.bytes=" + std::to_string(limit)});
        EXPECT_NE(fit.said, "") << model << " " << preset << " " << share;
        const bool all_spilled = fit.said.find("all lie") != std::string::npos;
        EXPECT_TRUE(!fit.ok || all_spilled || fit.arenas[0] <= limit) << model << " " << preset << ": " << fit.said;
        const bool spills = std::string(preset) == "ethos-u65-256";  // to a memory without limit
        EXPECT_TRUE(fit.ok || !spills) << fit.said;
      }
    }
  }
}

TEST(MemoryFit, CascadesMakeAModelFit) {
  const std::vector<std::string> models = Models();
  if (models.size() < 4) GTEST_SKIP() << "no shared models";
  const Fit whole = Convert(models[2], "ethos-u55-128", {});
  const Fit fit =
      Convert(models[2], "ethos-u55-128", {"memories.sram.bytes=" + std::to_string(whole.arenas[0] * 2 / 3)});
  EXPECT_TRUE(fit.ok) << fit.said;
  EXPECT_TRUE(fit.cascades);
}

TEST(MemoryFit, TensorsSpillOneByOne) {
  const std::vector<std::string> models = Models();
  if (models.size() < 4) GTEST_SKIP() << "no shared models";
  const Fit whole = Convert(models[2], "ethos-u65-256", {});
  const Fit fit = Convert(models[2], "ethos-u65-256", {"memories.sram.bytes=20000"});
  EXPECT_TRUE(fit.ok);
  EXPECT_GT(fit.arenas[1], 0u);
  EXPECT_LE(fit.arenas[0], 20000u);
  const Fit none = Convert(models[2], "ethos-u65-256", {"memories.sram.bytes=16"});
  EXPECT_LT(whole.cycles, fit.cycles);
  EXPECT_LT(fit.cycles, none.cycles);
}

}  // namespace
}  // namespace takt::npu
