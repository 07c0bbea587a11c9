#include <gtest/gtest.h>

#include "engine/base/crc32.h"
#include "engine/base/sha256.h"
#include "engine/plan/plan.h"
#include "tests/support/plan_builder.h"

namespace takt {
namespace {

using test::CopyChain;
using test::PlanSpec;

schema::Tensor Bytes16(uint32_t offset, uint16_t strides = 0xFFFF) {
  return schema::Tensor(offset, 0, 0, strides, schema::DataType::int8, 1);
}

Site SiteOf(const PlanSpec& spec) {
  Plan plan;
  auto file = spec.Pack();
  return plan.Open(file.view()).site();
}

TEST(PlanTest, OpensAChainOfCopies) {
  auto file = CopyChain(3).Pack();
  Plan plan;
  ASSERT_TRUE(plan.Open(file.view()).ok());
  EXPECT_EQ(plan.step_count(), 3u);
  EXPECT_EQ(plan.tensor_bytes(1), 16u);
  EXPECT_EQ(plan.FindOutput("y"), 0u);
  EXPECT_FALSE(plan.FindInput("z").has_value());
}

TEST(PlanTest, EveryTruncationIsRejected) {
  auto file = CopyChain(2).Pack();
  for (size_t n = 0; n < file.view().size(); ++n) EXPECT_FALSE(Plan().Open(file.view().first(n)).ok()) << n;
}

TEST(PlanTest, EveryByteBeforeTheTrailerIsHashed) {
  auto file = CopyChain(2).Pack();
  for (size_t i = 0; i + 128 < file.bytes().size(); ++i) {
    file.bytes()[i] ^= 1;
    EXPECT_EQ(Plan().Open(file.view()).code(), StatusCode::kHashMismatch) << i;
    file.bytes()[i] ^= 1;
  }
}

TEST(PlanTest, AnotherMajorVersionIsRefused) {
  PlanSpec s = CopyChain(1);
  s.major = 9;
  EXPECT_EQ(SiteOf(s), Site::kPlanVersion);
}

TEST(PlanTest, ArenaAlignmentIsAPowerOfTwo) {
  PlanSpec s = CopyChain(1);
  s.arenas[0] = schema::Arena(32, 32, 24, schema::ArenaKind::activation, 0);
  EXPECT_EQ(SiteOf(s), Site::kPlanArena);
}

TEST(PlanTest, ConstantsLieInTheSegment) {
  PlanSpec s = CopyChain(1);
  s.constants = {schema::Constant(16, 16, 0, schema::Layout::neutral, 0, 0)};
  s.segment.resize(31);
  EXPECT_EQ(SiteOf(s), Site::kPlanConstant);
}

TEST(PlanTest, TensorBytesDoNotOverflow) {
  PlanSpec s = CopyChain(1);
  s.dims = {65536, 65536};
  for (auto& t : s.tensors) t = schema::Tensor(0, 0, 0, 0xFFFF, schema::DataType::int8, 2);
  EXPECT_EQ(SiteOf(s), Site::kPlanTensorShape);
}

TEST(PlanTest, TensorsLieInTheirArena) {
  PlanSpec s = CopyChain(1);
  s.tensors[1] = Bytes16(17);
  EXPECT_EQ(SiteOf(s), Site::kPlanTensorBounds);
}

TEST(PlanTest, LivesEndInsideThePlan) {
  PlanSpec s = CopyChain(1);
  s.lives[1] = schema::Live(0, 1, 1);
  EXPECT_EQ(SiteOf(s), Site::kPlanTensorOrder);
}

TEST(PlanTest, StepsHaveTheirOpsArity) {
  PlanSpec s = CopyChain(2);
  s.steps[0].inputs = 2;
  EXPECT_EQ(SiteOf(s), Site::kPlanStepArity);
}

TEST(PlanTest, OperandsAreTensors) {
  PlanSpec s = CopyChain(1);
  s.operands[1] = 2;
  EXPECT_EQ(SiteOf(s), Site::kPlanStepOperand);
}

TEST(PlanTest, OperandsAreLiveWhenUsed) {
  PlanSpec s = CopyChain(3);
  s.operands[3] = 0;
  EXPECT_EQ(SiteOf(s), Site::kPlanStepLive);
}

TEST(PlanTest, OnlyStridedOpsTakeStridedViews) {
  PlanSpec s = CopyChain(1);
  s.strides = {1};
  s.tensors[0] = Bytes16(0, 0);
  s.steps[0].tag = schema::Params::Clamp;
  EXPECT_EQ(SiteOf(s), Site::kPlanStepStride);
}

TEST(PlanTest, CopyIsNeverInPlace) {
  PlanSpec s = CopyChain(1);
  s.tensors[1] = Bytes16(0);
  s.lives[1] = schema::Live(0, 0, 0);
  EXPECT_EQ(SiteOf(s), Site::kPlanStepInPlace);
}

TEST(PlanTest, InPlaceNeedsASharedRoot) {
  PlanSpec s = CopyChain(1);
  s.steps[0].tag = schema::Params::Clamp;
  s.tensors[1] = Bytes16(0);
  EXPECT_EQ(SiteOf(s), Site::kPlanOverlap);
  s.lives[1] = schema::Live(0, 0, 0);
  EXPECT_EQ(SiteOf(s), Site::kNone);
}

TEST(PlanTest, OutputsLiveToTheEnd) {
  PlanSpec s = CopyChain(2);
  s.outputs[0].tensor = 0;
  EXPECT_EQ(SiteOf(s), Site::kPlanBinding);
}

TEST(PlanTest, StatesAreTensors) {
  PlanSpec s = CopyChain(1);
  s.states = {schema::State(7, 0xFFFF)};
  EXPECT_EQ(SiteOf(s), Site::kPlanState);
}

TEST(HashTest, Sha256AndCrc32OfKnownTexts) {
  uint8_t digest[32];
  Sha256(std::as_bytes(std::span("abc", 3)), digest);
  EXPECT_EQ(digest[0], 0xba);
  EXPECT_EQ(digest[31], 0xad);
  EXPECT_EQ(Crc32(std::as_bytes(std::span("123456789", 9))), 0xcbf43926u);
}

}  // namespace
}  // namespace takt
