#include "converter/npu/workspace_check.h"

#include <algorithm>
#include <vector>

#include "ports/npu_emu/model/walker.h"

namespace takt::npu {
namespace {

/// A bit for each byte of a base.
class Written {
 public:
  explicit Written(uint64_t bytes) : words_(bytes / kBits + 1) {}

  void Add(uint64_t begin, uint64_t bytes) {
    ForEachWord(begin, begin + bytes, [](uint64_t& word, uint64_t mask) {
      word |= mask;
      return true;
    });
  }
  bool Has(uint64_t begin, uint64_t bytes) {
    return ForEachWord(begin, begin + bytes, [](const uint64_t& word, uint64_t mask) { return (word & mask) == mask; });
  }

 private:
  static constexpr uint64_t kBits = 64;

  template <typename F>
  bool ForEachWord(uint64_t begin, uint64_t end, const F& visit) {
    while (begin < end) {
      const uint64_t first = begin % kBits, count = std::min(kBits - first, end - begin);
      if (!visit(words_[begin / kBits], ~uint64_t{0} >> (kBits - count) << first)) return false;
      begin += count;
    }
    return true;
  }

  std::vector<uint64_t> words_;
};

/// Calls `visit` for every run of bytes, until it returns false. Rows that follow each other are one.
template <typename F>
bool ForEachRun(uint64_t at, const Copy& op, uint64_t plane, uint64_t row, const F& visit) {
  const bool one = row == op.row_bytes;
  const uint64_t rows = one ? 1 : op.rows, bytes = one ? row * op.rows : op.row_bytes;
  for (uint32_t p = 0; p < op.planes; ++p) {
    for (uint64_t r = 0; r < rows; ++r) {
      if (!visit(at + p * plane + r * row, bytes)) return false;
    }
  }
  return true;
}

}  // namespace

Status CheckWorkspaces(const Stream& stream, std::span<const uint64_t> unwritten) {
  std::vector<Written> written(unwritten.begin(), unwritten.end());
  const auto watched = [&](Address a) { return a.external() && unwritten[a.space - kFirstBase] != 0; };
  Walker walker(stream.commands);
  for (Command c = walker.Next(); c.op != MicroOp::kEnd; c = walker.Next()) {
    if (c.op != MicroOp::kCopy) continue;
    const auto op = c.as<Copy>();
    if (watched(op.from)) {
      const auto has = [&](uint64_t at, uint64_t bytes) { return written[op.from.space - kFirstBase].Has(at, bytes); };
      if (!ForEachRun(walker.Resolve(op.from), op, op.from_plane, op.from_row, has))
        return {StatusCode::kMalformedPlan, Site::kNpuUnready, walker.position()};
    }
    if (watched(op.to)) {
      const auto add = [&](uint64_t at, uint64_t bytes) {
        written[op.to.space - kFirstBase].Add(at, bytes);
        return true;
      };
      ForEachRun(walker.Resolve(op.to), op, op.to_plane, op.to_row, add);
    }
  }
  return {};
}

}  // namespace takt::npu
