// L0 and L0b: closed forms of the arrays.
#include <cmath>
#include <map>

#include "absl/strings/str_cat.h"
#include "converter/npu/step_profile.h"
#include "ports/npu_emu/model/cost.h"
#include "tests/npu/validation/networks.h"
#include "tests/npu/validation/residual.h"

namespace takt::npu::validation {
namespace {

const std::map<std::string, ArrayKind> kDataflows = {
    {"os", ArrayKind::kOutputStationary}, {"ws", ArrayKind::kWeightStationary}, {"is", ArrayKind::kInputStationary}};

std::map<std::string, Contraction> LayersOf(const std::filesystem::path& topology) {
  std::map<std::string, Contraction> layers;
  for (const auto& row : ReadCsv(topology)) {
    if (row.size() < 8 || row[0] == "Layer name") continue;
    const auto n = [&](size_t i) { return static_cast<uint32_t>(std::stoul(row[i])); };
    layers[row[0]] = {.out_height = (n(1) - n(3)) / n(7) + 1,
                      .out_width = (n(2) - n(4)) / n(7) + 1,
                      .out_channels = n(6),
                      .kernel_h = n(3),
                      .kernel_w = n(4),
                      .channels = n(5)};
  }
  return layers;
}

double Differing(const std::vector<Row>& rows) {
  double n = 0;
  for (const Row& row : rows) n += row.model != row.reference;
  return n;
}

}  // namespace

Level SystolicLevel(const std::filesystem::path& npu) {
  Level level{"L0: cycles of systolic arrays without stalls, SCALE-Sim v3", {}, {}};
  for (const char* net : {"ad_fc", "dscnn", "resnet8", "vww_mbv1"}) {
    const auto layers = LayersOf(npu / "scalesim" / absl::StrCat(net, ".csv"));
    for (const uint16_t size : {uint16_t{16}, uint16_t{32}}) {
      for (const auto& [dataflow, kind] : kDataflows) {
        const std::string tag = absl::StrCat(net, "_", size, "x", size, "_", dataflow);
        const Array array{.width = size, .height = size, .kind = kind};
        for (const auto& row : ReadCsv(npu / "scalesim" / (tag + "_summary.csv"))) {
          if (row[0] == "layer") continue;
          level.rows.push_back({absl::StrCat(tag, " ", row[0], " (stalls ", row[4], ")"),
                                static_cast<double>(ArrayCycles(array, layers.at(row[0]))),
                                std::stod(row[3]) - std::stod(row[4])});
        }
      }
    }
  }
  level.gates.push_back({"rows that differ", Differing(level.rows), 0});
  level.gates.push_back({"rows missing of 40", level.rows.size() > 40 ? 0.0 : 1.0, 0});
  return level;
}

Level CubeLevel() {
  Level level{"L0b: cycles of a cube of 16 x 32 x 16, ceil(M/16) * ceil(N/16) * ceil(K/32) + 7", {}, {}};
  const Array cube{.width = 16, .depth = 16, .reduction = 32, .kind = ArrayKind::kCube, .fill = 7};
  struct Product {
    uint32_t m, n, k;
    double cycles;
  };
  for (const Product& p :
       {Product{16, 16, 32, 8}, {1, 1, 1, 8}, {17, 16, 32, 9}, {256, 256, 1024, 8199}, {100, 50, 70, 91}}) {
    level.rows.push_back(
        {absl::StrCat(p.m, " x ", p.n, " x ", p.k),
         static_cast<double>(ArrayCycles(cube, {.out_width = p.m, .out_channels = p.n, .channels = p.k})), p.cycles});
  }
  // Published peaks of int8, two operations a MAC: 22 and 140 TOPS are these rounded.
  for (const auto& [name, tops] : {std::pair{"davinci-310", 22.282240}, std::pair{"davinci-310p", 138.936320}}) {
    const Machine machine = Preset(name);
    const double peak = 2e-12 * static_cast<double>(PeakMacs(machine.array)) * static_cast<double>(machine.clock_hz);
    level.rows.push_back({absl::StrCat(name, ", GOPS"), std::round(peak * 1e3), std::round(tops * 1e3)});
  }
  level.gates.push_back({"rows that differ", Differing(level.rows), 0});
  return level;
}

}  // namespace takt::npu::validation
