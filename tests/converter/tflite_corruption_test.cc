// Damaged files give errors or graphs, never crashes.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "converter/backend/convert.h"
#include "converter/frontend/tflite_importer.h"
#include "schema/tflite_generated.h"
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

/// Changes what tables of the file hold, which stay well formed: ids of operators, dims, types of quantization.
void Scramble(std::vector<uint8_t>& bytes, std::mt19937& random) {
  tflite::Model& model = *tflite::GetMutableModel(bytes.data());
  const auto& graph = *model.subgraphs()->Get(0);
  const auto any = [&random](const auto& list) { return static_cast<uint32_t>(random() % list.size()); };
  const auto change = [&](const auto* list, auto value) {
    using List = std::remove_const_t<std::remove_pointer_t<decltype(list)>>;
    if (list == nullptr || list->size() == 0) return;
    using Value = typename List::return_type;
    const_cast<List*>(list)->Mutate(any(*list), static_cast<Value>(value));
  };
  const tflite::Operator& op = *graph.operators()->Get(any(*graph.operators()));
  const tflite::Tensor& tensor = *graph.tensors()->Get(any(*graph.tensors()));
  const auto* quantization = tensor.quantization();
  switch (random() % 6) {
    case 0:
      return change(op.inputs(), any(*graph.tensors()));
    case 1:
      return change(op.outputs(), any(*graph.tensors()));
    case 2:
      return change(tensor.shape(), static_cast<int>(random() % 12) - 2);
    case 3:
      return quantization != nullptr ? change(quantization->scale(), random() % 3 == 0 ? 0.0f : 1e-9f) : void();
    case 4:
      return quantization != nullptr ? change(quantization->zero_point(), static_cast<int>(random() % 600) - 300)
                                     : void();
    default:
      return change(random() % 2 != 0 ? graph.inputs() : graph.outputs(), any(*graph.tensors()));
  }
}

/// Each error names a node or a tensor.
void ExpectClearErrors(const std::string& path) {
  const std::vector<uint8_t> model = test::ReadBytes(path);
  ASSERT_FALSE(model.empty()) << path;
  std::mt19937 random(2);
  int refused = 0;
  for (int i = 0; i < 150; ++i) {
    std::vector<uint8_t> bytes = model;
    for (int n = i % 3; n >= 0; --n) Scramble(bytes, random);
    const Conversion made = ConvertTflite(bytes, "damaged", {});
    EXPECT_EQ(made.plan.empty(), !made.diagnostics.ok());
    refused += made.plan.empty();
    for (const Diagnostic& d : made.diagnostics.all()) {
      EXPECT_EQ(d.message.find("internal error"), std::string::npos) << "variant " << i << ": " << d.ToString();
      if (d.severity != Severity::kError || d.message.find("wait for each other") != std::string::npos) continue;
      EXPECT_TRUE(d.where.node >= 0 || !d.where.tensor.empty()) << "variant " << i << ": " << d.ToString();
    }
  }
  EXPECT_GT(refused, 50);
}

TEST(TfliteCorruption, ErrorsOfScrambledModelsAreClear) {
  ExpectClearErrors(test::kFashion);
  const std::string path = TAKT_SHARED_DIR "/models/person_detect.tflite";
  if (!test::ReadBytes(path).empty()) ExpectClearErrors(path);
}

TEST(TfliteCorruption, NamesWhatIsMissing) {
  Diagnostics diagnostics;
  EXPECT_FALSE(frontend::ImportTflite(std::vector<uint8_t>(64), "zeros.tflite", diagnostics).has_value());
  ASSERT_EQ(diagnostics.all().size(), 1u);
  EXPECT_NE(diagnostics.all()[0].ToString().find("TFL3"), std::string::npos);
}

}  // namespace
}  // namespace takt
