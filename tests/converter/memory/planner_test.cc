// Placements against the independent checker, and against the true optimum where that is small enough.
#include "converter/memory/planner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "converter/memory/checker.h"
#include "converter/memory/exact_search.h"

namespace takt::memory {
namespace {

uint32_t Draw(uint32_t& state) {
  state = state * 1664525u + 1013904223u;
  return state >> 16;
}

std::vector<Buffer> RandomBuffers(uint32_t seed, size_t count, uint32_t longest = 4) {
  std::vector<Buffer> buffers;
  uint32_t state = seed;
  for (size_t i = 0; i < count; ++i) {
    const auto first = static_cast<int32_t>(Draw(state) % count);
    const auto length = static_cast<int32_t>(Draw(state) % longest);
    buffers.push_back({1 + static_cast<int64_t>(Draw(state) % 1000), first, first + length});
  }
  return buffers;
}

/// The lowest peak: each buffer at every multiple of `unit` below the sum of all.
int64_t BruteForce(const std::vector<Buffer>& buffers, int64_t unit, std::vector<int64_t>& offsets, int64_t best) {
  const size_t i = offsets.size();
  if (i == buffers.size()) {
    int64_t peak = 0;
    for (size_t k = 0; k < i; ++k) peak = std::max(peak, offsets[k] + buffers[k].bytes);
    return peak;
  }
  for (int64_t at = 0; at + buffers[i].bytes < best; at += unit) {
    bool free = true;
    for (size_t k = 0; k < i; ++k) {
      const bool together = buffers[k].first <= buffers[i].last && buffers[i].first <= buffers[k].last;
      free = free && (!together || at >= offsets[k] + buffers[k].bytes || offsets[k] >= at + buffers[i].bytes);
    }
    if (!free) continue;
    offsets.push_back(at);
    best = std::min(best, BruteForce(buffers, unit, offsets, best));
    offsets.pop_back();
  }
  return best;
}

int64_t Sum(const std::vector<Buffer>& buffers) {
  int64_t sum = 0;
  for (const Buffer& b : buffers) sum += b.bytes;
  return sum;
}

TEST(PlannerTest, SmallPlacementsAreOptimal) {
  for (uint32_t seed = 1; seed <= 400; ++seed) {
    std::vector<Buffer> buffers = RandomBuffers(seed, 2 + seed % 5, 5);
    for (Buffer& b : buffers) b.bytes = 1 + b.bytes % 6;
    std::vector<int64_t> offsets;
    const Placement placement = Place(buffers, 1);
    EXPECT_EQ(placement.peak_bytes, BruteForce(buffers, 1, offsets, Sum(buffers) + 1)) << "seed " << seed;
    EXPECT_TRUE(placement.optimal);
  }
}

/// Without the heuristics' help, and without a bound that it could stop at.
TEST(PlannerTest, ExactSearchAloneIsOptimal) {
  for (uint32_t seed = 1; seed <= 400; ++seed) {
    std::vector<Buffer> buffers = RandomBuffers(seed, 2 + seed % 5, 5);
    for (Buffer& b : buffers) b.bytes = 1 + b.bytes % 6;
    Placement placement;
    placement.peak_bytes = Sum(buffers) + 1;
    EXPECT_TRUE(SearchExact(buffers, 0, 1'000'000, placement.peak_bytes, placement.offsets));
    EXPECT_EQ(CheckPlacement(buffers, placement, 1), "") << "seed " << seed;
    std::vector<int64_t> offsets;
    EXPECT_EQ(placement.peak_bytes, BruteForce(buffers, 1, offsets, Sum(buffers) + 1)) << "seed " << seed;
  }
}

TEST(PlannerTest, ExactSearchStopsAtItsBudget) {
  const std::vector<Buffer> buffers = RandomBuffers(3, 200, 40);
  int64_t peak = Sum(buffers) + 1;
  std::vector<int64_t> offsets;
  EXPECT_FALSE(SearchExact(buffers, 0, 1000, peak, offsets));
}

/// Four bytes live at every step, but no placement needs fewer than five.
TEST(PlannerTest, ProvesThatTheBoundCantBeReached) {
  const std::vector<Buffer> buffers = {{2, 0, 2}, {2, 0, 1}, {1, 2, 3}, {1, 2, 4}, {1, 3, 4},
                                       {1, 3, 3}, {2, 4, 6}, {2, 5, 5}, {2, 6, 6}};
  const Placement placement = Place(buffers, 1);
  std::vector<int64_t> offsets;
  EXPECT_EQ(BruteForce(buffers, 1, offsets, Sum(buffers) + 1), 5);
  EXPECT_EQ(placement.peak_bytes, 5);
  EXPECT_EQ(placement.lower_bound_bytes, 4);
  EXPECT_TRUE(placement.optimal);
}

TEST(PlannerTest, PlacementsAreProvenAndReachNoLessThanTheBound) {
  int optimal = 0;
  for (uint32_t seed = 1; seed <= 100; ++seed) {
    const auto buffers = RandomBuffers(seed, 2 + seed % 60);
    const Placement placement = Place(buffers, 16);
    EXPECT_EQ(CheckPlacement(buffers, placement, 16), "") << "seed " << seed;
    EXPECT_EQ(placement.lower_bound_bytes, FindPeakLoad(buffers, 16).bytes);
    optimal += placement.optimal ? 1 : 0;
  }
  EXPECT_GE(optimal, 95);
}

TEST(PlannerTest, SamePlacementTwice) {
  const auto buffers = RandomBuffers(7, 40);
  EXPECT_EQ(Place(buffers, 16).offsets, Place(buffers, 16).offsets);
}

TEST(PlannerTest, PeakLoadIsTheEarliestLargestSum) {
  const PeakLoad peak = FindPeakLoad({{100, 0, 0}, {300, 0, 1}, {50, 1, 2}, {200, 2, 3}, {150, 3, 4}, {250, 4, 4}}, 1);
  EXPECT_EQ(peak.bytes, 400);
  EXPECT_EQ(peak.step, 0);
  EXPECT_EQ(FindPeakLoad({{1, 3, 3}, {17, 3, 4}}, 16).bytes, 48);
  EXPECT_EQ(FindPeakLoad({}, 16).bytes, 0);
}

/// A chain with long skips, as large networks have; bounded work whatever the machine.
TEST(PlannerTest, TwoThousandTensors) {
  const auto buffers = RandomBuffers(3, 2000, 40);
  const auto begin = std::chrono::steady_clock::now();
  const Placement placement = Place(buffers, 16);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  EXPECT_EQ(CheckPlacement(buffers, placement, 16), "");
  RecordProperty("seconds", std::to_string(seconds.count()));
  RecordProperty("gap", std::to_string(placement.peak_bytes - placement.lower_bound_bytes));
}

}  // namespace
}  // namespace takt::memory
