// A lowered step as a kernel sees it, without a plan: for checks at conversion and for evaluation of constants.
#ifndef TAKT_CONVERTER_BACKEND_STEP_CALL_H_
#define TAKT_CONVERTER_BACKEND_STEP_CALL_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "converter/backend/step_builder.h"
#include "converter/base/diagnostics.h"
#include "engine/core/kernel.h"

namespace takt::backend {

/// "conv2d of int8 and int8 to int8, fp32_rne"
std::string KeyText(const KernelKey& key);
KernelKey KeyOf(const ir::Graph& graph, const StepSpec& step);
/// The row of `kernels` that runs the step, or nullptr.
const Kernel* FindKernel(const ir::Graph& graph, const StepSpec& step, KernelTable kernels);

/// Operands bound to memory. Keeps pointers into `graph` and `step`, which outlive it.
class StepCall {
 public:
  /// `address`: memory of an operand that is no constant; without it such operands have none, which suits checks.
  StepCall(const ir::Graph& graph, const StepSpec& step, const std::function<void*(ir::TensorId)>& address = nullptr);
  StepCall(const StepCall&) = delete;
  StepCall& operator=(const StepCall&) = delete;

  KernelCall& call() { return call_; }

 private:
  std::vector<TensorRef> refs_;
  std::vector<std::vector<int32_t>> strides_;
  KernelCall call_;
};

/// The rule of the step's op (engine/ops), which every port's rows of it share; adds its inner iterations to `work`:
/// multiplications of a contraction, else mostly elements. Steps that are no kernel's have neither.
Status CheckStep(const ir::Graph& graph, const StepSpec& step, uint64_t& work);

/// Applies every step's own rule (engine/ops) and adds up the inner iterations of one invocation, as Interpreter::Init
/// will. A step without a kernel in `kernels`, or whose rule is broken, is an error at its source node.
uint64_t CheckSteps(const ir::Graph& graph, const std::vector<StepSpec>& steps, KernelTable kernels,
                    Diagnostics& diagnostics);

}  // namespace takt::backend

#endif  // TAKT_CONVERTER_BACKEND_STEP_CALL_H_
