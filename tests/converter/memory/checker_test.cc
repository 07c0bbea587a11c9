// The checkers find each kind of wrong plan.
#include "converter/memory/checker.h"

#include <gtest/gtest.h>

#include "converter/memory/schedule.h"

namespace takt::memory {
namespace {

using ir::TensorId;
using testing::Test;

bool Contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

TEST(CheckPlacementTest, FindsEachViolation) {
  const std::vector<Buffer> buffers = {{16, 0, 1}, {16, 1, 2}};
  Placement good;
  good.offsets = {0, 16};
  good.peak_bytes = 32;
  good.lower_bound_bytes = 32;
  EXPECT_EQ(CheckPlacement(buffers, good, 16), "");

  Placement bad = good;
  bad.offsets = {0, 0};
  EXPECT_TRUE(Contains(CheckPlacement(buffers, bad, 16), "overlap"));
  bad = good, bad.offsets = {0, 32};
  EXPECT_TRUE(Contains(CheckPlacement(buffers, bad, 16), "above the peak"));
  bad = good, bad.offsets = {-16, 16};
  EXPECT_TRUE(Contains(CheckPlacement(buffers, bad, 16), "not aligned"));
  bad = good, bad.offsets = {8, 24}, bad.peak_bytes = 40;
  EXPECT_TRUE(Contains(CheckPlacement(buffers, bad, 16), "not aligned"));
  bad = good, bad.offsets = {0};
  EXPECT_TRUE(Contains(CheckPlacement(buffers, bad, 16), "one offset"));
  bad = good, bad.lower_bound_bytes = 48;
  EXPECT_TRUE(Contains(CheckPlacement(buffers, bad, 16), "below its lower bound"));
}

/// input -> clamp -> a; a -> softmax -> b; a, b -> add -> output, and the memory plan of it.
class CheckSharingTest : public Test {
 protected:
  void SetUp() override {
    input_ = AddTensor("input");
    a_ = AddTensor("a");
    b_ = AddTensor("b");
    output_ = AddTensor("output");
    graph_.inputs = {input_};
    graph_.outputs = {output_};
    AddStep(Op::kMaxPool2d, {input_}, a_);
    AddStep(Op::kClamp, {a_}, b_);
    AddStep(Op::kAdd, {a_, b_}, output_);
    Plan();
    EXPECT_EQ(Check(), "");
  }

  TensorId AddTensor(const char* name) {
    ir::Tensor tensor;
    tensor.name = name;
    tensor.type = DataType::kInt8;
    tensor.dims = {1, 2, 2, 8};
    return graph_.AddTensor(std::move(tensor));
  }
  void AddStep(Op op, std::vector<TensorId> inputs, TensorId output) {
    backend::StepSpec step;
    step.op = op;
    step.inputs = std::move(inputs);
    step.outputs = {output};
    steps_.push_back(std::move(step));
  }
  void Plan() {
    liveness_ = ComputeLiveness(graph_, steps_);
    placement_ = Place(liveness_.buffers, 16);
  }
  std::string Check() const { return CheckSharing(graph_, steps_, liveness_, placement_); }
  Liveness::Entry& Entry(TensorId id) {
    for (Liveness::Entry& entry : liveness_.tensors) {
      if (entry.tensor == id) return entry;
    }
    ADD_FAILURE() << "tensor " << id << " is not planned";
    return liveness_.tensors[0];
  }

