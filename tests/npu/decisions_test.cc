// What the compiler decides by: what steps cost on the host, what memories must hold, what a plan's steps add up to.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>

#include "converter/backend/convert.h"
#include "converter/ir/text.h"
#include "converter/npu/layer.h"
#include "converter/npu/machine_json.h"
#include "converter/npu/step_profile.h"
#include "engine/core/interpreter.h"
#include "engine/plan/plan.h"
#include "ports/reference/kernels.h"
#include "tests/converter/model_files.h"
#include "tests/npu/npu_fixture.h"
#include "tests/support/messages.h"

namespace takt::npu {
namespace {

using test::Errors;

ir::Graph GraphOf(const std::string& text) {
  std::string error;
  auto graph = ir::ParseGraph(text, error);
  EXPECT_TRUE(graph.has_value()) << error;
  return *graph;
}

/// A step of the host: 100 cycles, 10 an element, 1 an inner iteration.
struct HostStep {
  uint64_t cycles = 0;
  bool npu = false;  ///< Could run there.
};

HostStep Price(const std::string& text) {
  Machine machine = PlainMachine();
  machine.host = {.cycles_per_mac = {1, 1}, .cycles_per_element = {10, 1}, .cycles_per_step = 100};
  ir::Graph graph = GraphOf(text);
  Diagnostics diagnostics;
  const auto steps = backend::LowerGraph(graph, Numerics::kFp32Rne, diagnostics);
  for (const Diagnostic& d : diagnostics.all()) ADD_FAILURE() << d.ToString();
  std::string reason;
  return {HostCycles(graph, steps.at(0), machine), MakeLayer(graph, steps.at(0), machine, reason).has_value()};
}

/// A 1x1 convolution of pixels to two channels.
std::string Convolution(const std::string& type, int batch, int channels, int weight_channels) {
  const bool is_float = type == "float32";
  const std::string q = is_float ? "" : " quant(0.5:0)", n = std::to_string(batch);
  std::string weights;
  for (int i = 0; i < 2 * weight_channels; ++i) weights += (i == 0 ? "" : ", ") + std::string(is_float ? "1.0" : "1");
  return "graph \"g\"\n%0 \"x\": " + type + "[" + n + ",2,3," + std::to_string(channels) + "]" + q +
         "\n%1 \"w\": " + type + "[2,1,1," + std::to_string(weight_channels) + "]" + q + " = [" + weights +
         "]\n%2 \"b\": " + (is_float ? "float32[2] = [0.0, 0.0]" : "int32[2] = [0, 0]") + "\n%3 \"y\": " + type + "[" +
         n + ",2,3,2]" + q +
         "\ninputs %0\noutputs %3\n%3 = conv2d(%0, %1, %2) {pads = [0, 0, 0, 0], strides = [1, 1]}\n";
}

TEST(HostCost, AConvolutionCostsItsWorkWhereverItCanRun) {
  const HostStep both = Price(Convolution("int8", 1, 4, 4)), floats = Price(Convolution("float32", 1, 4, 4));
  EXPECT_TRUE(both.npu);
  EXPECT_FALSE(floats.npu);
  EXPECT_EQ(both.cycles, 100u + 10 * 24 + 12 * 4);
  EXPECT_EQ(floats.cycles, both.cycles);
  const HostStep groups = Price(Convolution("int8", 1, 4, 2)), batch = Price(Convolution("int8", 2, 4, 4));
  EXPECT_FALSE(groups.npu);
  EXPECT_EQ(groups.cycles, 100u + 10 * 24 + 12 * 2);
  EXPECT_FALSE(batch.npu);
  EXPECT_EQ(batch.cycles, 100u + 10 * 48 + 24 * 4);
}

TEST(HostCost, AMeanCostsWhatItReads) {
  const HostStep mean = Price(
      "graph \"g\"\n%0 \"x\": float32[1,4,5,3]\n%1 \"y\": float32[1,3]\ninputs %0\noutputs %1\n"
      "%1 = mean(%0) {axes = [1, 2], keep_dims = 0}\n");
  EXPECT_EQ(mean.cycles, 100u + 10 * 60 + 60);
}

/// Adds up what it is given; its state of 64 bytes is committed at the end.
constexpr const char* kSums = R"(graph "sums"
%0 "x": float32[16]
%1 "sum": float32[16]
%2 "next": float32[16]
%3 "y": float32[16]
inputs %0
outputs %3
state %1, %2
%2 = add(%1, %0) "ADD" {activation = "none"}
%3 = mul(%2, %2) "MUL" {activation = "none"}
)";

Conversion ConvertFor(const std::string& preset, const std::vector<std::string>& overrides,
                      const std::function<Conversion(const ConvertOptions&)>& convert) {
  Diagnostics diagnostics;
  ConvertOptions options;
  options.machine = ParseMachine(*PresetJson(preset), preset, overrides, diagnostics).value().table;
  return convert(options);
}

Conversion ConvertSums(const std::vector<std::string>& overrides) {
  return ConvertFor("ethos-u55-128", overrides,
                    [](const ConvertOptions& options) { return ConvertGraph(GraphOf(kSums), {}, options); });
}

/// Opens, and needs of its arenas what the compiler counted.
int64_t ArenaBytes(const Conversion& made) {
  std::vector<uint64_t> aligned((made.plan.size() + 7) / 8);
  std::memcpy(aligned.data(), made.plan.data(), made.plan.size());
  Plan plan;
  Requirements need;
  EXPECT_TRUE(plan.Open({reinterpret_cast<const std::byte*>(aligned.data()), made.plan.size()}).ok());
  EXPECT_TRUE(ComputeRequirements(plan, reference::AllKernels(), need).ok());
  int64_t bytes = need.runtime.bytes;
  for (uint32_t i = 0; i < need.arena_count; ++i) bytes += need.arenas[i].bytes;
  return bytes;
}

TEST(MemoryNeed, StatesAndRecordsCountToo) {
  const Conversion whole = ConvertSums({});
  ASSERT_TRUE(whole.diagnostics.ok()) << Errors(whole);
  const int64_t need = ArenaBytes(whole);
  EXPECT_TRUE(ConvertSums({"memories.sram.bytes=" + std::to_string(need)}).diagnostics.ok());
  const Conversion less = ConvertSums({"memories.sram.bytes=" + std::to_string(need - 1)});
  EXPECT_TRUE(less.plan.empty());
  EXPECT_NE(Errors(less).find("sram of ethos-u55-128 has " + std::to_string(need - 1)), std::string::npos)
      << Errors(less);
  EXPECT_NE(Errors(less).find("states 64, records of steps 96): 1 bytes are missing"), std::string::npos)
      << Errors(less);
}

TEST(MemoryNeed, ThePlanIsToFitTheMemoryOfConstants) {
  const auto convert = [](const ConvertOptions& options) {
    return ConvertTflite(test::ReadBytes(test::kFashion), "fashion", options);
  };
  const Conversion whole = ConvertFor("ethos-u55-128", {}, convert);
  ASSERT_TRUE(whole.diagnostics.ok()) << Errors(whole);
  const size_t bytes = whole.plan.size();
  const std::string key = "memories.flash.bytes=";
  EXPECT_TRUE(ConvertFor("ethos-u55-128", {key + std::to_string(bytes)}, convert).diagnostics.ok());
  const Conversion less = ConvertFor("ethos-u55-128", {key + std::to_string(bytes - 1)}, convert);
  EXPECT_TRUE(less.plan.empty());
  EXPECT_NE(Errors(less).find("1 bytes are missing"), std::string::npos) << Errors(less);
}

TEST(StepProfile, StepsAddUpToTheTotal) {
  std::vector<std::string> models = test::ModelFiles({"keyword_scrambled", "trained_lstm_int8", "kws_ref_model"});
  for (const std::string& model : models) {
    for (const char* preset : {"ethos-u55-128", "davinci-310"}) {
      const Conversion made = ConvertFor(preset, {}, [&](const ConvertOptions& options) {
        return ConvertTflite(test::ReadBytes(model), model, options);
      });
      ASSERT_TRUE(made.diagnostics.ok()) << Errors(made);
      Machine machine;
      std::memcpy(&machine, made.npu.device.machine.data(), sizeof(machine));
      uint64_t sum = 0;
      for (const StepProfile& step : ProfileSteps(made.graph, made.npu, machine)) sum += step.cycles;
      EXPECT_EQ(sum, TotalCycles(made.npu)) << model << " " << preset;
    }
  }
  const Conversion sums = ConvertSums({});
  const std::vector<StepProfile> steps = ProfileSteps(sums.graph, sums.npu, PlainMachine());
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_EQ(steps[2].op, "copy");
  EXPECT_EQ(steps[2].start + steps[2].cycles, TotalCycles(sums.npu));
}

}  // namespace
}  // namespace takt::npu
