// What a validation level found: rows of model against reference, and figures with limits.
#ifndef TAKT_TESTS_NPU_VALIDATION_RESIDUAL_H_
#define TAKT_TESTS_NPU_VALIDATION_RESIDUAL_H_

#include <filesystem>
#include <string>
#include <vector>

namespace takt::npu::validation {

struct Row {
  std::string name;
  double model = 0, reference = 0;
  bool counts = true;  ///< In the level's figures; others are reported only.

  double Error() const { return model / reference - 1; }
};

/// A figure that must not exceed its limit. One that does is listed with the reason; holding it then is an error too,
/// so that the list stays true.
struct Gate {
  std::string name;
  double value = 0, limit = 0;
  const char* misses = nullptr;  ///< Why the limit is not met; nullptr: it must be.

  bool AsExpected() const { return (value <= limit) == (misses == nullptr); }
};

struct Level {
  std::string title;
  std::vector<Row> rows;
  std::vector<Gate> gates;
};

/// Of the absolute errors of the rows that count; 0 if there are none.
double MeanError(const std::vector<Row>& rows);
double ErrorQuantile(const std::vector<Row>& rows, double q);

using Cells = std::vector<std::vector<std::string>>;
/// Cells without blanks around them; the first line is the header.
Cells ReadCsv(const std::filesystem::path& path);

/// The levels of converter/npu's validation; `npu` is the folder of references. See ports/npu_emu/README.md.
Level SystolicLevel(const std::filesystem::path& npu);
Level CubeLevel();
Level VelaBlockLevel(const std::filesystem::path& npu);
Level VelaTileLevel(const std::filesystem::path& npu);
Level FastModelLevel(const std::filesystem::path& npu);
Level LatencyLevel(const std::filesystem::path& npu);
Level NvdlaLevel();
Level GemminiLevel();

}  // namespace takt::npu::validation

#endif  // TAKT_TESTS_NPU_VALIDATION_RESIDUAL_H_
