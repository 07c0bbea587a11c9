// Steps that the NPU runs as layers of another kind give the bytes that the host gives.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "converter/backend/convert.h"
#include "converter/ir/text.h"
#include "converter/npu/machine_json.h"
#include "converter/npu/step_profile.h"
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
  if (preset != nullptr) {
    options.machine = ParseMachine(*PresetJson(preset), preset, {}, diagnostics)->table;
    options.machine->host.cycles_per_step = (1 << 20) - 1;  // What the NPU can take, it does.
  }
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
void ExpectSame(const std::string& text, Numerics numerics, size_t input_bytes,
                std::vector<const char*> presets = {"ethos-u55-32", "ethos-u55-128", "gemmini-16x16", "davinci-310"}) {
  std::mt19937 random(1);
  Bytes input(input_bytes);
  const Conversion host = Convert(text, numerics, nullptr);
  for (const char* preset : presets) {
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

/// One image of [1,rows,columns,37] to its mean.
std::string Mean(int rows, int columns, const std::string& out_quantization, const std::string& type = "int8",
                 const std::string& quantization = "0.07:-9") {
  return "graph \"g\"\n%0 \"x\": " + type + "[1," + std::to_string(rows) + "," + std::to_string(columns) +
         ",37] quant(" + quantization + ")\n%1 \"y\": " + type + "[1,37] quant(" + out_quantization +
         ")\ninputs %0\noutputs %1\n%1 = mean(%0) {axes = [1, 2], keep_dims = 0}\n";
}

TEST(LayerBytes, AMeanOfAnOddNumberOfCellsIsAPool) {
  ExpectSame(Mean(7, 7, "0.07:-9"), Numerics::kFp32Rne, 7 * 7 * 37);
  ExpectSame(Mean(15, 17, "0.07:-9"), Numerics::kFp32Rne, 15 * 17 * 37);
}

TEST(LayerBytes, AMeanOfFewCellsOfInt16IsAPool) {
  for (const int rows : {1, 3, 7}) {
    ExpectSame(Mean(rows, 7, "0.0007:0", "int16", "0.0007:0"), Numerics::kFp32Rne,
               static_cast<size_t>(2 * rows * 7 * 37), {"ethos-u55-32", "davinci-tiny"});
  }
}

TEST(LayerBytes, Int16NeedsAMachineThatComputesIt) {
  const std::string text =
      "graph \"g\"\n%0 \"x\": int16[1,8,8,16] quant(0.07:0)\n%1 \"y\": int16[1,4,4,16] quant(0.07:0)\ninputs %0\n"
      "outputs %1\n%1 = max_pool2d(%0) {kernel = [2, 2], pads = [0, 0, 0, 0], strides = [2, 2]}\n";
  const Conversion made = Convert(text, Numerics::kFp32Rne, "gemmini-16x16");
  ASSERT_EQ(made.npu.steps[0].op, Op::kMaxPool2d);
  EXPECT_NE(made.diagnostics.all()[0].message.find("int16 if the machine computes int16x8"), std::string::npos);
}

TEST(LayerBytes, OtherMeansStayOnTheHost) {
  const struct {
    std::string text;
    Numerics numerics;
  } others[] = {{Mean(7, 8, "0.07:-9"), Numerics::kFp32Rne},
                {Mean(7, 7, "0.08:-9"), Numerics::kFp32Rne},
                {Mean(7, 7, "0.07:-8"), Numerics::kFp32Rne},
                {Mean(47, 47, "0.07:-9"), Numerics::kFp32Rne},
                {Mean(3, 17, "0.07:0", "int16", "0.07:0"), Numerics::kFp32Rne},
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

std::string Transpose(const std::string& type, const std::string& from, const std::string& to,
                      const std::string& permutation) {
  return "graph \"g\"\n%0 \"x\": " + type + from + "\n%1 \"y\": " + type + to +
         "\ninputs %0\noutputs %1\n%1 = transpose(%0) {permutation = " + permutation + "}\n";
}

TEST(LayerBytes, TransposesOfManyTiles) {
  const Numerics any = Numerics::kFp32Rne;
  ExpectSame(Transpose("int8", "[1,3,120,130]", "[1,120,130,3]", "[0, 2, 3, 1]"), any, 3 * 120 * 130);
  ExpectSame(Transpose("int16", "[1,90,70,5]", "[1,5,90,70]", "[0, 3, 1, 2]"), any, 2 * 90 * 70 * 5);
  ExpectSame(Transpose("float32", "[70,100]", "[100,70]", "[1, 0]"), any, 4 * 100 * 70);
  ExpectSame(Transpose("int8", "[20,30,2,3,4]", "[20,2,30,3,4]", "[0, 2, 1, 3, 4]"), any, 20 * 30 * 24);
  ExpectSame(Transpose("int8", "[3,4,5,6,7]", "[7,6,5,4,3]", "[4, 3, 2, 1, 0]"), any, 3 * 4 * 5 * 6 * 7);
}

TEST(LayerBytes, PadsOfManyTiles) {
  const auto pad = [](const std::string& from, const std::string& to, const std::string& before,
                      const std::string& after, const std::string& value) {
    return "graph \"g\"\n%0 \"x\": " + from + "\n%1 \"y\": " + to +
           "\ninputs %0\noutputs %1\n%1 = pad(%0) {after = " + after + ", before = " + before + ", value = " + value +
           "}\n";
  };
  const std::string q = " quant(0.5:3)";
  ExpectSame(pad("int8[1,50,60,7]" + q, "int8[1,53,64,12]" + q, "[0, 1, 3, 5]", "[0, 2, 1, 0]", "0.0"),
             Numerics::kFp32Rne, 50 * 60 * 7);
  ExpectSame(pad("int16[1,80,70]", "int16[3,200,70]", "[1, 0, 0]", "[1, 120, 0]", "-7.0"), Numerics::kFp32Rne,
             2 * 80 * 70);
  ExpectSame(pad("int8[2,3,20,5,6]" + q, "int8[2,5,20,6,7]" + q, "[0, 2, 0, 0, 1]", "[0, 0, 0, 1, 0]", "4.0"),
             Numerics::kFp32Rne, 2 * 3 * 20 * 5 * 6);
}

/// Cycles of the moves of a conversion that is all one job.
uint64_t MoveCycles(const Conversion& made) {
  Machine machine;
  std::memcpy(&machine, made.npu.device.machine.data(), sizeof(machine));
  uint64_t cycles = 0;
  for (const StepProfile& step : ProfileSteps(made.graph, made.npu, machine))
    cycles += step.op == "move" ? step.cycles : 0;
  return cycles;
}

TEST(LayerBytes, ConcatenationsAndSlicesOfLayersTakeNoTime) {
  const std::string q = " quant(0.5:0)";
  const auto text = [&](const std::string& outputs) {
    return "graph \"g\"\n%0 \"x\": int8[1,18,20,3]" + q + "\n%1 \"w\": int8[4,1,1,3]" + q +
           " = [1, -2, 3, 4, 5, -6, 7, 8, 9, -1, 2, 5]\n%2 \"b\": int32[4] = [3, 90, -50, 8]\n%3 \"c\": "
           "int8[1,18,20,4]" +
           q + "\n%4 \"m\": int8[1,18,20,3]" + q + "\n%5 \"wide\": int8[1,18,20,7]" + q +
           "\n%6 \"part\": int8[1,9,20,5]" + q + "\n%7 \"y\": int8[1,4,10,5]" + q + "\ninputs %0\noutputs " + outputs +
           "\n%3 = conv2d(%0, %1, %2) {pads = [0, 0, 0, 0], strides = [1, 1]}\n"
           "%4 = max_pool2d(%0) {kernel = [3, 3], pads = [1, 1, 1, 1], strides = [1, 1]}\n"
           "%5 = concatenation(%3, %4) {axis = 3}\n%6 = slice(%5) {begin = [0, 6, 0, 1], strides = [1, 1, 1, 1]}\n"
           "%7 = average_pool2d(%6) {kernel = [2, 2], pads = [0, 0, 0, 0], strides = [2, 2]}\n";
  };
  for (const char* preset : {"ethos-u55-32", "davinci-310"}) {
    EXPECT_EQ(MoveCycles(Convert(text("%7"), Numerics::kFp32Rne, preset)), 0u) << preset;
    EXPECT_GT(MoveCycles(Convert(text("%7, %3"), Numerics::kFp32Rne, preset)), 0u)
        << preset;  // %3 is wanted by itself.
  }
  ExpectSame(text("%7"), Numerics::kFp32Rne, 18 * 20 * 3);
  ExpectSame(text("%3, %7"), Numerics::kFp32Rne, 18 * 20 * 3);
  ExpectSame(text("%5, %7"), Numerics::kFp32Rne, 18 * 20 * 3);
}

TEST(LayerBytes, AConvolutionLoadsAnImageWhoseChannelsLieApart) {
  const std::string q = " quant(0.5:0)";
  const auto text = [&](const std::string& outputs) {
    return "graph \"g\"\n%0 \"x\": int8[1,3,33,47]" + q + "\n%1 \"t\": int8[1,33,47,3]" + q +
           "\n%2 \"w\": int8[4,1,1,3]" + q +
           " = [1, -2, 3, 4, 5, -6, 7, 8, 9, -1, 2, 5]\n%3 \"b\": int32[4] = [3, 90, -50, 8]\n" +
           "%4 \"y\": int8[1,18,25,4]" + q + "\ninputs %0\noutputs " + outputs +
           "\n%1 = transpose(%0) {permutation = [0, 2, 3, 1]}\n"
           "%4 = conv2d(%1, %2, %3) {pads = [1, 1, 1, 1], strides = [2, 2]}\n";
  };
  for (const char* preset : {"ethos-u55-32", "davinci-310"}) {
    EXPECT_EQ(MoveCycles(Convert(text("%4"), Numerics::kFp32Rne, preset)), 0u) << preset;
    EXPECT_GT(MoveCycles(Convert(text("%4, %1"), Numerics::kFp32Rne, preset)), 0u) << preset;  // Wanted by itself.
  }
  ExpectSame(text("%4"), Numerics::kFp32Rne, 3 * 33 * 47);
}

TEST(LayerBytes, PartsOfAConcatenationAndASlice) {
  const std::string text =
      "graph \"g\"\n%0 \"x\": int8[1,30,40,6] quant(0.5:0)\n%1 \"t\": int8[1,30,40,6] quant(0.5:0)\n"
      "%2 \"wide\": int8[1,30,40,12] quant(0.5:0)\n%3 \"y\": int8[1,14,20,8] quant(0.5:0)\ninputs %0\noutputs %3\n"
      "%1 = copy(%0)\n%2 = concatenation(%1, %0) {axis = 3}\n"
      "%3 = slice(%2) {begin = [0, 1, 0, 3], strides = [1, 2, 2, 1]}\n";
  ExpectSame(text, Numerics::kFp32Rne, 30 * 40 * 6);
}

}  // namespace
}  // namespace takt::npu
