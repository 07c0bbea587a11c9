// Orders against every topological order of small problems.
#include "converter/memory/order_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace takt::memory {
namespace {

uint32_t Draw(uint32_t& state) {
  state = state * 1664525u + 1013904223u;
  return state >> 16;
}

/// Each task writes one value and reads one or two earlier ones; value 0 is the graph's input.
OrderProblem RandomProblem(uint32_t seed, int tasks) {
  uint32_t state = seed;
  OrderProblem problem;
  problem.values.push_back({1 + static_cast<int64_t>(Draw(state) % 100), true, false});
  for (int t = 0; t < tasks; ++t) {
    OrderProblem::Task task;
    for (uint32_t k = 0; k < 1 + Draw(state) % 2; ++k) {
      const int value = static_cast<int>(Draw(state) % problem.values.size());
      if (std::find(task.reads.begin(), task.reads.end(), value) != task.reads.end()) continue;
      task.reads.push_back(value);
      if (value > 0) task.after.push_back(value - 1);
    }
    task.scratch = Draw(state) % 4 == 0 ? Draw(state) % 50 : 0;
    problem.values.push_back({1 + static_cast<int64_t>(Draw(state) % 100), false, Draw(state) % 5 == 0});
    task.writes.push_back(static_cast<int>(problem.values.size()) - 1);
    if (Draw(state) % 3 == 0 && task.reads[0] != 0) {
      task.in_place.push_back(task.reads[0]);
      problem.values.back().bytes = problem.values[static_cast<size_t>(task.reads[0])].bytes;
    }
    problem.tasks.push_back(std::move(task));
  }
  return problem;
}

bool Topological(const OrderProblem& problem, const std::vector<int>& order) {
  std::vector<bool> done(problem.tasks.size());
  for (int t : order) {
    for (int before : problem.tasks[static_cast<size_t>(t)].after) {
      if (!done[static_cast<size_t>(before)]) return false;
    }
    done[static_cast<size_t>(t)] = true;
  }
  return order.size() == problem.tasks.size() && std::find(done.begin(), done.end(), false) == done.end();
}

/// Peak of an order, counted value by value: an oracle apart from the search's own simulation.
int64_t CountedPeak(const OrderProblem& problem, const std::vector<int>& order) {
  const int count = static_cast<int>(order.size());
  std::vector<int> first(problem.values.size(), count), last(problem.values.size(), -1);
  for (int at = 0; at < count; ++at) {
    const auto& task = problem.tasks[static_cast<size_t>(order[static_cast<size_t>(at)])];
    for (int v : task.writes) first[static_cast<size_t>(v)] = last[static_cast<size_t>(v)] = at;
    for (int v : task.reads) last[static_cast<size_t>(v)] = std::max(last[static_cast<size_t>(v)], at);
  }
  for (size_t v = 0; v < problem.values.size(); ++v) {
    if (problem.values[v].input) first[v] = -1;
    if (problem.values[v].output) last[v] = count - 1;
  }
  int64_t peak = 0;
  for (int at = 0; at < count; ++at) {
    const auto& task = problem.tasks[static_cast<size_t>(order[static_cast<size_t>(at)])];
    int64_t sum = task.scratch;
    for (size_t v = 0; v < problem.values.size(); ++v) {
      if (first[v] <= at && at <= last[v]) sum += problem.values[v].bytes;
    }
    const bool shared = std::any_of(task.in_place.begin(), task.in_place.end(), [&](int v) {
      return last[static_cast<size_t>(v)] == at && !problem.values[static_cast<size_t>(v)].output;
    });
    if (shared) sum -= problem.values[static_cast<size_t>(task.writes[0])].bytes;
    peak = std::max(peak, sum);
  }
  return peak;
}

int64_t BruteForce(const OrderProblem& problem) {
  std::vector<int> order(problem.tasks.size());
  std::iota(order.begin(), order.end(), 0);
  int64_t best = INT64_MAX;
  do {
    if (Topological(problem, order)) best = std::min(best, CountedPeak(problem, order));
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

TEST(OrderSearchTest, SmallOrdersAreOptimal) {
  int improved = 0;
  for (uint32_t seed = 1; seed <= 150; ++seed) {
    const OrderProblem problem = RandomProblem(seed, seed % 10 == 0 ? 8 : 2 + static_cast<int>(seed % 5));
    const std::vector<int> order = LowestPeakOrder(problem);
    ASSERT_TRUE(Topological(problem, order)) << "seed " << seed;
    EXPECT_EQ(CountedPeak(problem, order), BruteForce(problem)) << "seed " << seed;
    EXPECT_EQ(CountedPeak(problem, order), OrderPeak(problem, order)) << "seed " << seed;
    improved += std::is_sorted(order.begin(), order.end()) ? 0 : 1;
  }
  EXPECT_GT(improved, 10);
}

/// Two branches of which the second shrinks: run first, its large tensor is gone before the first's comes.
TEST(OrderSearchTest, RunsTheShrinkingBranchFirst) {
  OrderProblem problem;
  problem.values = {{10, true, false}, {100, false, false}, {5, false, true}, {100, false, false}, {1, false, true}};
  problem.tasks = {{{0}, {1}, {}, {}, 0}, {{0}, {3}, {}, {}, 0}, {{1}, {2}, {0}, {}, 0}, {{3}, {4}, {1}, {}, 0}};
  const std::vector<int> order = LowestPeakOrder(problem);
  EXPECT_EQ(OrderPeak(problem, {0, 1, 2, 3}), 210);
  EXPECT_EQ(OrderPeak(problem, order), 111);
  EXPECT_TRUE(Topological(problem, order));
}

TEST(OrderSearchTest, AGivenOrderAsGoodAsAnyIsKept) {
  OrderProblem problem;
  problem.values = {{10, true, false}, {10, false, true}, {10, false, true}};
  problem.tasks = {{{0}, {1}, {}, {}, 0}, {{0}, {2}, {}, {}, 0}};
  EXPECT_EQ(LowestPeakOrder(problem), (std::vector<int>{0, 1}));
}

TEST(OrderSearchTest, SameOrderTwiceAndTopologicalBeyondTheBudget) {
  const OrderProblem problem = RandomProblem(5, 1000);
  const std::vector<int> order = LowestPeakOrder(problem);
  EXPECT_TRUE(Topological(problem, order));
  EXPECT_EQ(order, LowestPeakOrder(problem));
  std::vector<int> given(problem.tasks.size());
  std::iota(given.begin(), given.end(), 0);
  EXPECT_LE(OrderPeak(problem, order), OrderPeak(problem, given));
}

}  // namespace
}  // namespace takt::memory
