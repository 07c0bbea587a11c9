// Prints the emulated NPU's cycles beside references, level by level. Exits with 1 if a limit is missed that should
// hold, or holds that is listed as missed.
#include <cstdio>
#include <cstring>
#include <exception>

#include "tests/npu/validation/residual.h"

namespace takt::npu::validation {
namespace {

void PrintRows(const Level& level) {
  for (const Row& row : level.rows) {
    std::printf("  %-64s %12.0f %12.0f  %+7.1f %%%s\n", row.name.c_str(), row.model, row.reference, 100 * row.Error(),
                row.counts ? "" : "  (not counted)");
  }
}

bool PrintGates(const Level& level) {
  bool expected = true;
  for (const Gate& gate : level.gates) {
    std::printf("  %-64s %.3g, limit %.3g: %s\n", gate.name.c_str(), gate.value, gate.limit,
                gate.value <= gate.limit ? "holds" : "MISSED");
    if (gate.misses != nullptr) std::printf("    listed as missed: %s\n", gate.misses);
    if (!gate.AsExpected()) std::printf("    UNEXPECTED: mend the model, or the list if it improved\n");
    expected = expected && gate.AsExpected();
  }
  return expected;
}

int Run(const std::filesystem::path& npu, bool summary) {
  bool expected = true;
  for (const Level& level : {SystolicLevel(npu), CubeLevel(), VelaBlockLevel(npu), VelaTileLevel(npu),
                             FastModelLevel(npu), LatencyLevel(npu), NvdlaLevel(), GemminiLevel()}) {
    std::printf("%s\n", level.title.c_str());
    if (!summary) PrintRows(level);
    expected = PrintGates(level) && expected;
  }
  return expected ? 0 : 1;
}

}  // namespace
}  // namespace takt::npu::validation

int main(int argc, char** argv) {
  const bool summary = argc == 3 && std::strcmp(argv[2], "--summary") == 0;
  if (argc < 2 || (argc > 2 && !summary)) {
    std::fprintf(stderr, "npu_validation REFERENCES [--summary]: REFERENCES is the shared folder's npu\n");
    return 2;
  }
  if (!std::filesystem::exists(argv[1])) {
    std::fprintf(stderr, "npu_validation: no %s; skipped\n", argv[1]);
    return 77;
  }
  try {
    return takt::npu::validation::Run(argv[1], summary);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "npu_validation: %s\n", error.what());
    return 1;
  }
}
