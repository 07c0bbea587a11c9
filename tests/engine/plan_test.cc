#include "engine/plan/plan.h"

#include <gtest/gtest.h>

#include "engine/base/crc32.h"
#include "engine/base/sha256.h"
#include "tests/support/plan_builder.h"

namespace takt {
namespace {

using test::CopyChain;

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

TEST(HashTest, Sha256AndCrc32OfKnownTexts) {
  uint8_t digest[32];
  Sha256(std::as_bytes(std::span("abc", 3)), digest);
  EXPECT_EQ(digest[0], 0xba);
  EXPECT_EQ(digest[31], 0xad);
  EXPECT_EQ(Crc32(std::as_bytes(std::span("123456789", 9))), 0xcbf43926u);
}

}  // namespace
}  // namespace takt
