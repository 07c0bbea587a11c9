#include "ports/xnnpack/arena.h"

#include <xnnpack.h>

#include <cstring>

namespace takt::xnnpack {
namespace {

constexpr size_t kAlignment = alignof(std::max_align_t);
constinit thread_local Arena* current = nullptr;
constinit const xnn_allocator* others = nullptr;

void* AllocateAligned(void*, size_t alignment, size_t bytes) {
  if (current != nullptr) return current->Allocate(bytes, alignment);
  return others != nullptr ? others->aligned_allocate(others->context, alignment, bytes) : nullptr;
}
void* Allocate(void*, size_t bytes) {
  if (current != nullptr) return current->Allocate(bytes, kAlignment);
  return others != nullptr ? others->allocate(others->context, bytes) : nullptr;
}
/// An operator's indirection buffer: made once, as an operator is set up for the same dims only.
void* Reallocate(void*, void* p, size_t bytes) {
  if (current != nullptr) return p == nullptr ? current->Allocate(bytes, kAlignment) : nullptr;
  return others != nullptr ? others->reallocate(others->context, p, bytes) : nullptr;
}
void Free(void*, void* p) {
  if (current == nullptr && others != nullptr) others->deallocate(others->context, p);
}
void FreeAligned(void*, void* p) {
  if (current == nullptr && others != nullptr) others->aligned_deallocate(others->context, p);
}
constexpr xnn_allocator kAllocator{nullptr, Allocate, Reallocate, Free, AllocateAligned, FreeAligned};

}  // namespace

std::byte* Arena::Allocate(size_t bytes, size_t alignment) {
  const auto base = reinterpret_cast<uintptr_t>(block_.data());
  const size_t at = ((base + used_ + alignment - 1) & ~(alignment - 1)) - base;
  if (at > block_.size() || bytes > block_.size() - at) return nullptr;
  used_ = at + bytes;
  return block_.data() + at;
}

bool Arena::Owns(const void* p) const {
  const auto at = reinterpret_cast<uintptr_t>(p), base = reinterpret_cast<uintptr_t>(block_.data());
  return at >= base && at - base < block_.size();
}

Scope::Scope(Arena& arena) {
  current = &arena;
}
Scope::~Scope() {
  current = nullptr;
}

Status InstallAllocator(const xnn_allocator* allocator) {
  others = allocator;
  const xnn_status status = xnn_initialize(&kAllocator);
  if (status != xnn_status_success) return {StatusCode::kUnsupported, Site::kInitKernel, status};
  // The library keeps the first allocator that a process gives it: make sure that it is this one.
  alignas(64) static std::byte block[4096];
  Arena arena(block);
  Scope scope(arena);
  xnn_operator_t op = nullptr;
  if (xnn_create_copy_nc_x32(1, 1, 1, 0, &op) == xnn_status_success && !arena.Owns(op)) {
    xnn_delete_operator(op);
    return {StatusCode::kInvalidState, Site::kInitKernel};
  }
  return {};
}

}  // namespace takt::xnnpack
