// Any placement can be pressed down until each buffer rests on the arena's start or on one that it lives with, without
// a higher peak. So it is enough to place buffers by ascending (offset, index), each directly on those it lives with.
#include "converter/memory/exact_search.h"

#include <algorithm>
#include <tuple>

namespace takt::memory {
namespace {

class Search {
 public:
  Search(const std::vector<Buffer>& buffers, int64_t lower_bound, int64_t budget, int64_t& peak,
         std::vector<int64_t>& offsets)
      : buffers_(buffers), lower_bound_(lower_bound), budget_(budget), peak_(peak), best_(offsets) {
    std::vector<int32_t> times;  // Two buffers that live together share the later one's first step.
    for (const Buffer& b : buffers) times.push_back(b.first);
    std::sort(times.begin(), times.end());
    times.erase(std::unique(times.begin(), times.end()), times.end());
    for (const Buffer& b : buffers) {
      const auto first = std::lower_bound(times.begin(), times.end(), b.first) - times.begin();
      const auto end = std::upper_bound(times.begin(), times.end(), b.last) - times.begin();
      spans_.push_back({static_cast<size_t>(first), static_cast<size_t>(end)});
    }
    top_.assign(times.size(), 0);
    remaining_.assign(times.size(), 0);
    for (size_t i = 0; i < buffers.size(); ++i) {
      for (size_t t = spans_[i].first; t < spans_[i].end; ++t) remaining_[t] += buffers[i].bytes;
    }
    placed_.assign(buffers.size(), false);
    offsets_.assign(buffers.size(), 0);
  }

  bool Run() {
    Descend(0, 0, -1);
    return budget_ > 0;
  }

 private:
  struct Span {
    size_t first, end;  ///< Of times.
  };
  struct Candidate {
    int64_t offset;
    int64_t bytes;
    int index;
  };

  /// No placement of the rest stays below the best peak: what is left at a time lies above what is there.
  bool Hopeless(int64_t lowest) const {
    for (size_t t = 0; t < top_.size(); ++t) {
      if (remaining_[t] != 0 && std::max(lowest, top_[t]) + remaining_[t] >= peak_) return true;
    }
    return false;
  }

  /// Buffers that may come next after `last` at offset `lowest`. One that leaves room for another below it is no better
  /// than that other first.
  std::vector<Candidate> Candidates(int64_t lowest, int last) {
    std::vector<Candidate> candidates;
    int64_t limit = peak_;
    for (size_t i = 0; i < buffers_.size(); ++i) {
      if (placed_[i]) continue;
      int64_t offset = lowest;
      for (size_t t = spans_[i].first; t < spans_[i].end; ++t) offset = std::max(offset, top_[t]);
      budget_ -= static_cast<int64_t>(spans_[i].end - spans_[i].first) + 1;
      limit = std::min(limit, offset + std::max<int64_t>(buffers_[i].bytes, 1));
      if (offset == lowest && static_cast<int>(i) < last) continue;
      candidates.push_back({offset, buffers_[i].bytes, static_cast<int>(i)});
    }
    std::erase_if(candidates, [&](const Candidate& c) { return c.offset >= limit; });
    std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
      return std::tuple(a.offset, -a.bytes, a.index) < std::tuple(b.offset, -b.bytes, b.index);
    });
    return candidates;
  }

  void Descend(size_t depth, int64_t lowest, int last) {
    if (depth == buffers_.size()) {
      peak_ = *std::max_element(top_.begin(), top_.end());
      best_ = offsets_;
      return;
    }
    budget_ -= static_cast<int64_t>(top_.size());
    if (Hopeless(lowest)) return;
    for (const Candidate& c : Candidates(lowest, last)) {
      if (budget_ <= 0 || peak_ <= lower_bound_) return;
      if (c.offset + c.bytes >= peak_) continue;
      const auto i = static_cast<size_t>(c.index);
      const auto [first, end] = spans_[i];
      const std::vector<int64_t> saved(top_.begin() + static_cast<std::ptrdiff_t>(first),
                                       top_.begin() + static_cast<std::ptrdiff_t>(end));
      placed_[i] = true;
      offsets_[i] = c.offset;
      for (size_t t = first; t < end; ++t) top_[t] = c.offset + c.bytes, remaining_[t] -= c.bytes;
      Descend(depth + 1, c.offset, c.index);
      for (size_t t = first; t < end; ++t) top_[t] = saved[t - first], remaining_[t] += c.bytes;
      placed_[i] = false;
    }
  }

  const std::vector<Buffer>& buffers_;
  const int64_t lower_bound_;
  int64_t budget_;
  int64_t& peak_;
  std::vector<int64_t>& best_;
  std::vector<Span> spans_;
  std::vector<int64_t> top_, remaining_;  ///< By time: end of what lies there, bytes still to be placed there.
  std::vector<bool> placed_;
  std::vector<int64_t> offsets_;
};

}  // namespace

bool SearchExact(const std::vector<Buffer>& buffers, int64_t lower_bound, int64_t budget, int64_t& peak,
                 std::vector<int64_t>& offsets) {
  return Search(buffers, lower_bound, budget, peak, offsets).Run();
}

}  // namespace takt::memory
