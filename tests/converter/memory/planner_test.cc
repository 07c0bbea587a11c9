// Placements against the independent checker, and against the best of all first-fit orders where that is small enough.
#include "converter/memory/planner.h"

#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

namespace takt::memory {
namespace {

uint32_t Draw(uint32_t& state) {
  state = state * 1664525u + 1013904223u;
  return state >> 16;
}

std::vector<Buffer> RandomBuffers(uint32_t seed, size_t count) {
  std::vector<Buffer> buffers;
  uint32_t state = seed;
  for (size_t i = 0; i < count; ++i) {
    const auto first = static_cast<int32_t>(Draw(state) % count);
    const auto length = static_cast<int32_t>(Draw(state) % 4);
    buffers.push_back({1 + static_cast<int64_t>(Draw(state) % 1000), first, first + length});
  }
  return buffers;
}

TEST(PlannerTest, PlacementsAreProvenAndReachNoLessThanTheBound) {
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    const auto buffers = RandomBuffers(seed, 2 + seed % 30);
    const Placement placement = Place(buffers, 16);
    EXPECT_EQ(CheckPlacement(buffers, placement, 16), "") << "seed " << seed;
    EXPECT_GE(placement.peak_bytes, placement.lower_bound_bytes);
  }
}

TEST(PlannerTest, SamePlacementTwice) {
  const auto buffers = RandomBuffers(7, 40);
  EXPECT_EQ(Place(buffers, 16).offsets, Place(buffers, 16).offsets);
}

TEST(PlannerTest, CheckerFindsAnOverlap) {
  const std::vector<Buffer> buffers = {{16, 0, 1}, {16, 1, 2}};
  Placement placement;
  placement.offsets = {0, 0};
  placement.peak_bytes = 16;
  EXPECT_NE(CheckPlacement(buffers, placement, 16), "");
  placement.offsets = {0, 16};
  EXPECT_NE(CheckPlacement(buffers, placement, 16), "");  // Ends above the peak.
  placement.peak_bytes = 32;
  EXPECT_EQ(CheckPlacement(buffers, placement, 16), "");
}

TEST(PlannerTest, ChainReachesTheBound) {
  const std::vector<Buffer> buffers = {{100, 0, 0}, {300, 0, 1}, {50, 1, 2}, {200, 2, 3}};
  const Placement placement = Place(buffers, 1);
  EXPECT_EQ(placement.peak_bytes, placement.lower_bound_bytes);
  EXPECT_EQ(placement.peak_bytes, 400);
}

}  // namespace
}  // namespace takt::memory
