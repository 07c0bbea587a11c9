#include "tests/conformance/golden_suite.h"

#include <cctype>

namespace takt::test {

std::string Refusal(const Conversion& conversion) {
  std::string text;
  for (const Diagnostic& diagnostic : conversion.diagnostics.all()) {
    if (diagnostic.severity == Severity::kError) text += "\n" + diagnostic.ToString();
  }
  return text;
}

Deviation ExpectWithin(DataType type, const Bytes& got, const Bytes& want, double tolerance, const std::string& what) {
  const Deviation deviation = Compare(type, got, want);
  EXPECT_LE(deviation.worst, tolerance) << what << ": " << deviation.differing << " of " << deviation.count
                                        << " elements differ, most at " << deviation.worst_index;
  return deviation;
}

Conversion GoldenSuite::ConvertOrSkip(const ConvertOptions& options) {
  Conversion made = ConvertTflite(ReadFile(GetParam().file), GetParam().name, options);
  [&] {
    if (const std::string refusal = Refusal(made); !refusal.empty()) GTEST_SKIP() << "refused:" << refusal;
  }();
  return made;
}

std::string GoldenName(const testing::TestParamInfo<GoldenModel>& info) {
  std::string name = info.param.name;
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
}

}  // namespace takt::test
