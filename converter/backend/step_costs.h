// What steps cost on a CPU: measured by `takt bench --write-costs`, or written by hand. The file:
//
//   {"target": "host", "measured_on": "port reference; ...", "clock_hz": 1000000000,
//    "kernels": {"conv2d of int8 and int8 to int8, fp32_rne": {"ticks_per_step": 900, "ticks_per_million": 870000},
//    ...}}
//
// A step costs ticks_per_step + ticks_per_million * work / 10^6 ticks of clock_hz, rounded up. Its work is the number
// of inner iterations by the rule of its op (engine/ops): multiplications of a contraction, else mostly elements.
// Beside these a kernel may state calibrated_steps, how many it was measured on, and tightness (FitCost).
#ifndef TAKT_CONVERTER_BACKEND_STEP_COSTS_H_
#define TAKT_CONVERTER_BACKEND_STEP_COSTS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>

namespace takt::backend {

/// Of the steps that one kernel runs.
struct KernelCost {
  uint64_t ticks_per_step = 0, ticks_per_million = 0;
  uint64_t calibrated_steps = 0;  ///< 0: not measured.
  double tightness = 1;           ///< The least share of its cost that a measured step took.

  /// Saturates.
  uint64_t Of(uint64_t work) const;
};

struct StepCosts {
  std::string target, measured_on;
  uint64_t clock_hz = 0;
  std::map<std::string, KernelCost> kernels;  ///< By KeyText (step_call.h).

  /// Of steps that only steer (skip_if, loop): as the cheapest kernel step.
  uint64_t Control() const;
};

/// Nothing if `text` is no such file; `problem` then names the place, the rule and what is there.
std::optional<StepCosts> ParseStepCosts(const std::string& text, std::string& problem);
/// What ParseStepCosts reads, one line a kernel.
std::string StepCostsText(const StepCosts& costs);

/// A step that was measured.
struct MeasuredStep {
  uint64_t work, ticks;
};
/// A line with the least sum of squared relative errors, raised until no measured step takes longer than its cost.
/// Where the steps do not tell it from their work, the fixed part is `step_ticks`, that of any step. `steps` is not
/// empty.
KernelCost FitCost(std::span<const MeasuredStep> steps, uint64_t step_ticks);

}  // namespace takt::backend

#endif  // TAKT_CONVERTER_BACKEND_STEP_COSTS_H_
