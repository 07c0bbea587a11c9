// What a part of a step touches of its operands, op by op.
#ifndef TAKT_CONVERTER_BACKEND_STEP_CUTS_H_
#define TAKT_CONVERTER_BACKEND_STEP_CUTS_H_

#include <cstddef>
#include <optional>
#include <utility>

#include "converter/backend/step_builder.h"
#include "converter/backend/step_part.h"
#include "converter/backend/tensor_slices.h"
#include "converter/ir/graph.h"

namespace takt::backend {

/// Along what steps of an op are cut, or why they are not; no text if no rule names the op.
struct CutRule {
  bool cuts = false;
  const char* text = nullptr;
};
CutRule CutRuleOf(Op op);

/// Cuts steps in two.
class StepCutter {
 public:
  explicit StepCutter(ir::Graph& graph) : graph_(graph), slices_(graph) {}

  /// Both halves along an axis of output 0, in the order in which they run; nothing if the step has none. Their
  /// operands may be strided views even where the op takes none.
  std::optional<std::pair<StepSpec, StepSpec>> Halves(const StepSpec& step, size_t axis);

 private:
  std::optional<StepSpec> Part(const StepSpec& step, const Range& range);

  ir::Graph& graph_;
  TensorSlices slices_;
  States between_;
};

}  // namespace takt::backend

#endif  // TAKT_CONVERTER_BACKEND_STEP_CUTS_H_
