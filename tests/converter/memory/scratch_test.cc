// Kernels' scratch becomes tensors of the plan.
#include "converter/backend/scratch.h"

#include <gtest/gtest.h>

#include "converter/backend/step_call.h"
#include "converter/memory/liveness.h"

namespace takt::backend {
namespace {

/// One byte for each element of the output.
KernelNeed OneByteAnElement(const KernelCall& call) {
  return {.scratch = call.outputs[0].size(), .persistent = 8};
}

class ScratchTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"x", "y"}) {
      ir::Tensor tensor;
      tensor.name = name;
      tensor.type = DataType::kInt8;
      tensor.dims = {2, 20};
      graph_.AddTensor(std::move(tensor));
    }
    graph_.inputs = {0};
    graph_.outputs = {1};
    ir::Node node;
    node.name = "clamp_7";
    node.sources = {7};
    graph_.nodes.push_back(node);
    StepSpec step;
    step.op = Op::kClamp;
    step.inputs = {0};
    step.outputs = {1};
    step.node = 0;
    steps_.push_back(step);
    kernel_.key.op = Op::kClamp;
    kernel_.key.types[0] = kernel_.key.types[2] = DataType::kInt8;
  }

  void Add() {
    const Kernel* const table[] = {&kernel_};
    AddScratch(graph_, steps_, table);
  }

  ir::Graph graph_;
  std::vector<StepSpec> steps_;
  Kernel kernel_ = {};
};

TEST_F(ScratchTest, LivesInTheArenaDuringItsStep) {
  kernel_.need = OneByteAnElement;
  Add();
  ASSERT_NE(steps_[0].scratch, ir::kNoTensor);
  EXPECT_EQ(graph_.tensor(steps_[0].scratch).byte_size(), 40);
  const memory::Liveness liveness = memory::ComputeLiveness(graph_, steps_);
  ASSERT_EQ(liveness.tensors.size(), 3u);
  EXPECT_EQ(memory::FindPeakLoad(liveness.buffers, 16).bytes, 3 * 48);
}

TEST_F(ScratchTest, NoneIsGivenToAKernelThatNeedsNone) {
  Add();
  EXPECT_EQ(steps_[0].scratch, ir::kNoTensor);
}

TEST_F(ScratchTest, AStepThatNoRowRunsIsNamed) {
  kernel_.key.types[2] = DataType::kFloat32;
  const Kernel* const table[] = {&kernel_};
  Diagnostics diagnostics;
  CheckSteps(graph_, steps_, table, diagnostics);
  ASSERT_EQ(diagnostics.all().size(), 1u);
  EXPECT_EQ(diagnostics.all()[0].where.node, 7);
  EXPECT_NE(diagnostics.all()[0].message.find("does not run clamp of int8 to int8"), std::string::npos);
}

}  // namespace
}  // namespace takt::backend
