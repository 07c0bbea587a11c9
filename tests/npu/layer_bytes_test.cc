// Steps that the NPU runs as layers of another kind give the bytes that the host gives.
#include <gtest/gtest.h>

#include <random>

#include "converter/backend/convert.h"
#include "converter/ir/text.h"
#include "converter/npu/machine_json.h"
#include "ports/npu_emu/npu_emu.h"
#include "tests/support/plan_runner.h"

namespace takt::npu {
namespace {

using test::Bytes;

Conversion Convert(const std::string& text, Numerics numerics, const char* preset) {
  std::string error;
  Diagnostics diagnostics;
  const auto graph = ir::ParseGraph(text, error);
  EXPECT_TRUE(graph.has_value()) << error;
  ConvertOptions options;
  options.numerics = numerics;
  if (preset != nullptr) options.machine = ParseMachine(*PresetJson(preset), preset, {}, diagnostics)->table;
  Conversion made = ConvertGraph(*graph, {}, options);
  for (const Diagnostic& d : made.diagnostics.all()) EXPECT_NE(d.severity, Severity::kError) << d.ToString();
  return made;
}

Bytes RunOnNpu(const Conversion& made, const Bytes& input) {
  Machine machine;
  EXPECT_TRUE(ReadMachine(made.npu.device.machine, machine).ok());
  test::AlignedBytes workspace(NpuEmu::WorkspaceBytes(machine));
  VirtualClock clock;
  NpuEmu emulator;
  EXPECT_TRUE(emulator.Init(made.npu.device.machine, workspace.span(), clock).ok());
  Device* const devices[] = {&emulator};
  return test::PlanRunner(made.plan, reference::AllKernels(), devices).Run({input})[0];
}

/// All of it runs on the NPU, and gives the host's bytes.
void ExpectSame(const std::string& text, Numerics numerics, size_t input_bytes) {
  std::mt19937 random(1);
  Bytes input(input_bytes);
  const Conversion host = Convert(text, numerics, nullptr);
  for (const char* preset : {"ethos-u55-32", "ethos-u55-128", "gemmini-16x16", "davinci-310"}) {
    const Conversion made = Convert(text, numerics, preset);
    ASSERT_EQ(made.npu.steps.size(), 2u) << preset;
    ASSERT_EQ(made.npu.steps[0].op, Op::kSubmit) << preset;
    for (int run = 0; run < 20; ++run) {
      const auto spread = static_cast<uint32_t>(run % 5 == 0 ? 256 : 1 + run);  // Sums near ties, too.
      for (uint8_t& v : input) v = static_cast<uint8_t>(random() % spread + static_cast<uint32_t>(13 * run));
      EXPECT_EQ(RunOnNpu(made, input), test::PlanRunner(host.plan).Run({input})[0]) << preset;
    }
  }
}

/// One image of int8[1,rows,columns,37] to its mean.
std::string Mean(int rows, int columns, const std::string& out_quantization) {
  return "graph \"g\"\n%0 \"x\": int8[1," + std::to_string(rows) + "," + std::to_string(columns) +
         ",37] quant(0.07:-9)\n%1 \"y\": int8[1,37] quant(" + out_quantization +
         ")\ninputs %0\noutputs %1\n%1 = mean(%0) {axes = [1, 2], keep_dims = 0}\n";
}

TEST(LayerBytes, AMeanOfAnOddNumberOfCellsIsAPool) {
  ExpectSame(Mean(7, 7, "0.07:-9"), Numerics::kFp32Rne, 7 * 7 * 37);
  ExpectSame(Mean(15, 17, "0.07:-9"), Numerics::kFp32Rne, 15 * 17 * 37);
}

TEST(LayerBytes, OtherMeansStayOnTheHost) {
  const struct {
    std::string text;
    Numerics numerics;
  } others[] = {{Mean(7, 8, "0.07:-9"), Numerics::kFp32Rne},
                {Mean(7, 7, "0.08:-9"), Numerics::kFp32Rne},
                {Mean(7, 7, "0.07:-8"), Numerics::kFp32Rne},
                {Mean(47, 47, "0.07:-9"), Numerics::kFp32Rne},
                {Mean(7, 7, "0.07:-9"), Numerics::kTflite}};
  for (const auto& other : others) {
    const Conversion made = Convert(other.text, other.numerics, "ethos-u55-128");
    EXPECT_EQ(made.npu.steps[0].op, Op::kMean);
    EXPECT_NE(made.diagnostics.all()[0].message.find("a mean is one of fp32_rne"), std::string::npos);
  }
}

TEST(LayerBytes, ADepthwiseConvolutionOfOneChannelIsAConvolution) {
  std::string weights, bias;
  std::mt19937 random(2);
  for (int i = 0; i < 3 * 3 * 24; ++i)
    weights += (i == 0 ? "" : ", ") + std::to_string(static_cast<int>(random() % 255) - 127);
  for (int i = 0; i < 24; ++i) bias += (i == 0 ? "" : ", ") + std::to_string(static_cast<int>(random() % 999));
  const std::string text =
      "graph \"g\"\n%0 \"x\": int8[1,19,23,1] quant(0.5:3)\n%1 \"w\": int8[1,3,3,24] quant(0.25:0) = [" + weights +
      "]\n%2 \"b\": int32[24] = [" + bias +
      "]\n%3 \"y\": int8[1,10,12,24] quant(9.0:-5)\ninputs %0\noutputs %3\n"
      "%3 = depthwise_conv2d(%0, %1, %2) {pads = [1, 1, 1, 1], strides = [2, 2]}\n";
  for (const Numerics numerics : {Numerics::kFp32Rne, Numerics::kTflite}) ExpectSame(text, numerics, 19 * 23);
}

}  // namespace
}  // namespace takt::npu
