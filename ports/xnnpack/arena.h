// Memory for XNNPACK: while a Scope lives, its thread's allocations come from the scope's block.
#ifndef TAKT_PORTS_XNNPACK_ARENA_H_
#define TAKT_PORTS_XNNPACK_ARENA_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/base/status.h"

struct xnn_allocator;

namespace takt::xnnpack {

/// Hands out a block from its start to its end; nothing is given back.
class Arena {
 public:
  explicit Arena(std::span<std::byte> block) : block_(block) {}
  /// nullptr if less is left. `alignment`: a power of two.
  std::byte* Allocate(size_t bytes, size_t alignment);
  size_t used() const { return used_; }
  bool Owns(const void* p) const;

 private:
  std::span<std::byte> block_;
  size_t used_ = 0;
};

class Scope {
 public:
  explicit Scope(Arena& arena);
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
};

/// Makes scopes the source of XNNPACK's memory; see Initialize.
Status InstallAllocator(const xnn_allocator* others);

}  // namespace takt::xnnpack

#endif  // TAKT_PORTS_XNNPACK_ARENA_H_
