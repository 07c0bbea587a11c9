// libFuzzer entry: any bytes as a plan. Hash check off, as an attacker would have it.
#include "tests/support/try_plan.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  (void)takt::test::TryPlan({data, size});
  return 0;
}
