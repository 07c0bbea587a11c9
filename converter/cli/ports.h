// Ports that this build of the CLI can run plans on.
#ifndef TAKT_CONVERTER_CLI_PORTS_H_
#define TAKT_CONVERTER_CLI_PORTS_H_

#include <string>

#include "engine/core/kernel.h"

namespace takt::cli {

/// Rows of a port by its name; throws InputError with the list of ports.
KernelTable PortKernels(const std::string& port);

bool IsPort(const std::string& name);

/// C++ name of a row of the reference port; empty if it has no such row.
std::string ReferenceKernelName(const KernelKey& key);

}  // namespace takt::cli

#endif  // TAKT_CONVERTER_CLI_PORTS_H_
