// The reference port's kernels: portable, obvious, and what every other port must equal.
#ifndef TAKT_PORTS_REFERENCE_KERNELS_H_
#define TAKT_PORTS_REFERENCE_KERNELS_H_

#include "engine/core/kernel.h"

namespace takt::reference {

#define TAKT_KERNEL(symbol) extern const Kernel symbol;
#include "ports/reference/kernels.inc"
#undef TAKT_KERNEL

/// Every row (all_kernels.cc: links every kernel; small targets list what their plan needs instead).
KernelTable AllKernels();

}  // namespace takt::reference

#endif  // TAKT_PORTS_REFERENCE_KERNELS_H_
