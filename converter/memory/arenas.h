// Activations in one arena, or in two memories.
#ifndef TAKT_CONVERTER_MEMORY_ARENAS_H_
#define TAKT_CONVERTER_MEMORY_ARENAS_H_

#include <set>
#include <vector>

#include "converter/memory/liveness.h"

namespace takt::memory {

/// Bytes [begin, begin + bytes) of a placement.
struct Arena {
  int64_t begin = 0, bytes = 0;
  int64_t lower_bound_bytes = 0;
};

/// Arenas stand one after another in `all`; there is a second one only if it holds something.
struct ArenaPlacement {
  Placement all;
  std::vector<Arena> arenas;
};

/// Blocks that hold one of the tensors `second` (roots of views) go to the second arena.
ArenaPlacement PlaceInArenas(const Liveness& liveness, const std::set<ir::TensorId>& second);

}  // namespace takt::memory

#endif  // TAKT_CONVERTER_MEMORY_ARENAS_H_
