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
    const char* name = kernel->key == key ? reference::KernelName(kernel) : nullptr;
    if (name != nullptr) return absl::StrCat("takt::reference::", name);
  }
  return "";
}

}  // namespace takt::cli
