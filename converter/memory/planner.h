// Static memory planning: offsets for buffers with lifetimes, the peak, and a bound below which no placement can go.
#ifndef TAKT_CONVERTER_MEMORY_PLANNER_H_
#define TAKT_CONVERTER_MEMORY_PLANNER_H_

#include <cstdint>
#include <string>
#include <vector>

namespace takt::memory {

/// A block that must stay in place during steps [first, last].
struct Buffer {
  int64_t bytes = 0;
  int32_t first = 0;
  int32_t last = 0;
};

/// Where each buffer lies, in the order given.
struct Placement {
  std::vector<int64_t> offsets;
  int64_t peak_bytes = 0;
  int64_t lower_bound_bytes = 0;  ///< Largest sum of (aligned) bytes live at one step.
  int32_t peak_step = 0;          ///< A step of that sum.
  std::string method;             ///< The heuristic that won.
};

/// Tries every heuristic in a fixed order, then improves the best by a bounded hill climb and an exact search within a node
/// budget; stops at the lower bound. Offsets are multiples of `alignment`. Deterministic.
Placement Place(const std::vector<Buffer>& buffers, int64_t alignment);

/// Independent proof of a placement: empty if no two live buffers overlap and the peak holds; otherwise what is wrong.
std::string CheckPlacement(const std::vector<Buffer>& buffers, const Placement& placement, int64_t alignment);

}  // namespace takt::memory

#endif  // TAKT_CONVERTER_MEMORY_PLANNER_H_
