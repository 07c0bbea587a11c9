// Damaged files give errors or graphs, never crashes.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "converter/backend/convert.h"
#include "converter/frontend/tflite_importer.h"
#include "tests/converter/model_files.h"

namespace takt {
namespace {

constexpr int kVariants = 1200;
constexpr int kConversions = 100;  ///< Of the variants that import, as many are converted.

/// Cuts the file, sets bytes or flips bits; half of the damage is in the last part, where most files have their tables.
std::vector<uint8_t> Damage(std::vector<uint8_t> bytes, int variant, std::mt19937& random) {
  if (variant % 3 == 0) {
    bytes.resize(random() % bytes.size());
    return bytes;
  }
  for (int n = 0; n < 1 + variant % 7; ++n) {
    const size_t range = random() % 2 ? bytes.size() : std::min<size_t>(30000, bytes.size());
    uint8_t& byte = bytes[bytes.size() - 1 - random() % range];
    byte = variant % 3 == 1 ? static_cast<uint8_t>(random()) : static_cast<uint8_t>(byte ^ (1u << random() % 8));
  }
  return bytes;
}

void ExpectNoCrash(const std::string& path) {
  const std::vector<uint8_t> model = test::ReadBytes(path);
  ASSERT_FALSE(model.empty()) << path;
  std::mt19937 random(1);
  int converted = 0;
  for (int i = 0; i < kVariants; ++i) {
    const std::vector<uint8_t> bytes = Damage(model, i, random);
    Diagnostics diagnostics;
    const auto graph = frontend::ImportTflite(bytes, "damaged", diagnostics);
    EXPECT_EQ(graph.has_value(), diagnostics.ok());
    if (!graph || converted == kConversions) continue;
    const Conversion made = ConvertTflite(bytes, "damaged", {});
    EXPECT_EQ(made.plan.empty(), !made.diagnostics.ok());
    for (const Diagnostic& d : made.diagnostics.all()) {
      EXPECT_EQ(d.message.find("internal error"), std::string::npos) << "variant " << i << ": " << d.ToString();
    }
    ++converted;
  }
}

TEST(TfliteCorruption, DamagedFashionNeverCrashes) {
  ExpectNoCrash(test::kFashion);
}

TEST(TfliteCorruption, DamagedPersonDetectNeverCrashes) {
  const std::string path = TAKT_SHARED_DIR "/models/person_detect.tflite";
  if (test::ReadBytes(path).empty()) GTEST_SKIP() << "no shared models at " TAKT_SHARED_DIR;
  ExpectNoCrash(path);
}

TEST(TfliteCorruption, NamesWhatIsMissing) {
  Diagnostics diagnostics;
  EXPECT_FALSE(frontend::ImportTflite(std::vector<uint8_t>(64), "zeros.tflite", diagnostics).has_value());
  ASSERT_EQ(diagnostics.all().size(), 1u);
  EXPECT_NE(diagnostics.all()[0].ToString().find("TFL3"), std::string::npos);
}

}  // namespace
}  // namespace takt
