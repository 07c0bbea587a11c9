#include "converter/npu/buffer_use.h"

#include <algorithm>
#include <iterator>
#include <map>

namespace takt::npu {

void BufferUse::Read(const Access& access, const Span& span, Lives& lives) {
  for (Life& life : lives.current) {
    if (life.begin < access.end && access.begin < life.end) life.until = std::max(life.until, span.free);
  }
}

void BufferUse::Write(const Access& access, const Span& span, Lives& lives) {
  const auto kept = std::stable_partition(lives.current.begin(), lives.current.end(), [&](const Life& life) {
    return life.end <= access.begin || access.end <= life.begin;
  });
  std::transform(kept, lives.current.end(), std::back_inserter(lives.past), [&](Life life) {
    life.until = std::min(life.until, span.start);  // a command may overwrite what it reads
    return life;
  });
  lives.current.erase(kept, lives.current.end());
  lives.current.push_back({access.begin, access.end, span.start, span.done});
}

void BufferUse::Add(const Span& span) {
  const AccessList list = AccessesOf(span.command, span.walker);
  for (uint32_t i = 0; i < list.count; ++i) {
    const Access& access = list.items[i];
    if (access.space >= kBuffers) continue;
    Lives& lives = lives_[access.space];
    access.write && !access.read ? Write(access, span, lives) : Read(access, span, lives);
  }
}

std::vector<BufferUse::Level> BufferUse::Levels(Buffer buffer) const {
  std::map<Ticks, uint64_t> changes;  // modulo 2^64
  const Lives& lives = lives_[static_cast<int>(buffer)];
  for (const auto* list : {&lives.past, &lives.current}) {
    for (const Life& life : *list) {
      changes[life.from] += life.end - life.begin;
      changes[life.until] -= life.end - life.begin;
    }
  }
  std::vector<Level> levels;
  uint64_t bytes = 0;
  for (const auto& [at, change] : changes) {
    bytes += change;
    if (change != 0) levels.push_back({at, bytes});
  }
  return levels;
}

}  // namespace takt::npu
