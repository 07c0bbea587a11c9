// What the compiler decides by: what steps cost on the host.
#include <gtest/gtest.h>

#include <string>

#include "converter/backend/step_builder.h"
#include "converter/ir/text.h"
#include "converter/npu/compiler.h"
#include "converter/npu/layer.h"
#include "tests/npu/npu_fixture.h"

namespace takt::npu {
namespace {

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
  return {HostCycles(graph, steps.at(0), machine), MakeLayer(graph, steps.at(0), reason).has_value()};
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

}  // namespace
}  // namespace takt::npu
