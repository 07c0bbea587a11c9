// Static memory planning: offsets for buffers with lifetimes, the peak, and a bound below which no placement can go.
#ifndef TAKT_CONVERTER_MEMORY_PLANNER_H_
#define TAKT_CONVERTER_MEMORY_PLANNER_H_

#include <cstdint>
#include <string>
#include <vector>

namespace takt::memory {

/// The next multiple of `alignment`.
constexpr int64_t Aligned(int64_t bytes, int64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

/// A block that must stay in place during steps [first, last].
struct Buffer {
  int64_t bytes = 0;
  int32_t first = 0;
  int32_t last = 0;
};

/// The step at which most bytes are live (the earliest of several). No placement needs less than `bytes`.
struct PeakLoad {
  int64_t bytes = 0;
  int32_t step = 0;
};

/// `bytes` of buffers count rounded up to `alignment`.
PeakLoad FindPeakLoad(const std::vector<Buffer>& buffers, int64_t alignment);

/// Where each buffer lies, in the order given.
struct Placement {
  std::vector<int64_t> offsets;
  int64_t peak_bytes = 0;
  int64_t lower_bound_bytes = 0;  ///< PeakLoad::bytes.
  bool optimal = false;           ///< At the lower bound, or the exact search was exhaustive.
  std::string method;             ///< What found it.
};

/// Five first-fit orders, then a bounded hill climb from the best, then an exact search within a fixed budget; stops at
/// the lower bound. Offsets are multiples of `alignment`. Every order is total: the same buffers give the same offsets.
Placement Place(const std::vector<Buffer>& buffers, int64_t alignment);

}  // namespace takt::memory

#endif  // TAKT_CONVERTER_MEMORY_PLANNER_H_
