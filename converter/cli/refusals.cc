#include "converter/cli/refusals.h"

#include <vector>

#include "engine/core/interpreter.h"

#ifdef TAKT_HAS_XNNPACK
#include "ports/xnnpack/kernels.h"
#endif

namespace takt::cli {

#ifdef TAKT_HAS_XNNPACK
/// The step's operands are as `need` of a kernel sees them: only constants have data.
std::string PortRefusal(const std::string& port, const Plan& plan, uint32_t step) {
  const StepView view = plan.step(step);
  if (port != "xnnpack" || view.op < kFirstKernelOp) return "";
  std::vector<TensorRef> refs;
  for (const uint16_t t : view.operands()) {
    const TensorView v = plan.tensor(t);
    const std::byte* data = v.constant ? plan.constant(v.base).bytes.data() + v.offset : nullptr;
    refs.push_back({const_cast<std::byte*>(data), v.dims, v.strides, v.type, v.rank, v.constant});
  }
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
