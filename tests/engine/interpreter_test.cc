#include "engine/core/interpreter.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/support/plan_builder.h"

namespace takt {
namespace {

using test::CopyChain;
using test::PlanSpec;

Status Check(const KernelCall& call, uint64_t& work) {
  work += call.inputs[0].size();
  return {};
}
uint64_t virtual_time;  // Of the clock; a step takes one tick.
uint64_t Now(void*) {
  return virtual_time;
}
/// Adds 1 to each byte, so that a test sees how often it ran.
void Run(const KernelCall& call) {
  ++virtual_time;
  for (uint32_t i = 0; i < call.inputs[0].size(); ++i) {
    call.outputs[0].as<int8_t>()[i] = static_cast<int8_t>(call.inputs[0].as<int8_t>()[i] + 1);
  }
}
constexpr KernelKey kKey{
    Op::kCopy, Numerics::kAny, Layout::kNeutral, {DataType::kInt8, DataType::kNone, DataType::kInt8}};
constexpr Kernel kCopy{kKey, Check, Run};
const Kernel* const kTable[] = {&kCopy};

struct Net {
  explicit Net(const PlanSpec& spec) : file(spec.Pack()) { opened = plan.Open(file.view()); }
  Status Init(size_t arena_bytes = 1024, size_t runtime_bytes = 1024) {
    arenas[0] = std::span(arena).first(arena_bytes);
    return net.Init(plan, {.arenas = arenas,
                           .runtime = std::span(runtime).first(runtime_bytes),
                           .kernels = kTable,
                           .devices = {},
                           .platform = {.clock = {Now}}});
  }
  alignas(64) std::byte arena[1024] = {};
  alignas(64) std::byte runtime[1024] = {};
  std::span<std::byte> arenas[1];
  test::PlanBytes file;
  Plan plan;
  Status opened;
  Interpreter net;
};

TEST(InterpreterTest, InvokeRunsEveryStep) {
  Net n(CopyChain(3));
  ASSERT_TRUE(n.Init().ok());
  n.net.input(0).as<int8_t>()[5] = 10;
  ASSERT_TRUE(n.net.Invoke().ok());
  EXPECT_EQ(n.net.output("y").as<int8_t>()[5], 13);
}

TEST(InterpreterTest, EverySmallerArenaIsRefusedWithTheNeed) {
  Net n(CopyChain(3));
  for (size_t k = 0; k < 64; ++k) EXPECT_EQ(n.Init(k), Status(StatusCode::kArenaTooSmall, Site::kInitArena, 64));
  for (size_t k = 0; k < 96; ++k) EXPECT_EQ(n.Init(64, k), Status(StatusCode::kArenaTooSmall, Site::kInitRuntime, 96));
  EXPECT_TRUE(n.Init(64, 96).ok());
}

TEST(InterpreterTest, AMissingKernelNamesStepAndOp) {
  PlanSpec s = CopyChain(2);
  s.steps[1] = test::Step(schema::Params::Clamp, schema::ClampParams(schema::Clamp(-1, 1)), 1);
  Net n(s);
  EXPECT_EQ(n.Init(), Status(StatusCode::kNoKernel, Site::kInitKernel, static_cast<uint32_t>(Op::kClamp), 1));
}

TEST(InterpreterTest, WorkIsBounded) {
  Net n(CopyChain(3));
  PlanOptions options;
  options.limits.work = 3 * 17;  // Of each copy: 16 elements, and 1 for the step.
  ASSERT_EQ(n.plan.Open(n.file.view(), options), Status());
  EXPECT_EQ(n.Init(), Status());
  options.limits.work = 3 * 17 - 1;
  ASSERT_EQ(n.plan.Open(n.file.view(), options), Status());
  EXPECT_EQ(n.Init(), Status(StatusCode::kLimitExceeded, Site::kInitWork, 0, 2));
}

TEST(InterpreterTest, CallsOutOfOrderAreRefused) {
  const Status order(StatusCode::kInvalidState, Site::kInvokeState);
  Net n(CopyChain(1));
  EXPECT_EQ(n.net.Invoke(), order);
  EXPECT_EQ(n.net.ResetState(), order);
  EXPECT_EQ(n.net.Step(1), Progress::kFailed);
  EXPECT_EQ(n.net.status(), order);
  n.plan = Plan();
  EXPECT_EQ(n.Init(), order);
}

TEST(InterpreterTest, StepRunsAsManyStepsAsItsBudget) {
  Net n(CopyChain(3));
  ASSERT_TRUE(n.Init().ok());
  EXPECT_EQ(n.net.Step(1), Progress::kFailed);
  ASSERT_TRUE(n.net.Begin().ok());
  EXPECT_EQ(n.net.Step(2), Progress::kMore);
  EXPECT_EQ(n.net.cursor(), 2u);
  EXPECT_EQ(n.net.Step(2), Progress::kDone);
}

TEST(InterpreterTest, CancelEndsTheRunBeforeTheNextStep) {
  Net n(CopyChain(3));
  ASSERT_TRUE(n.Init().ok());
  ASSERT_TRUE(n.net.Begin().ok());
  EXPECT_EQ(n.net.Step(1), Progress::kMore);
  n.net.Cancel();
  EXPECT_EQ(n.net.Step(1), Progress::kFailed);
  EXPECT_EQ(n.net.status(), Status(StatusCode::kCancelled, Site::kInvokeCancel, 0, 1));
}

TEST(InterpreterTest, ACancelBetweenRunsEndsTheNextOne) {
  Net n(CopyChain(3));
  ASSERT_TRUE(n.Init().ok());
  n.net.Cancel();
  EXPECT_EQ(n.net.Invoke(), Status(StatusCode::kCancelled, Site::kInvokeCancel, 0, 0));
  EXPECT_EQ(n.net.Invoke(), Status()) << "one request, one run";
  n.net.Cancel();
  n.net.ClearCancel();
  EXPECT_EQ(n.net.Invoke(), Status());
}

TEST(InterpreterTest, DeadlineStopsBeforeTheStepThatWouldStartLate) {
  Net n(CopyChain(3));
  ASSERT_TRUE(n.Init().ok());
  virtual_time = 0;
  EXPECT_EQ(n.net.Invoke(2), Status(StatusCode::kDeadlineExceeded, Site::kInvokeDeadline, 0, 2));
}

/// x -> y with a control step before; its condition is the boolean input `c`.
PlanSpec WithControl(const test::StepSpec& control) {
  PlanSpec s = CopyChain(1);
  s.arenas[0] = schema::Arena(64, 48, 16, schema::ArenaKind::activation, 0);
  s.dims.push_back(1);
  s.steps.insert(s.steps.begin(), control);
  s.tensors.push_back(schema::Tensor(32, 0, 1, 0xFFFF, schema::DataType::boolean, 1));
  s.lives = {schema::Live(0, 1, 0), schema::Live(0, 1, 1), schema::Live(0, 1, 2)};
  s.operands.push_back(2);
  s.inputs.push_back({"c", 2});
  return s;
}
test::StepSpec SkipIf(uint16_t count) {
  return test::Step(schema::Params::SkipIf, schema::SkipIfParams(count), 2, 1, 0);
}
test::StepSpec Loop(uint16_t body, uint32_t trips) {
  return test::Step(schema::Params::Loop, schema::LoopParams(body, trips), 2, 1, 0);
}

TEST(InterpreterTest, SkipIfSkipsWhenFalse) {
  Net n(WithControl(SkipIf(1)));
  ASSERT_TRUE(n.opened.ok());
  ASSERT_TRUE(n.Init().ok());
  ASSERT_TRUE(n.net.Invoke().ok());
  EXPECT_EQ(n.net.output(0).as<int8_t>()[0], 0);
  n.net.input("c").as<bool>()[0] = true;
  ASSERT_TRUE(n.net.Invoke().ok());
  EXPECT_EQ(n.net.output(0).as<int8_t>()[0], 1);
}

TEST(InterpreterTest, ALoopThatWantsMoreTripsThanItHasFails) {
  for (const uint32_t trips : {5u, 0u}) {
    Net n(WithControl(Loop(1, trips)));
    ASSERT_TRUE(n.Init().ok());
    n.net.input("c").as<bool>()[0] = true;
    ASSERT_TRUE(n.net.Begin().ok());
    EXPECT_EQ(n.net.Step(trips), Progress::kMore);
    EXPECT_EQ(n.net.Step(1), Progress::kFailed);
    EXPECT_EQ(n.net.status(), Status(StatusCode::kLimitExceeded, Site::kInvokeTrips, trips, 0));
  }
}

TEST(InterpreterTest, ALoopWhoseConditionIsFalseRunsNoTrip) {
  Net n(WithControl(Loop(1, 5)));
  ASSERT_TRUE(n.Init().ok());
  ASSERT_TRUE(n.net.Begin().ok());
  EXPECT_EQ(n.net.Step(1), Progress::kDone);
}

TEST(InterpreterTest, AWrongElementTypeGivesNoElements) {
  Net n(CopyChain(1));
  ASSERT_TRUE(n.Init().ok());
  EXPECT_EQ(n.net.input("x").as<int8_t>().size(), 16u);
  EXPECT_TRUE(n.net.input("x").as<uint8_t>().empty());
  EXPECT_TRUE(n.net.input("nobody").as<int8_t>().empty());
}

TEST(InterpreterTest, BoundBuffersShareNoMemory) {
  Net n(CopyChain(2));
  ASSERT_TRUE(n.Init().ok());
  alignas(16) std::byte buffer[32] = {};
  const Status shared(StatusCode::kInvalidArgument, Site::kInitOverlap, 0);
  EXPECT_EQ(n.net.RebindInput(0, std::span(n.arena).subspan(48, 16)), Status()) << "behind the plan's 48 bytes";
  EXPECT_EQ(n.net.RebindInput(0, std::span(n.arena).first(16)), shared);
  EXPECT_EQ(n.net.RebindInput(0, std::span(n.runtime).first(16)), shared);
  EXPECT_EQ(n.net.RebindInput(0, buffer), Status());
  EXPECT_EQ(n.net.RebindOutput(0, buffer), shared);
  EXPECT_EQ(n.net.RebindOutput(0, std::span(buffer).subspan(8, 16)).code(), StatusCode::kMisaligned);
  EXPECT_EQ(n.net.RebindOutput(0, std::span(buffer).subspan(16)), Status());
  EXPECT_EQ(n.net.RebindOutput(1, buffer), Status(StatusCode::kInvalidArgument, Site::kRebind, 1));
  EXPECT_EQ(n.net.RebindInput(0, {}), Status());
}

TEST(InterpreterTest, RebindingWaitsForTheEndOfTheRun) {
  Net n(CopyChain(2));
  ASSERT_TRUE(n.Init().ok());
  ASSERT_TRUE(n.net.Begin().ok());
  EXPECT_EQ(n.net.RebindInput(0, {}).code(), StatusCode::kInvalidState);
}

TEST(InterpreterTest, ReboundBuffersAreUsed) {
  Net n(CopyChain(2));
  ASSERT_TRUE(n.Init().ok());
  alignas(16) std::byte buffer[16] = {std::byte{7}};
  ASSERT_TRUE(n.net.RebindInput(0, buffer).ok());
  ASSERT_TRUE(n.net.Invoke().ok());
  EXPECT_EQ(n.net.output(0).as<int8_t>()[0], 9);
  EXPECT_EQ(n.net.RebindInput(0, std::span(buffer).first(8)).site(), Site::kRebind);
}

}  // namespace
}  // namespace takt
