// Step costs that tests can foretell: each kernel takes a microsecond of a virtual clock for each inner iteration.
#ifndef TAKT_TESTS_SUPPORT_UNIT_COSTS_H_
#define TAKT_TESTS_SUPPORT_UNIT_COSTS_H_

#include "converter/backend/step_call.h"
#include "converter/backend/step_costs.h"
#include "ports/reference/kernels.h"

namespace takt::test {

inline backend::StepCosts UnitCosts() {
  backend::StepCosts costs;
  costs.target = "host";
  costs.clock_hz = 1000000;
  for (const Kernel* kernel : reference::AllKernels())
    costs.kernels[backend::KeyText(kernel->key)] = {.ticks_per_step = 0, .ticks_per_million = 1000000};
  return costs;
}

}  // namespace takt::test

#endif  // TAKT_TESTS_SUPPORT_UNIT_COSTS_H_
