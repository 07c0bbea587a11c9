// What memory that an application gives has to be.
#ifndef TAKT_ENGINE_CORE_MEMORY_RULES_H_
#define TAKT_ENGINE_CORE_MEMORY_RULES_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace takt {

inline bool IsAligned(const void* p, uint32_t alignment) {
  return reinterpret_cast<uintptr_t>(p) % alignment == 0;
}

inline bool ShareMemory(std::span<const std::byte> a, std::span<const std::byte> b) {
  const auto at = reinterpret_cast<uintptr_t>(a.data());
  const auto bt = reinterpret_cast<uintptr_t>(b.data());
  return !a.empty() && !b.empty() && (at < bt ? bt - at < a.size() : at - bt < b.size());
}

}  // namespace takt

#endif  // TAKT_ENGINE_CORE_MEMORY_RULES_H_
