#include "converter/cli/ports.h"

#include "absl/strings/str_cat.h"
#include "converter/cli/files.h"
#include "ports/reference/kernel_names.h"
#include "ports/reference/kernels.h"

namespace takt::cli {

KernelTable PortKernels(const std::string& port) {
  if (port == "reference") return reference::AllKernels();
  throw InputError(absl::StrCat("port '", port, "' is not part of this build; it has: reference"));
}

std::string ReferenceKernelName(const KernelKey& key) {
  for (const Kernel* kernel : reference::AllKernels()) {
    if (kernel->key == key) return absl::StrCat("takt::reference::", reference::KernelName(kernel));
  }
  return "";
}

}  // namespace takt::cli
