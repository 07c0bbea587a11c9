// Damaged files give errors or graphs, never crashes.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "converter/frontend/tflite_importer.h"
#include "converter/ir/verifier.h"

namespace takt {
namespace {

/// Another seed each time under tests/fuzz/fuzz.sh.
uint32_t Seed() {
  const char* seed = std::getenv("TAKT_SEED");
  return seed != nullptr ? static_cast<uint32_t>(std::strtoul(seed, nullptr, 10)) : 1;
}

std::vector<uint8_t> ReadModel() {
  const char* shared = std::getenv("TAKT_SHARED_DIR");
  if (shared == nullptr) return {};
  std::ifstream file(std::string(shared) + "/models/person_detect.tflite", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST(TfliteCorruption, IntactFileLoads) {
  const std::vector<uint8_t> model = ReadModel();
  if (model.empty()) GTEST_SKIP() << "set TAKT_SHARED_DIR to the folder that has models/person_detect.tflite";
  Diagnostics diagnostics;
  const auto graph = frontend::ImportTflite(model, "person_detect.tflite", diagnostics);
  for (const Diagnostic& d : diagnostics.all()) ADD_FAILURE() << d.ToString();
  ASSERT_TRUE(graph.has_value());
  ir::Verify(*graph, diagnostics);
  for (const Diagnostic& d : diagnostics.all()) ADD_FAILURE() << d.ToString();
}

TEST(TfliteCorruption, DamagedFilesNeverCrash) {
  const std::vector<uint8_t> model = ReadModel();
  if (model.empty()) GTEST_SKIP() << "set TAKT_SHARED_DIR to the folder that has models/person_detect.tflite";
  std::mt19937 random(Seed());
  for (int i = 0; i < 1200; ++i) {
    std::vector<uint8_t> bytes = model;
    if (i % 3 == 0) {
      bytes.resize(random() % bytes.size());
    } else {
      for (int n = 0; n < 1 + i % 7; ++n) {
        // Half of the damage in the last part of the file, where the tables are.
        const size_t range = random() % 2 ? bytes.size() : 30000;
        uint8_t& byte = bytes[bytes.size() - 1 - random() % range];
        byte = i % 3 == 1 ? static_cast<uint8_t>(random()) : static_cast<uint8_t>(byte ^ (1u << random() % 8));
      }
    }
    Diagnostics diagnostics;
    const auto graph = frontend::ImportTflite(bytes, "damaged", diagnostics);
    EXPECT_EQ(graph.has_value(), diagnostics.ok());
    if (graph) ir::Verify(*graph, diagnostics);
  }
}

TEST(TfliteCorruption, NamesWhatIsMissing) {
  Diagnostics diagnostics;
  EXPECT_FALSE(frontend::ImportTflite(std::vector<uint8_t>(64), "zeros.tflite", diagnostics).has_value());
  ASSERT_EQ(diagnostics.all().size(), 1u);
  EXPECT_NE(diagnostics.all()[0].ToString().find("TFL3"), std::string::npos);
}

}  // namespace
}  // namespace takt
