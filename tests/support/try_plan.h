// Bytes of any origin as a plan: opened, bound and run in memory of exactly the size it asks for.
#ifndef TAKT_TESTS_SUPPORT_TRY_PLAN_H_
#define TAKT_TESTS_SUPPORT_TRY_PLAN_H_

#include <cstdint>
#include <span>

#include "engine/base/status.h"
#include "tests/support/plan_builder.h"

namespace takt::test {

/// The first failure of Open, Init and Invoke with the reference kernels, without hash check and under small limits.
/// What a sanitizer finds on the way is a bug of the engine, whatever the bytes are.
Status TryPlan(std::span<const uint8_t> bytes);

/// Eight steps on real kernels: convolution, clamp in place, max pool, pad, transpose, add, softmax, copy.
PlanSpec SmallNet();

}  // namespace takt::test

#endif  // TAKT_TESTS_SUPPORT_TRY_PLAN_H_
