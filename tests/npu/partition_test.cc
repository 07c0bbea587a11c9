// Runs of layers are cut where parts of them cost less on the host.
#include "converter/npu/partition.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "converter/backend/convert.h"
#include "converter/ir/text.h"
#include "converter/npu/machine_json.h"
#include "converter/npu/step_profile.h"

namespace takt::npu {
namespace {

uint64_t Total(const std::vector<LayerCost>& run, const std::vector<bool>& on_npu, uint64_t end) {
  uint64_t total = 0;
  for (size_t i = 0; i < run.size(); ++i) {
    if (!on_npu[i]) {
      total += run[i].host;
      continue;
    }
    total += run[i].npu + (i == 0 || !on_npu[i - 1] ? run[i].start : 0);
    total += i + 1 == run.size() || !on_npu[i + 1] ? end : 0;
  }
  return total;
}

TEST(Partition, NoOtherCutIsCheaper) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    std::vector<LayerCost> run(1 + random() % 8);
    for (LayerCost& cost : run) cost = {random() % 100, random() % 100, random() % 60};
    const uint64_t end = random() % 40;
    uint64_t least = UINT64_MAX;
    for (uint32_t sides = 0; sides < 1u << run.size(); ++sides) {
      std::vector<bool> on_npu;
      for (size_t i = 0; i < run.size(); ++i) on_npu.push_back((sides >> i & 1) != 0);
      least = std::min(least, Total(run, on_npu, end));
    }
    EXPECT_EQ(Total(run, CheapestSides(run, end), end), least);
  }
}

std::string Ones(int n) {
  std::string text = "1";
  for (int i = 1; i < n; ++i) text += ", 1";
  return text;
}

/// 1x1 convolutions: of 64 pixels, then of one of them.
std::string BigThenSmall() {
  const std::string q = " quant(0.5:0)", pads = "{pads = [0, 0, 0, 0], strides = ";
  return "graph \"g\"\n%0 \"x\": int8[1,8,8,16]" + q + "\n%1 \"w\": int8[16,1,1,16]" + q + " = [" + Ones(256) +
         "]\n%2 \"b\": int32[16] = [" + Ones(16) + "]\n%3 \"big\": int8[1,8,8,16]" + q + "\n%4 \"v\": int8[2,1,1,16]" +
         q + " = [" + Ones(32) + "]\n%5 \"c\": int32[2] = [1, 1]\n%6 \"y\": int8[1,1,1,2]" + q +
         "\ninputs %0\noutputs %6\n%3 = conv2d(%0, %1, %2) \"BIG\" " + pads +
         "[1, 1]}\n%6 = conv2d(%3, %4, %5) \"SMALL\" " + pads + "[8, 8]}\n";
}

Conversion ConvertWithHost(const Host& host) {
  std::string error;
  Diagnostics diagnostics;
  const auto graph = ir::ParseGraph(BigThenSmall(), error);
  EXPECT_TRUE(graph.has_value()) << error;
  ConvertOptions options;
  options.machine = ParseMachine(*PresetJson("ethos-u55-128"), "m", {}, diagnostics)->table;
  options.machine->host = host;
  Conversion made = ConvertGraph(*graph, {}, options);
  EXPECT_TRUE(made.diagnostics.ok());
  return made;
}

std::vector<Op> OpsOf(const Conversion& made) {
  std::vector<Op> ops;
  for (const backend::StepSpec& step : made.npu.steps) ops.push_back(step.op);
  return ops;
}

TEST(Partition, ARunIsCutInside) {
  const Conversion whole =
      ConvertWithHost({.cycles_per_mac = {4, 1}, .cycles_per_element = {8, 1}, .cycles_per_step = 200});
  EXPECT_EQ(OpsOf(whole), (std::vector{Op::kSubmit, Op::kWait}));
  const Conversion cut =
      ConvertWithHost({.cycles_per_mac = {1, 1}, .cycles_per_element = {1, 64}, .cycles_per_step = 0});
  EXPECT_EQ(OpsOf(cut), (std::vector{Op::kSubmit, Op::kWait, Op::kConv2d}));
  EXPECT_LT(TotalCycles(cut.npu), TotalCycles(whole.npu));
  const std::string& note = cut.diagnostics.all()[0].message;
  const std::string before = "stays on the host (48 cycles): a job of its own would take ";
  const size_t at = note.find(before);
  ASSERT_NE(at, std::string::npos) << note;
  const uint64_t own = std::stoull(note.substr(at + before.size()));
  EXPECT_GT(own, 48u);
  EXPECT_LT(own, TotalCycles(whole.npu));  // Not the whole run's.
  const Conversion host =
      ConvertWithHost({.cycles_per_mac = {1, 1000}, .cycles_per_element = {1, 64}, .cycles_per_step = 0});
  EXPECT_EQ(OpsOf(host), (std::vector{Op::kConv2d, Op::kConv2d}));
}

}  // namespace
}  // namespace takt::npu
