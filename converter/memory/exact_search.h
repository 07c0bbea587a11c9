// Branch and bound for the lowest peak.
#ifndef TAKT_CONVERTER_MEMORY_EXACT_SEARCH_H_
#define TAKT_CONVERTER_MEMORY_EXACT_SEARCH_H_

#include <cstdint>
#include <vector>

#include "converter/memory/planner.h"

namespace takt::memory {

/// Looks for placements with a peak below `peak`; each one found replaces `peak` and `offsets`. Stops at `lower_bound`
/// or when `budget` elementary operations are spent. Bytes of `buffers` are multiples of the alignment. Returns whether
/// no placement can be better than the last `peak`.
bool SearchExact(const std::vector<Buffer>& buffers, int64_t lower_bound, int64_t budget, int64_t& peak,
                 std::vector<int64_t>& offsets);

}  // namespace takt::memory

#endif  // TAKT_CONVERTER_MEMORY_EXACT_SEARCH_H_
