// Uses an installed Takt: bytes that are no plan are refused, with the reason.
#include <cstdio>

#include "engine/plan/plan.h"
#include "ports/reference/kernels.h"
#ifdef TAKT_HAS_XNNPACK
#include "ports/xnnpack/kernels.h"
#endif

int main() {
  alignas(64) static const uint8_t no_plan[256] = {};
  takt::Plan plan;
  const takt::Status status = plan.Open(no_plan);
  std::printf("%zu kernels; 256 zeros are refused: %s, %s\n", takt::reference::AllKernels().size(),
              takt::StatusCodeName(status.code()), takt::SiteText(status.site()));
#ifdef TAKT_HAS_XNNPACK
  const takt::Status initialized = takt::xnnpack::Initialize(takt::reference::AllKernels());
  std::printf("%zu kernels of XNNPACK: %s\n", takt::xnnpack::Kernels().size(),
              takt::StatusCodeName(initialized.code()));
#endif
  return status.ok() ? 1 : 0;
}
