#include "converter/memory/arenas.h"

namespace takt::memory {

ArenaPlacement PlaceInArenas(const Liveness& liveness, const std::set<ir::TensorId>& second) {
  std::vector<size_t> arena_of(liveness.buffers.size(), 0);
  for (const Liveness::Entry& entry : liveness.tensors) {
    if (!entry.state && (second.count(entry.tensor) != 0 || second.count(entry.root) != 0)) arena_of[entry.buffer] = 1;
  }
  ArenaPlacement made;
  made.all.offsets.resize(liveness.buffers.size());
  for (size_t arena = 0; arena < 2; ++arena) {
    std::vector<Buffer> buffers;
    std::vector<size_t> from;
    for (size_t i = 0; i < arena_of.size(); ++i) {
      if (arena_of[i] != arena) continue;
      buffers.push_back(liveness.buffers[i]);
      from.push_back(i);
    }
    if (arena == 1 && buffers.empty()) break;
    const Placement placement = Place(buffers, kArenaAlignment);
    const int64_t begin = Aligned(made.all.peak_bytes, kArenaAlignment);
    for (size_t i = 0; i < from.size(); ++i) made.all.offsets[from[i]] = begin + placement.offsets[i];
    made.all.peak_bytes = begin + placement.peak_bytes;
    made.all.lower_bound_bytes += placement.lower_bound_bytes;
    made.all.optimal = placement.optimal && (arena == 0 || made.all.optimal);
    made.all.method = placement.method;
    made.arenas.push_back({begin, placement.peak_bytes, placement.lower_bound_bytes});
  }
  return made;
}

}  // namespace takt::memory
