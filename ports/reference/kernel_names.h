// Names of the reference port's kernels, for tools that print a plan's list.
#ifndef TAKT_PORTS_REFERENCE_KERNEL_NAMES_H_
#define TAKT_PORTS_REFERENCE_KERNEL_NAMES_H_

#include "engine/core/kernel.h"

namespace takt::reference {

/// The symbol in namespace takt::reference; nullptr if the kernel is not of this port.
const char* KernelName(const Kernel* kernel);

}  // namespace takt::reference

#endif  // TAKT_PORTS_REFERENCE_KERNEL_NAMES_H_
