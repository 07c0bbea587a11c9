// The plan's rules, checked at every Open after FlatBuffers' verifier.
#ifndef TAKT_ENGINE_PLAN_PLAN_VALIDATOR_H_
#define TAKT_ENGINE_PLAN_PLAN_VALIDATOR_H_

#include "engine/base/status.h"
#include "engine/plan/plan.h"

namespace takt {

/// Largest number of arena tensors that may be live at one step, of open scopes (Loop, SkipIf), and of ranges of a job.
inline constexpr int kMaxLive = 256;
inline constexpr int kMaxControlDepth = 4;
inline constexpr int kMaxJobRanges = 64;

class PlanValidator {
 public:
  /// `plan`'s metadata has passed the FlatBuffers verifier. Bounded work, no allocation.
  static Status Run(const Plan& plan, const PlanOptions& options);
};

}  // namespace takt

#endif  // TAKT_ENGINE_PLAN_PLAN_VALIDATOR_H_
