#include "engine/core/op.h"

namespace takt {

const char* OpName(Op op) {
  switch (op) {
    case Op::kSubmit:
      return "submit";
    case Op::kWait:
      return "wait";
    case Op::kSkipIf:
      return "skip_if";
    case Op::kLoop:
      return "loop";
#define TAKT_OP(Name, name, file, min_inputs, max_inputs, outputs, traits) \
  case Op::k##Name:                                                        \
    return #name;
#define TAKT_GRAPH_OP(Name, name, file, min_inputs, max_inputs, outputs) \
  case Op::k##Name:                                                      \
    return #name;
#include "schema/op_table.inc"
#undef TAKT_OP
#undef TAKT_GRAPH_OP
    default:
      return "?";
  }
}

}  // namespace takt
