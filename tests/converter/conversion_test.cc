// The conversion as a whole: repeatable, and never more than a plan or diagnostics.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <stdexcept>

#include "converter/backend/convert.h"
#include "converter/backend/plan_writer.h"
#include "converter/backend/target.h"
#include "converter/ir/text.h"
#include "engine/core/interpreter.h"
#include "ports/reference/kernels.h"
#include "tests/converter/model_files.h"

namespace takt {
namespace {

TEST(Conversion, TwiceGivesTheSameBytes) {
  int converted = 0;
  for (const std::string& path : test::ModelFiles()) {
    const std::vector<uint8_t> model = test::ReadBytes(path);
    for (const Numerics numerics : {Numerics::kFp32Rne, Numerics::kTflite}) {
      ConvertOptions options;
      options.numerics = numerics;
      options.debug = true;
      const Conversion first = ConvertTflite(model, path, options);
      EXPECT_EQ(first.plan.empty(), !first.diagnostics.ok()) << path;
      EXPECT_EQ(first.plan, ConvertTflite(model, path, options).plan) << path;
      converted += !first.plan.empty();
    }
  }
  EXPECT_GT(converted, 0);
}

TEST(Conversion, ThePlanStatesTheWorkThatInitCounts) {
  const Conversion made = ConvertTflite(test::ReadBytes(test::kFashion), "fashion", {});
  ASSERT_TRUE(made.diagnostics.ok());
  std::vector<std::max_align_t> file(made.plan.size() / sizeof(std::max_align_t) + 1);
  std::memcpy(file.data(), made.plan.data(), made.plan.size());
  const auto bytes = std::as_bytes(std::span(file)).first(made.plan.size());
  for (const bool enough : {true, false}) {
    Plan plan;
    ASSERT_TRUE(plan.Open(bytes).ok());
    PlanOptions options;
    options.limits.work = plan.limits().work - (enough ? 0 : 1);
    EXPECT_EQ(plan.Open(bytes, options).ok(), enough);
    if (!enough) continue;
    Requirements need;
    ASSERT_TRUE(ComputeRequirements(plan, reference::AllKernels(), need).ok());
    struct alignas(64) Block {
      std::byte bytes[64];
    };
    std::vector<Block> arena(need.arenas[0].bytes / 64 + 1);
    std::vector<Block> runtime(need.runtime.bytes / 64 + 1);
    const std::span<std::byte> arenas[] = {std::as_writable_bytes(std::span(arena))};
    InitOptions init;
    init.arenas = arenas;
    init.runtime = std::as_writable_bytes(std::span(runtime));
    init.kernels = reference::AllKernels();
    Interpreter net;
    EXPECT_TRUE(net.Init(plan, init).ok());
  }
}

TEST(Conversion, StepsWithoutAKernelAreNamed) {
  std::string error;
  auto graph = ir::ParseGraph(R"(graph "g"
%0 "in": uint32[4]
%1 "out": uint32[4]
inputs %0
outputs %1
%1 = pad(%0) "PAD" {after = [0], before = [0]} from [5]
)",
                              error);
  ASSERT_TRUE(graph.has_value()) << error;
  const Conversion made = ConvertGraph(std::move(*graph), {}, {});
  ASSERT_EQ(made.diagnostics.all().size(), 1u);
  EXPECT_EQ(made.diagnostics.all()[0].ToString().find(
                "g:5(PAD): error: has no kernel: the reference port does not run pad of uint32 to uint32"),
            0u)
      << made.diagnostics.all()[0].ToString();
}

TEST(Conversion, GraphsThatDoNotVerifyAreErrors) {
  ir::Graph graph;
  graph.name = "g";
  graph.outputs = {3};
  const Conversion made = ConvertGraph(std::move(graph), {}, {});
  EXPECT_FALSE(made.diagnostics.ok());
  EXPECT_TRUE(made.plan.empty());
}

TEST(Conversion, ExceptionsBecomeErrors) {
  ConvertOptions options;
  options.on_stage = [](const std::string&, const ir::Graph&) { throw std::runtime_error("boom"); };
  const Conversion made = ConvertTflite(test::ReadBytes(test::kFashion), "fashion", options);
  ASSERT_FALSE(made.diagnostics.ok());
  EXPECT_NE(made.diagnostics.all().back().message.find("boom"), std::string::npos);
}

TEST(PlanWriter, IndicesThatDoNotFitAreErrors) {
  ir::Graph graph;
  graph.name = "g";
  for (const char* name : {"in", "out"}) {
    ir::Tensor tensor;
    tensor.name = name;
    tensor.type = DataType::kInt8;
    tensor.dims = {1};
    graph.AddTensor(tensor);
  }
  graph.inputs = {0};
  graph.outputs = {1};
  ir::Node node;
  node.op = Op::kCopy;
  node.inputs = {0};
  node.outputs = {1};
  graph.nodes = {node};
  backend::StepSpec step;
  step.op = Op::kCopy;
  step.params = {0};
  step.inputs = {0};
  step.outputs = {1};
  step.node = 0;
  const std::vector<backend::StepSpec> steps(40000, step);
  memory::Liveness liveness;
  liveness.tensors = {{0, 0, 39999, 0, 0}, {1, 0, 39999, 1, 0}};
  memory::Placement placement;
  placement.offsets = {0, 16};
  Diagnostics diagnostics;
  EXPECT_TRUE(backend::WritePlan({graph, steps, liveness, placement, {}, *FindTarget("host")}, diagnostics).empty());
  ASSERT_EQ(diagnostics.all().size(), 1u);
  EXPECT_EQ(diagnostics.all()[0].ToString(),
            "g: error: needs 80000 operands; a plan has at most 65535 (split the model)");
}

}  // namespace
}  // namespace takt
