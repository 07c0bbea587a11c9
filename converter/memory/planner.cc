#include "converter/memory/planner.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

#include "converter/memory/exact_search.h"

namespace takt::memory {
namespace {

using Order = std::vector<size_t>;
// Bounds of the searches, in visits of a neighbour (a time of the exact search): what 0.1 s do on a laptop of 2020.
constexpr int64_t kHillClimbBudget = 10'000'000;
constexpr int kHillClimbTrials = 2000;
constexpr int64_t kExactBudget = 10'000'000;

/// First-fit placements of the same buffers in many orders.
class FirstFit {
 public:
  explicit FirstFit(const std::vector<Buffer>& buffers) : buffers_(buffers), neighbours_(buffers.size()) {
    Order by_first(buffers.size());
    std::iota(by_first.begin(), by_first.end(), size_t{0});
    std::stable_sort(by_first.begin(), by_first.end(),
                     [&](size_t a, size_t b) { return buffers[a].first < buffers[b].first; });
    for (size_t i = 0; i < by_first.size(); ++i) {
      for (size_t j = i + 1; j < by_first.size() && buffers[by_first[j]].first <= buffers[by_first[i]].last; ++j) {
        neighbours_[by_first[i]].push_back(by_first[j]);
        neighbours_[by_first[j]].push_back(by_first[i]);
        visits_ += 2;
      }
    }
  }

  /// Each buffer in turn gets the lowest gap between those it lives with. Returns the peak.
  int64_t Place(const Order& order, std::vector<int64_t>& offsets) {
    constexpr int64_t kUnplaced = -1;
    int64_t peak = 0;
    offsets.assign(buffers_.size(), kUnplaced);
    for (size_t i : order) {
      taken_.clear();
      for (size_t j : neighbours_[i]) {
        if (offsets[j] != kUnplaced) taken_.emplace_back(offsets[j], offsets[j] + buffers_[j].bytes);
      }
      std::sort(taken_.begin(), taken_.end());
      int64_t at = 0;
      for (const auto& [begin, end] : taken_) {
        if (begin - at >= buffers_[i].bytes) break;
        at = std::max(at, end);
      }
      offsets[i] = at;
      peak = std::max(peak, at + buffers_[i].bytes);
    }
    return peak;
  }

  /// Neighbours visited by one placement.
  int64_t visits() const { return visits_; }

 private:
  const std::vector<Buffer>& buffers_;
  std::vector<Order> neighbours_;
  int64_t visits_ = 1;
  std::vector<std::pair<int64_t, int64_t>> taken_;
};

Order Sorted(size_t count, const std::function<int64_t(size_t)>& key) {
  Order order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return key(a) < key(b); });
  return order;
}

/// The best of the first-fit orders, which is returned.
Order TryHeuristics(const std::vector<Buffer>& buffers, FirstFit& first_fit, Placement& best) {
  const auto span = [&](size_t i) { return int64_t{buffers[i].last} - buffers[i].first + 1; };
  const std::pair<const char*, std::function<int64_t(size_t)>> keys[] = {
      {"first fit by size", [&](size_t i) { return -buffers[i].bytes; }},
      {"first fit by first use", [&](size_t i) { return int64_t{buffers[i].first}; }},
      {"first fit by lifetime", [&](size_t i) { return -span(i); }},
      {"first fit by area", [&](size_t i) { return -span(i) * buffers[i].bytes; }},
      {"first fit by last use", [&](size_t i) { return -int64_t{buffers[i].last}; }},
  };
  Order best_order;
  std::vector<int64_t> offsets;
  for (const auto& [name, key] : keys) {
    Order order = Sorted(buffers.size(), key);
    const int64_t peak = first_fit.Place(order, offsets);
    if (!best_order.empty() && peak >= best.peak_bytes) continue;
    best_order = std::move(order);
    best.peak_bytes = peak;
    best.offsets = offsets;
    best.method = name;
    if (peak == best.lower_bound_bytes) break;
  }
  return best_order;
}

/// Swaps two buffers of the order at a time; keeps a swap unless it raises the peak.
void HillClimb(FirstFit& first_fit, Order order, Placement& best) {
  const int64_t trials = std::min<int64_t>(kHillClimbTrials, kHillClimbBudget / first_fit.visits());
  uint32_t state = 1;
  const auto draw = [&] {
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % order.size();
  };
  std::vector<int64_t> offsets;
  for (int64_t i = 0; i < trials && best.peak_bytes > best.lower_bound_bytes; ++i) {
    const size_t a = draw();
    const size_t b = draw();
    std::swap(order[a], order[b]);
    const int64_t peak = first_fit.Place(order, offsets);
    if (peak < best.peak_bytes) {
      best.peak_bytes = peak;
      best.offsets = offsets;
      best.method = "hill climb";
    } else if (peak > best.peak_bytes) {
      std::swap(order[a], order[b]);
    }
  }
}

}  // namespace

PeakLoad FindPeakLoad(const std::vector<Buffer>& buffers, int64_t alignment) {
  std::map<int32_t, int64_t> changes;  // Bytes that begin or end to live at a step.
  for (const Buffer& b : buffers) {
    changes[b.first] += Aligned(b.bytes, alignment);
    changes[b.last + 1] -= Aligned(b.bytes, alignment);
  }
  PeakLoad peak;
  int64_t live = 0;
  for (const auto& [step, change] : changes) {
    live += change;
    if (live > peak.bytes) peak = {live, step};
  }
  return peak;
}

Placement Place(const std::vector<Buffer>& buffers, int64_t alignment) {
  Placement best;
  best.optimal = true;
  if (buffers.empty()) return best;
  std::vector<Buffer> aligned = buffers;
  for (Buffer& b : aligned) b.bytes = Aligned(b.bytes, alignment);
  best.lower_bound_bytes = FindPeakLoad(aligned, alignment).bytes;
  FirstFit first_fit(aligned);
  HillClimb(first_fit, TryHeuristics(aligned, first_fit, best), best);
  if (best.peak_bytes == best.lower_bound_bytes) return best;
  const int64_t peak = best.peak_bytes;
  best.optimal = SearchExact(aligned, best.lower_bound_bytes, kExactBudget, best.peak_bytes, best.offsets);
  if (best.peak_bytes < peak) best.method = "exact search";
  return best;
}

}  // namespace takt::memory
