#include "engine/core/scrubber.h"

#include <gtest/gtest.h>

#include "engine/base/crc32.h"
#include "tests/support/plan_builder.h"

namespace takt {
namespace {

/// A plan with three constants of 16, 0 and 40 bytes at its end.
test::PlanBytes WithConstants() {
  test::PlanSpec spec = test::CopyChain(1);
  for (const size_t bytes : {size_t{16}, size_t{0}, size_t{40}}) {
    std::vector<uint8_t> constant(bytes, static_cast<uint8_t>(bytes));
    spec.AddConstant(constant);
  }
  return spec.Pack();
}

TEST(Crc32, GoesOnWhereItStopped) {
  const std::string_view text = "123456789";
  const auto bytes = std::as_bytes(std::span(text));
  EXPECT_EQ(Crc32(bytes), 0xCBF43926u);
  for (size_t i = 0; i <= bytes.size(); ++i) EXPECT_EQ(Crc32(bytes.subspan(i), Crc32(bytes.first(i))), 0xCBF43926u);
}

TEST(ConstantScrubber, WholeConstantsPassAtAnyBudget) {
  test::PlanBytes file = WithConstants();
  Plan plan;
  ASSERT_EQ(plan.Open(file.view()), Status());
  for (const uint64_t budget : {uint64_t{1}, uint64_t{7}, uint64_t{16}, uint64_t{1000}}) {
    ConstantScrubber scrubber(plan);
    for (uint64_t i = 0; i < 300; ++i) ASSERT_EQ(scrubber.Scrub(budget), Status());
    EXPECT_GE(scrubber.rounds(), 300 * budget / (56 + 2 * budget)) << budget;
  }
}

TEST(ConstantScrubber, EachFlippedBitIsFoundWithinARound) {
  test::PlanBytes file = WithConstants();
  Plan plan;
  ASSERT_EQ(plan.Open(file.view()), Status());
  for (const uint32_t constant : {0u, 2u}) {
    const auto bytes = plan.constant(constant).bytes;
    auto* data = const_cast<std::byte*>(bytes.data());
    for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
      data[bit / 8] ^= std::byte{1} << bit % 8;
      ConstantScrubber scrubber(plan);
      Status found;
      while (scrubber.rounds() == 0 && found.ok()) found = scrubber.Scrub(5);
      EXPECT_EQ(found, Status(StatusCode::kHashMismatch, Site::kPlanConstantCrc, constant)) << bit;
      while (scrubber.rounds() == 0) EXPECT_EQ(scrubber.Scrub(5), Status()) << "behind it, all is well";
      data[bit / 8] ^= std::byte{1} << bit % 8;
    }
  }
}

}  // namespace
}  // namespace takt
