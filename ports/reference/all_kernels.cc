#include "ports/reference/kernels.h"

namespace takt::reference {

KernelTable AllKernels() {
  static constexpr const Kernel* kAll[] = {
#define TAKT_KERNEL(symbol) &(symbol),
#include "ports/reference/kernels.inc"
#undef TAKT_KERNEL
  };
  return kAll;
}

}  // namespace takt::reference
