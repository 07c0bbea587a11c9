#include "engine/core/op.h"

namespace takt {
namespace {

constexpr OpInfo kOpInfo[] = {
#define TAKT_OP(Name, name, file, min_inputs, max_inputs, outputs, traits) {min_inputs, max_inputs, outputs, traits},
#define TAKT_GRAPH_OP(Name, name, file, min_inputs, max_inputs, outputs)
#include "schema/op_table.inc"
#undef TAKT_OP
#undef TAKT_GRAPH_OP
};

}  // namespace

const OpInfo* FindOpInfo(Op op) {
  return op >= kFirstKernelOp && op < Op::kPlanOpEnd ? &kOpInfo[static_cast<int>(op) - static_cast<int>(kFirstKernelOp)]
                                                     : nullptr;
}

}  // namespace takt
