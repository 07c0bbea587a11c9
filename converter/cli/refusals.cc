#include "converter/cli/refusals.h"

#include <vector>

#include "converter/cli/session.h"
#include "engine/core/interpreter.h"

#ifdef TAKT_HAS_XNNPACK
#include "ports/xnnpack/kernels.h"
#endif

namespace takt::cli {

#ifdef TAKT_HAS_XNNPACK
std::string PortRefusal(const std::string& port, const Plan& plan, uint32_t step) {
  const StepView view = plan.step(step);
  if (port != "xnnpack" || view.op < kFirstKernelOp) return "";
  const std::vector<TensorRef> refs = OperandRefs(plan, view);
  const std::span<const TensorRef> all = refs;
  const char* reason = xnnpack::Refusal(KeyOf(plan, view), {.step_params = view.params,
                                                            .inputs = all.first(view.inputs.size()),
                                                            .outputs = all.subspan(view.inputs.size()),
                                                            .scratch = {},
                                                            .persistent = {}});
  return reason == nullptr ? "" : reason;
}
#else
std::string PortRefusal(const std::string&, const Plan&, uint32_t) {
  return "";
}
#endif

}  // namespace takt::cli