  ir::Graph graph_;
  std::vector<backend::StepSpec> steps_;
  Liveness liveness_;
  Placement placement_;
  TensorId input_ = -1, a_ = -1, b_ = -1, output_ = -1;
};

TEST_F(CheckSharingTest, AnInPlaceStepOverATensorThatIsReadLater) {
  Entry(b_).buffer = Entry(a_).buffer;
  EXPECT_TRUE(Contains(Check(), "step 2 reads 'a'"));
}

TEST_F(CheckSharingTest, AnInPlaceStepOfAnOpThatMayNot) {
  Entry(a_).buffer = Entry(input_).buffer;
  EXPECT_TRUE(Contains(Check(), "step 0 writes 'a' over its input 'input'"));
}

TEST_F(CheckSharingTest, AnInPlaceStepAtAnotherOffset) {
  Entry(output_).buffer = Entry(b_).buffer;
  Entry(output_).offset = 16;
  EXPECT_TRUE(Contains(Check(), "step 2 writes 'output' over its input"));
}

TEST_F(CheckSharingTest, AnOutputThatIsOverwritten) {
  graph_.outputs = {a_, output_};
  Plan();
  EXPECT_EQ(Check(), "");
  Entry(output_).buffer = Entry(a_).buffer;
  EXPECT_TRUE(Contains(Check(), "output 'a' is overwritten"));
}

TEST_F(CheckSharingTest, AViewOfAnotherTensorsMemory) {
  graph_.tensor(b_).view = ir::View{a_, 0, {}};  // As if b were a reshape of a, but placed elsewhere.
  steps_.erase(steps_.begin() + 1);
  Plan();
  EXPECT_EQ(Check(), "");
  EXPECT_EQ(Entry(a_).buffer, Entry(b_).buffer);
  Entry(b_).offset = 64;
  EXPECT_TRUE(Contains(Check(), "reads 'b'"));
}

TEST_F(CheckSharingTest, ScratchOverAnOperand) {
  steps_[1].scratch = AddTensor("scratch");
  Plan();
  EXPECT_EQ(Check(), "");
  EXPECT_EQ(Entry(steps_[1].scratch).first, 1);
  EXPECT_EQ(Entry(steps_[1].scratch).last, 1);
  Entry(steps_[1].scratch).buffer = Entry(a_).buffer;
  EXPECT_TRUE(Contains(Check(), "step 1 writes 'scratch' over its input 'a'"));
}

/// A job that makes x from `input`, while a and b are computed; then the sum as before.
class JobInFlight : public CheckSharingTest {
 protected:
  void SetUp() override {
    CheckSharingTest::SetUp();
    other_ = AddTensor("other");
    x_ = AddTensor("x");
    graph_.inputs = {input_, other_};
    graph_.outputs = {output_, x_};
    steps_[0].inputs = {other_};
    backend::StepSpec job;
    job.op = Op::kSubmit, job.params = {0, 0, 0, 0}, job.inputs = {input_}, job.outputs = {x_};
    steps_.insert(steps_.begin(), job);
    job.op = Op::kWait;
    steps_.insert(steps_.begin() + 3, job);
    Plan();
    EXPECT_EQ(Check(), "");
  }
  TensorId other_ = -1, x_ = -1;
};

TEST_F(JobInFlight, ItsMemoryLivesFromSubmitToWait) {
  for (const TensorId id : {input_, x_}) {
    EXPECT_EQ(Entry(id).first, 0);
    EXPECT_GE(Entry(id).last, 3);
  }
}

TEST_F(JobInFlight, AStepWritesOverWhatItReads) {
  Entry(a_).buffer = Entry(input_).buffer;
  steps_[3].inputs.clear();  // Nothing reads the input again.
  EXPECT_TRUE(Contains(Check(), "step 1 writes 'a' over memory of a job in flight"));
}

TEST_F(JobInFlight, AStepWritesOverWhatItWrites) {
  Entry(b_).buffer = Entry(x_).buffer;
  EXPECT_TRUE(Contains(Check(), "step 2 writes 'b' over memory of a job in flight"));
}

TEST_F(JobInFlight, AStepReadsWhatItWrites) {
  steps_[2].inputs = {x_};
  EXPECT_TRUE(Contains(Check(), "step 2 reads 'x', which a job in flight writes"));
  std::swap(steps_[2], steps_[3]);
  EXPECT_EQ(Check(), "");
}

TEST_F(CheckSharingTest, StepsOutOfOrder) {
  std::swap(steps_[0], steps_[1]);
  EXPECT_TRUE(Contains(Check(), "step 0 reads 'a'"));
}

TEST_F(CheckSharingTest, SchedulingKeepsReadersBehindWriters) {
  const auto scheduled = ScheduleSteps(graph_, steps_);
  ASSERT_EQ(scheduled.size(), 3u);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(scheduled[i].op, steps_[i].op);
}

}  // namespace
}  // namespace takt::memory
