#include <gtest/gtest.h>

#include "converter/npu/machine_json.h"
#include "tests/npu/npu_fixture.h"

namespace takt::npu {
namespace {

std::string ErrorsOf(std::string_view json, std::vector<std::string> overrides) {
  Diagnostics diagnostics;
  const auto made = ParseMachine(json, "m.json", overrides, diagnostics);
  EXPECT_EQ(made.has_value(), diagnostics.ok());
  std::string text;
  for (const Diagnostic& d : diagnostics.all()) text += d.ToString() + "\n";
  return text;
}

TEST(Machine, EveryPresetParsesAndNamesItsSources) {
  ASSERT_FALSE(PresetNames().empty());
  for (const std::string& name : PresetNames()) {
    Diagnostics diagnostics;
    const auto made = ParseMachine(*PresetJson(name), name, {}, diagnostics);
    ASSERT_TRUE(made.has_value()) << name << ": " << diagnostics.all().at(0).ToString();
    EXPECT_EQ(made->table.name, name);
    EXPECT_EQ(made->sources.size(), made->table.computes(Type::kInt16x8) ? 10u : 9u) << name;
  }
}

TEST(Machine, OverridesChangeKeysAndElementsOfLists) {
  Diagnostics diagnostics;
  const std::vector<std::string> overrides = {"array.width=4", "memories.flash.bytes_per_cycle=3/2"};
  const auto made = ParseMachine(*PresetJson("ethos-u55-128"), "p", overrides, diagnostics);
  ASSERT_TRUE(made.has_value());
  EXPECT_EQ(made->table.array.width, 4);
  EXPECT_EQ(made->table.memories[1].bytes_per_cycle.num, 3u);
  EXPECT_EQ(made->table.memories[1].bytes_per_cycle.den, 2u);
}

TEST(Machine, OverridesAddKeysThatHaveADefault) {
  Diagnostics diagnostics;
  const std::vector<std::string> overrides = {
      "buffers.weight=65536",      "buffers.output.banks=4", "buffers.output.ports=1", "buffers.feature_a=4096",
      "buffers.weight_b=4096",     "queue_depth=16",         "array.split=rows",       "array.link_bytes_per_cycle=1/3",
      "array.weights_per_cycle=0", "sources.energy=guess"};
  const auto made = ParseMachine(*PresetJson("ethos-u55-128"), "p", overrides, diagnostics);
  ASSERT_TRUE(made.has_value()) << diagnostics.all().at(0).ToString();
  EXPECT_EQ(made->table.buffer(Buffer::kWeight), 65536u);
  EXPECT_EQ(made->table.buffer(Buffer::kWeightB), 4096u);
  EXPECT_EQ(made->table.spec(Buffer::kOutput).banks, 4);
  EXPECT_EQ(made->table.spec(Buffer::kOutput).ports, 1);
  EXPECT_EQ(made->table.queue_depth, 16u);
  EXPECT_EQ(made->table.array.split, CoreSplit::kRows);
  EXPECT_EQ(made->table.array.link_bytes_per_cycle.den, 3u);
  EXPECT_EQ(made->table.array.weights_per_cycle, 0u);
}

TEST(Machine, FiguresOfInt16x8AreThoseOfInt8OrGiven) {
  Diagnostics diagnostics;
  const std::vector<std::string> overrides = {
      "array.int16x8.width=8",         "array.int16x8.femtojoule_per_mac=7",
      "vector.int16x8.requantize=2/3", "vector.int16x8.add=3",
      "vector.int16x8.pool=4",         "vector.int16x8.femtojoule_per_element=5",
      "sources.int16x8=assumption"};
  const auto made = ParseMachine(*PresetJson("gemmini-16x16"), "p", overrides, diagnostics);
  ASSERT_TRUE(made.has_value()) << diagnostics.all().at(0).ToString();
  const Machine& m = made->table;
  EXPECT_EQ(m.ArrayOf(Type::kInt8).width, 16);
  EXPECT_EQ(m.ArrayOf(Type::kInt16x8).width, 8);
  EXPECT_EQ(m.ArrayOf(Type::kInt16x8).height, 16);
  EXPECT_EQ(m.ArrayOf(Type::kInt16x8).kind, ArrayKind::kWeightStationary);
  EXPECT_EQ(m.ArrayOf(Type::kInt16x8).femtojoule_per_mac, 7u);
  EXPECT_EQ(m.VectorCycles(VectorFunction::kRequantize, Type::kInt16x8).den, 3u);
  EXPECT_EQ(m.VectorCycles(VectorFunction::kRequantize, Type::kInt8).den, 16u);
  EXPECT_EQ(m.int16x8.femtojoule_per_element, 5u);
}

TEST(Machine, Int16x8IsStatedWholly) {
  const std::string_view preset = *PresetJson("gemmini-16x16");
  EXPECT_NE(
      ErrorsOf(preset, {"vector.int16x8.add=1"}).find("vector.int16x8: error: is of no use without array.int16x8"),
      std::string::npos);
  const std::string errors = ErrorsOf(preset, {"array.int16x8.width=8"});
  EXPECT_NE(errors.find("array.int16x8.femtojoule_per_mac: error: is missing; add it"), std::string::npos);
  EXPECT_NE(errors.find("vector.int16x8: error: is missing; add it"), std::string::npos);
  EXPECT_NE(errors.find("sources.int16x8: error: is missing; add it"), std::string::npos);
  const std::string_view cube = *PresetJson("davinci-tiny");
  EXPECT_NE(ErrorsOf(cube, {"array.int16x8.depth=0"}).find("array.int16x8: width, height, depth and reduction must"),
            std::string::npos);
  EXPECT_NE(ErrorsOf(cube, {"vector.int16x8.pool=1/1048576"}).find("vector.int16x8's cycles"), std::string::npos);
}

TEST(Machine, ABufferMayBeGivenAsItsBytes) {
  std::string json(*PresetJson("ethos-u55-32"));
  const size_t at = json.find("{\"bytes\": 4096"), end = json.find('}', at);
  ASSERT_NE(at, std::string::npos);
  json.replace(at, end + 1 - at, "4096");
  Diagnostics diagnostics;
  const auto made = ParseMachine(json, "m.json", std::vector<std::string>{"buffers.output.granule=1024"}, diagnostics);
  ASSERT_TRUE(made.has_value()) << diagnostics.all().at(0).ToString();
  EXPECT_EQ(made->table.buffer(Buffer::kOutput), 4096u);
  EXPECT_EQ(made->table.spec(Buffer::kOutput).granule, 1024u);
  EXPECT_EQ(made->table.spec(Buffer::kOutput).femtojoule_per_byte, 0u);
}

TEST(Machine, ErrorsNameKeyRuleAndRemedy) {
  const std::string_view preset = *PresetJson("ethos-u55-128");
  EXPECT_NE(ErrorsOf("{", {}).find("line 1 is no JSON"), std::string::npos);
  EXPECT_NE(ErrorsOf("{}", {}).find("clock_hz: error: is missing; add it"), std::string::npos);
  EXPECT_NE(ErrorsOf(preset, {"array.wodth=4"}).find("array.wodth: error: is not a key of this section; it has: "),
            std::string::npos);
  EXPECT_NE(ErrorsOf(preset, {"array.width=0.5"}).find("array.width: error: must be an integer"), std::string::npos);
  EXPECT_NE(ErrorsOf(preset, {"vector.add=0.5"}).find("floating point is not exact"), std::string::npos);
  EXPECT_NE(ErrorsOf(preset, {"array.kind=sphere"}).find("choose one of: cube"), std::string::npos);
  EXPECT_NE(ErrorsOf(preset, {"memories.sram.bytes_per_cycle=0"}).find("bytes_per_cycle must be above 0"),
            std::string::npos);
  EXPECT_NE(ErrorsOf(preset, {"buffers.weight.banks=3"}).find("banks must be a power of two"), std::string::npos);
  EXPECT_NE(ErrorsOf(preset, {"buffers.weight.ports=6"}).find("ports at most 5"), std::string::npos);
  EXPECT_NE(ErrorsOf(preset, {"buffers.weight.granule=131072"}).find("granule must be"), std::string::npos);
  EXPECT_NE(ErrorsOf(preset, {"array.split=cubes"}).find("choose one of: channels, rows"), std::string::npos);
  EXPECT_NE(ErrorsOf(preset, {"array.link_latency=16777216"}).find("link_latency be below"), std::string::npos);
  EXPECT_NE(ErrorsOf(preset, {"array.weights_per_cycle=1048576"}).find("weights_per_cycle must"), std::string::npos);
  EXPECT_NE(ErrorsOf(preset, {"set_cycles=16777216"}).find("set_cycles and wait_cycles"), std::string::npos);
  EXPECT_NE(ErrorsOf(preset, {"queue_depth=33"}).find("queue_depth must be at most 32"), std::string::npos);
  EXPECT_NE(ErrorsOf(preset, {"sources.area="}).find("sources.area"), std::string::npos);
  EXPECT_NE(ErrorsOf(preset, {"buffers.weight=16"}).find("cannot hold one tile"), std::string::npos);
  EXPECT_NE(ErrorsOf(preset, {"features=moon"}).find("choose one of: flash, sram"), std::string::npos);
}

TEST(Machine, EveryBufferHoldsWhatTheArrayTakesAtOnce) {
  const std::string_view preset = *PresetJson("ethos-u55-256");
  EXPECT_NE(
      ErrorsOf(preset, {"buffers.accumulator=64"})
          .find("buffers.accumulator: error: a slot (half of it) has 32 bytes, the array takes 128 at once: 96 are"),
      std::string::npos);
  EXPECT_EQ(ErrorsOf(preset, {"buffers.accumulator=256"}), "");
  EXPECT_NE(ErrorsOf(*PresetJson("gemmini-16x16"), {"buffers.weight=256"}).find("128 are missing"), std::string::npos);
}

TEST(Machine, ABrokenRuleNamesThePart) {
  const std::string_view preset = *PresetJson("ethos-u55-256");
  EXPECT_NE(ErrorsOf(preset, {"memories.flash.bytes_per_cycle=0"}).find("memories.flash: error: "), std::string::npos);
  EXPECT_NE(ErrorsOf(preset, {"memories.sram.burst_bytes=0"}).find("memories.sram: error: "), std::string::npos);
  EXPECT_NE(ErrorsOf(preset, {"buffers.output=32"}).find("buffers.output: error: "), std::string::npos);
  EXPECT_NE(ErrorsOf(preset, {"routes.store=0"}).find("routes.store: error: "), std::string::npos);
}

TEST(Machine, UnknownKeysAreErrors) {
  std::string json(*PresetJson("ethos-u55-128"));
  json.insert(1, "\"colour\": 1,");
  EXPECT_NE(ErrorsOf(json, {}).find("colour: error: is not a key"), std::string::npos);
}

TEST(Machine, TableSurvivesThePlanAndIsCheckedAgain) {
  Machine made = PlainMachine();
  std::vector<uint8_t> bytes(sizeof(Machine));
  std::memcpy(bytes.data(), &made, sizeof(Machine));
  Machine read;
  EXPECT_TRUE(ReadMachine(bytes, read).ok());
  EXPECT_EQ(read.memories[0].burst_bytes, 4u);
  made.memories[0].bytes_per_cycle.den = 0;
  std::memcpy(bytes.data(), &made, sizeof(Machine));
  const Status status = ReadMachine(bytes, read);
  EXPECT_EQ(status.site(), Site::kNpuMachine);
  EXPECT_EQ(status.detail(), static_cast<uint32_t>(MachineRule::kBandwidth));
  bytes.pop_back();
  EXPECT_EQ(ReadMachine(bytes, read).detail(), static_cast<uint32_t>(MachineRule::kForm));
}

}  // namespace
}  // namespace takt::npu
