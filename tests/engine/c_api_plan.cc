#include "tests/engine/c_api_plan.h"

#include "ports/reference/kernels.h"
#include "tests/support/try_plan.h"

takt_plan_bytes c_api_plan() {
  static const takt::test::PlanBytes file = takt::test::SmallNet().Pack();
  return {file.view().data(), file.view().size()};
}
const takt_kernel* const* c_api_kernels() {
  return reinterpret_cast<const takt_kernel* const*>(takt::reference::AllKernels().data());
}
size_t c_api_kernel_count() {
  return takt::reference::AllKernels().size();
}
