// The kernel ports of this build, as applications use them.
#ifndef TAKT_TESTS_SUPPORT_PORTS_H_
#define TAKT_TESTS_SUPPORT_PORTS_H_

#include <ostream>
#include <string>
#include <vector>

#include "engine/core/kernel.h"
#include "tests/support/exceptions.h"

namespace takt::test {

struct KernelPort {
  const char* name;
  KernelTable kernels;  ///< The port's rows, then those of the port behind it.
  KernelTable own;
  /// Rows that the port might offer, as its library has their ops: it does, or lists RowName's as unsupported.
  bool (*within_reach)(const KernelKey& key);
  Exceptions exceptions;
};
/// What tests print of it.
inline std::ostream& operator<<(std::ostream& out, const KernelPort& port) {
  return out << port.name;
}

/// "conv2d int8": op and type of input 0.
std::string RowName(const KernelKey& key);

/// The reference port first. Ports that need it are initialized; XNNPACK's other users in the process get heap.
const std::vector<KernelPort>& KernelPorts();

}  // namespace takt::test

#endif  // TAKT_TESTS_SUPPORT_PORTS_H_
