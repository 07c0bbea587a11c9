// L1 to L3: Ethos-U-like machines against Arm's estimator and Fast Models, and the model against itself.
#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "converter/npu/machine_json.h"
#include "tests/npu/validation/blocks.h"
#include "tests/npu/validation/compiled.h"
#include "tests/npu/validation/networks.h"
#include "tests/npu/validation/residual.h"

namespace takt::npu::validation {
namespace {

namespace fs = std::filesystem;

/// A model of the references, wherever it lies; empty if it is not there.
fs::path ModelFile(const fs::path& npu, const std::string& name) {
  for (const fs::path& folder : {npu / "models", npu.parent_path() / "models"}) {
    if (fs::exists(folder / (name + ".tflite"))) return folder / (name + ".tflite");
  }
  return {};
}

constexpr char kOwnSchedule[] =
    "Vela charges blocks at the edges as whole ones and waits for weights as computing; the machine does not (L2)";

/// A memory that never waits.
void MakeFree(Memory& memory) {
  memory.bytes_per_cycle = {1 << 19, 1};
  memory.read_latency = memory.write_latency = 0;
}

/// The same machine with memories that never wait: what is left is the time of the array and of the output stage.
Machine WithoutMemory(Machine m) {
  for (uint32_t i = 0; i < m.memory_count; ++i) MakeFree(m.memories[i]);
  for (Ratio& port : m.port) port = {1 << 19, 1};
  return m;
}

/// Rows of one of Vela's tables beside our layers, in its blocks or in our tiles; an addition that ours fused counts
/// with its convolution then. Rows that Vela rewrote into other work do not count.
void AddVelaRows(const fs::path& table, const std::vector<LayerCycles>& layers, const Machine* blocks, Level& level) {
  const Cells rows = ReadCsv(table);
  size_t next = 0;
  for (size_t r = 0; r < rows.size(); ++r) {
    const auto& row = rows[r];
    if (row.size() < 15 || (row[0] != "CONV_2D" && row[0] != "DEPTHWISE_CONV_2D")) continue;
    while (next < layers.size() && layers[next].layer.macs() == 0) ++next;
    if (next == layers.size()) break;
    const LayerCycles& ours = layers[next++];
    const bool same = static_cast<double>(ours.layer.macs()) == std::stod(row[11]);
    const bool image = ours.layer.out_height > 1;
    double model = ours.cycles, reference = std::stod(row[6]);
    if (blocks != nullptr) {
      model = WholeBlockCycles(*blocks, ours.layer, ChooseBlock(*blocks, ours.layer));
    } else if (ours.layer.add && r + 1 < rows.size() && rows[r + 1][0] == "ADD") {
      reference += std::stod(rows[r + 1][6]);
    }
    level.rows.push_back({absl::StrCat(table.stem().string(), " ", row[1], " ", ours.layer.channels, "->",
                                       ours.layer.out_channels, same ? "" : " (rewritten)"),
                          model, reference, same && image && ours.layer.channels > 4});
  }
}

void AddVelaTables(const fs::path& npu, bool in_blocks, Level& level) {
  std::vector<fs::path> tables;
  for (const auto& entry : fs::directory_iterator(npu / "vela")) tables.push_back(entry.path());
  std::sort(tables.begin(), tables.end());
  for (const fs::path& table : tables) {
    const std::string stem = table.stem().string();
    const size_t cut = stem.rfind('_');
    const fs::path model = ModelFile(npu, stem.substr(0, cut));
    std::string config = stem.substr(cut + 1);
    if (model.empty() || config.ends_with("cs")) continue;  // Client_Server differs in its memories only
    const Machine machine = Preset("ethos-" + config);
    const std::vector<LayerCycles> layers = CyclesByLayer(CompileModel(model, machine), WithoutMemory(machine));
    AddVelaRows(table, layers, in_blocks ? &machine : nullptr, level);
  }
  const char* misses = in_blocks ? nullptr : kOwnSchedule;
  level.gates.push_back({"median absolute error", ErrorQuantile(level.rows, 0.5), 0.10, misses});
  level.gates.push_back({"90th percentile", ErrorQuantile(level.rows, 0.9), 0.25, misses});
}

}  // namespace

Level VelaBlockLevel(const fs::path& npu) {
  Level level{
      "L1: array and output stage in the blocks that Vela 3.10 takes, its column NPU; more than 4 channels count",
      {},
      {}};
  AddVelaTables(npu, true, level);
  return level;
}

Level VelaTileLevel(const fs::path& npu) {
  Level level{"L1b: a layer in the tiles that the emulated machine takes, without memory, the same column", {}, {}};
  AddVelaTables(npu, false, level);
  return level;
}

Level FastModelLevel(const fs::path& npu) {
  Level level{"L2: cycles of networks on the NPU, Arm's Fast Models", {}, {}};
  std::map<std::string, std::vector<Row>> families;
  double disorder = 0, before = 0;
  std::string model_before;
  for (const auto& row : ReadCsv(npu / "fvp_cycles.csv")) {
    if (row[0] == "model") continue;
    const Machine machine = Preset("ethos-" + row[1]);
    const double cycles = static_cast<double>(JobCycles(CompileModel(ModelFile(npu, row[0]), machine), machine));
    level.rows.push_back({row[0] + " " + row[1], cycles, std::stod(row[2])});
    families[row[1].substr(0, 3)].push_back(level.rows.back());
    disorder += row[0] == model_before && cycles >= before;
    model_before = row[0], before = cycles;
  }
  level.gates.push_back({"U55, mean absolute error", MeanError(families["u55"]), 0.08});
  level.gates.push_back({"U65, mean absolute error", MeanError(families["u65"]), 0.20});
  level.gates.push_back({"pairs of sizes in the wrong order", disorder, 0});
  return level;
}

/// One cycle more of latency against the exposed reads of the same stream; and 64 more, one by one, against their mean.
Level LatencyLevel(const fs::path& npu) {
  Level level{"L3: d(cycles) / d(read latency) of the features' memory, the stream's exposed round trips", {}, {}};
  std::vector<Row> first, sweeps;
  for (const char* model : {"ad_medium_int8", "kws_micronet_m"}) {
    for (const std::string& preset : PresetNames()) {
      Machine machine = Preset(preset);
      const int memory = machine.feature_memory;
      const Compilation made = CompileModel(ModelFile(npu, model), machine);
      constexpr int kMore = 64;
      double cycles[kMore + 1], trips[kMore + 1], mean = 0;
      for (int more = 0; more <= kMore; ++more, ++machine.memories[memory].read_latency) {
        cycles[more] = static_cast<double>(JobCycles(made, machine));
        trips[more] = ExposedReads(made, machine, memory);
        if (more > 0) mean += (trips[more - 1] + trips[more]) / (2 * kMore);
      }
      const std::string name = absl::StrCat(model, " ", preset);
      if (preset.starts_with("ethos")) first.push_back({name + ", 1 cycle more", cycles[1] - cycles[0], trips[0]});
      sweeps.push_back({name + ", 64 more, a cycle", (cycles[kMore] - cycles[0]) / kMore, mean});
    }
  }
  level.gates.push_back({"1 cycle more, largest absolute error", ErrorQuantile(first, 1), 0});
  level.gates.push_back({"64 more, largest absolute error", ErrorQuantile(sweeps, 1), 0.25});
  level.rows = std::move(first);
  level.rows.insert(level.rows.end(), sweeps.begin(), sweeps.end());
  return level;
}

}  // namespace takt::npu::validation
