#include "engine/base/status.h"

#include <gtest/gtest.h>

#include <string>

#include "engine/core/op.h"

namespace takt {
namespace {

Status FailsAt(uint16_t step) {
  return Status(StatusCode::kArenaTooSmall, Site::kOpOperands, 16000).AtStep(step);
}

Status Tries(uint16_t step, bool& reached) {
  TAKT_TRY(FailsAt(step));
  reached = true;
  return {};
}

TEST(Status, DefaultIsOkAndStaysSoAtAStep) {
  EXPECT_TRUE(Status().ok());
  EXPECT_EQ(Status().AtStep(3), Status());
}

TEST(Status, TryReturnsTheFailureWithItsNumbers) {
  bool reached = false;
  const Status status = Tries(7, reached);
  EXPECT_FALSE(reached);
  EXPECT_EQ(status.code(), StatusCode::kArenaTooSmall);
  EXPECT_EQ(status.step(), 7);
  EXPECT_EQ(status.detail(), 16000u);
  EXPECT_EQ(std::string(StatusCodeName(status.code())), "arena too small");
}

TEST(OpTable, EveryKernelOpHasARowAndControlStepsHaveNone) {
  for (int op = static_cast<int>(kFirstKernelOp); op < static_cast<int>(Op::kPlanOpEnd); ++op) {
    EXPECT_NE(FindOpInfo(static_cast<Op>(op)), nullptr) << OpName(static_cast<Op>(op));
    EXPECT_NE(std::string(OpName(static_cast<Op>(op))), "?");
  }
  EXPECT_EQ(FindOpInfo(Op::kLoop), nullptr);
  EXPECT_EQ(FindOpInfo(Op::kReshape), nullptr);
  EXPECT_EQ(FindOpInfo(Op::kPlanOpEnd), nullptr);
}

}  // namespace
}  // namespace takt
