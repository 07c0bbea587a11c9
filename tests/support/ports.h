// The kernel ports of this build, as applications use them.
#ifndef TAKT_TESTS_SUPPORT_PORTS_H_
#define TAKT_TESTS_SUPPORT_PORTS_H_

#include <ostream>
#include <vector>

#include "engine/core/kernel.h"

namespace takt::test {

struct KernelPort {
  const char* name;
  KernelTable kernels;  ///< The port's rows, then those of the port behind it.
};
/// What tests print of it.
inline std::ostream& operator<<(std::ostream& out, const KernelPort& port) {
  return out << port.name;
}

/// The reference port first. Ports that need it are initialized; XNNPACK's other users in the process get heap.
const std::vector<KernelPort>& KernelPorts();

}  // namespace takt::test

#endif  // TAKT_TESTS_SUPPORT_PORTS_H_
