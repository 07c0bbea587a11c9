#include "tests/support/ports.h"

#include <cstdlib>
#include <stdexcept>

#include "ports/reference/kernels.h"

#ifdef TAKT_HAS_XNNPACK
#include <xnnpack.h>

#include "ports/xnnpack/kernels.h"
#endif

namespace takt::test {
namespace {

#ifdef TAKT_HAS_XNNPACK
constexpr xnn_allocator kHeap = {nullptr,
                                 [](void*, size_t bytes) { return std::malloc(bytes); },
                                 [](void*, void* p, size_t bytes) { return std::realloc(p, bytes); },
                                 [](void*, void* p) { std::free(p); },
                                 [](void*, size_t alignment, size_t bytes) {
                                   return std::aligned_alloc(alignment,
                                                             (bytes + alignment - 1) / alignment * alignment);
                                 },
                                 [](void*, void* p) { std::free(p); }};

KernelTable XnnpackKernels() {
  static const std::vector<const Kernel*> table = [] {
    if (!xnnpack::Initialize(reference::AllKernels(), &kHeap).ok()) throw std::runtime_error("no XNNPACK on this CPU");
    const KernelTable own = xnnpack::Kernels(), others = reference::AllKernels();
    std::vector<const Kernel*> rows(own.begin(), own.end());
    rows.insert(rows.end(), others.begin(), others.end());
    return rows;
  }();
  return table;
}
#endif

}  // namespace

const std::vector<KernelPort>& KernelPorts() {
  static const std::vector<KernelPort> ports = {
      {"reference", reference::AllKernels()},
#ifdef TAKT_HAS_XNNPACK
      {"xnnpack", XnnpackKernels()},
#endif
  };
  return ports;
}

}  // namespace takt::test
