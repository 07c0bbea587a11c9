#include "converter/memory/planner.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace takt::memory {
namespace {

using Order = std::vector<size_t>;
constexpr int kHillClimbTrials = 2000;

int64_t Aligned(int64_t bytes, int64_t alignment) { return (bytes + alignment - 1) / alignment * alignment; }
bool Overlap(const Buffer& a, const Buffer& b) { return a.first <= b.last && b.first <= a.last; }

/// Each buffer in turn gets the lowest gap between those it lives with.
int64_t FirstFit(const std::vector<Buffer>& buffers, const Order& order, int64_t alignment, std::vector<int64_t>& offsets) {
  int64_t peak = 0;
  std::vector<size_t> placed;
  std::vector<std::pair<int64_t, int64_t>> taken;
  offsets.assign(buffers.size(), 0);
  for (size_t i : order) {
    taken.clear();
    for (size_t j : placed) {
      if (Overlap(buffers[i], buffers[j])) taken.emplace_back(offsets[j], offsets[j] + Aligned(buffers[j].bytes, alignment));
    }
    std::sort(taken.begin(), taken.end());
    const int64_t bytes = Aligned(buffers[i].bytes, alignment);
    int64_t at = 0;
    for (const auto& [begin, end] : taken) {
      if (begin - at >= bytes) break;
      at = std::max(at, end);
    }
    offsets[i] = at;
    peak = std::max(peak, at + bytes);
    placed.push_back(i);
  }
  return peak;
}

void LowerBound(const std::vector<Buffer>& buffers, int64_t alignment, Placement& placement) {
  for (const Buffer& at : buffers) {  // The sum grows only where a buffer begins.
    int64_t sum = 0;
    for (const Buffer& b : buffers) {
      if (b.first <= at.first && at.first <= b.last) sum += Aligned(b.bytes, alignment);
    }
    const bool earlier = sum == placement.lower_bound_bytes && at.first < placement.peak_step;
    if (sum > placement.lower_bound_bytes || earlier) {
      placement.lower_bound_bytes = sum;
      placement.peak_step = at.first;
    }
  }
}

Order Sorted(size_t count, const std::function<int64_t(size_t)>& key) {
  Order order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return key(a) < key(b); });
  return order;
}

void HillClimb(const std::vector<Buffer>& buffers, Order order, int64_t alignment, Placement& best) {
  uint32_t state = 1;
  std::vector<int64_t> offsets;
  for (int i = 0; i < kHillClimbTrials && best.peak_bytes > best.lower_bound_bytes; ++i) {
    state = state * 1664525u + 1013904223u;
    const size_t a = (state >> 8) % order.size();
    state = state * 1664525u + 1013904223u;
    const size_t b = (state >> 8) % order.size();
    std::swap(order[a], order[b]);
    const int64_t peak = FirstFit(buffers, order, alignment, offsets);
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

Placement Place(const std::vector<Buffer>& buffers, int64_t alignment) {
  Placement best;
  if (buffers.empty()) return best;
  LowerBound(buffers, alignment, best);
  const auto span = [&](size_t i) { return int64_t{buffers[i].last} - buffers[i].first + 1; };
  const std::pair<const char*, Order> heuristics[] = {
      {"size", Sorted(buffers.size(), [&](size_t i) { return -buffers[i].bytes; })},
      {"first use", Sorted(buffers.size(), [&](size_t i) { return int64_t{buffers[i].first}; })},
      {"lifetime", Sorted(buffers.size(), [&](size_t i) { return -span(i); })},
      {"area", Sorted(buffers.size(), [&](size_t i) { return -span(i) * buffers[i].bytes; })},
      {"last use", Sorted(buffers.size(), [&](size_t i) { return -int64_t{buffers[i].last}; })},
  };
  const Order* order = nullptr;
  std::vector<int64_t> offsets;
  for (const auto& [name, candidate] : heuristics) {
    const int64_t peak = FirstFit(buffers, candidate, alignment, offsets);
    if (order != nullptr && peak >= best.peak_bytes) continue;
    order = &candidate;
    best.peak_bytes = peak;
    best.offsets = offsets;
    best.method = name;
    if (peak == best.lower_bound_bytes) return best;
  }
  HillClimb(buffers, *order, alignment, best);
  return best;
}

std::string CheckPlacement(const std::vector<Buffer>& buffers, const Placement& placement, int64_t alignment) {
  if (placement.offsets.size() != buffers.size()) return "not one offset for each buffer";
  for (size_t i = 0; i < buffers.size(); ++i) {
    const int64_t begin = placement.offsets[i];
    const int64_t end = begin + buffers[i].bytes;
    if (begin < 0 || begin % alignment != 0) return "buffer " + std::to_string(i) + " is not aligned";
    if (end > placement.peak_bytes) return "buffer " + std::to_string(i) + " ends above the peak";
    for (size_t j = 0; j < i; ++j) {
      const bool together = buffers[i].first <= buffers[j].last && buffers[j].first <= buffers[i].last;
      if (together && begin < placement.offsets[j] + buffers[j].bytes && placement.offsets[j] < end) {
        return "buffers " + std::to_string(j) + " and " + std::to_string(i) + " overlap while both are live";
      }
    }
  }
  return "";
}

}  // namespace takt::memory
