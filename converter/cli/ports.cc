#include "converter/cli/ports.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "converter/cli/files.h"
#include "ports/reference/kernel_names.h"
#include "ports/reference/kernels.h"
#ifdef TAKT_HAS_XNNPACK
#include "ports/xnnpack/kernels.h"
#endif

namespace takt::cli {
namespace {

struct Port {
  const char* name;
  KernelTable (*kernels)();
};

#ifdef TAKT_HAS_XNNPACK
/// XNNPACK's rows, then the reference port's.
KernelTable XnnpackKernels() {
  static const std::vector<const Kernel*> table = [] {
    Require("port xnnpack", xnnpack::Initialize(reference::AllKernels()));
    const KernelTable own = xnnpack::Kernels(), others = reference::AllKernels();
    std::vector<const Kernel*> rows(own.begin(), own.end());
    rows.insert(rows.end(), others.begin(), others.end());
    return rows;
  }();
  return table;
}
#endif

constexpr Port kPorts[] = {
    {"reference", reference::AllKernels},
#ifdef TAKT_HAS_XNNPACK
    {"xnnpack", XnnpackKernels},
#endif
};

std::string PortNames() {
  std::string names;
  for (const Port& port : kPorts) absl::StrAppend(&names, names.empty() ? "" : ", ", port.name);
  return names;
}

}  // namespace

bool IsPort(const std::string& name) {
  return std::any_of(std::begin(kPorts), std::end(kPorts), [&](const Port& port) { return name == port.name; });
}

KernelTable PortKernels(const std::string& port) {
  const auto found = std::find_if(std::begin(kPorts), std::end(kPorts), [&](const Port& p) { return port == p.name; });
  if (found != std::end(kPorts)) return found->kernels();
  throw InputError(absl::StrCat("port '", port, "' is not part of this build; it has: ", PortNames()));
}

std::string ReferenceKernelName(const KernelKey& key) {
  for (const Kernel* kernel : reference::AllKernels()) {
    const char* name = kernel->key == key ? reference::KernelName(kernel) : nullptr;
    if (name != nullptr) return absl::StrCat("takt::reference::", name);
  }
  return "";
}

}  // namespace takt::cli
