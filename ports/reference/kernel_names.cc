#include "ports/reference/kernel_names.h"

#include "ports/reference/kernels.h"

namespace takt::reference {

// NOLINTNEXTLINE(readability-function-size): a line for each kernel
const char* KernelName(const Kernel* kernel) {
#define TAKT_KERNEL(symbol) \
  if (kernel == &(symbol)) return #symbol;
#include "ports/reference/kernels.inc"
#undef TAKT_KERNEL
  return nullptr;
}

}  // namespace takt::reference
