// Model against references, level L0: the cycles of a systolic array, without stalls, equal SCALE-Sim's on every row.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "ports/npu_emu/model/cost.h"

namespace takt::npu {
namespace {

using Rows = std::vector<std::vector<std::string>>;

/// Cells without blanks; the first line is the header.
Rows ReadCsv(const std::filesystem::path& path) {
  Rows rows;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::vector<std::string> cells;
    std::stringstream stream(line);
    for (std::string cell; std::getline(stream, cell, ',');) {
      const size_t first = cell.find_first_not_of(' ');
      cells.push_back(first == std::string::npos ? "" : cell.substr(first));
    }
    rows.push_back(cells);
  }
  return rows;
}

TEST(Validation, SystolicCyclesEqualScaleSim) {
  const std::filesystem::path folder = std::filesystem::path(TAKT_SHARED_DIR) / "npu" / "scalesim";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no " << folder;
  const std::map<std::string, ArrayKind> kinds = {
      {"os", ArrayKind::kOutputStationary}, {"ws", ArrayKind::kWeightStationary}, {"is", ArrayKind::kInputStationary}};
  int compared = 0;
  for (const char* net : {"ad_fc", "dscnn", "resnet8", "vww_mbv1"}) {
    std::map<std::string, Contraction> layers;
    for (const auto& row : ReadCsv(folder / (std::string(net) + ".csv"))) {
      if (row.size() < 8 || row[0] == "Layer name") continue;
      const auto n = [&](size_t i) { return static_cast<uint32_t>(std::stoul(row[i])); };
      layers[row[0]] = {.out_height = (n(1) - n(3)) / n(7) + 1,
                        .out_width = (n(2) - n(4)) / n(7) + 1,
                        .out_channels = n(6),
                        .kernel_h = n(3),
                        .kernel_w = n(4),
                        .channels = n(5)};
    }
    for (const auto size : {uint16_t{16}, uint16_t{32}}) {
      for (const auto& [name, kind] : kinds) {
        const std::string tag = std::to_string(size) + "x" + std::to_string(size) + "_" + name;
        const auto path = folder / (std::string(net) + "_" + tag + "_summary.csv");
        if (!std::filesystem::exists(path)) continue;
        const Array array{.width = size, .height = size, .kind = kind};
        for (const auto& row : ReadCsv(path)) {
          if (row[0] == "layer") continue;
          const uint64_t expected = std::stoull(row[3]) - std::stoull(row[4]);
          EXPECT_EQ(ArrayCycles(array, layers.at(row[0])), expected) << net << " " << tag << " " << row[0];
          ++compared;
        }
      }
    }
  }
  EXPECT_GT(compared, 40);
}

}  // namespace
}  // namespace takt::npu
