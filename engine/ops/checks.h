// The rule of every op, for a step of numerics N: Check<Op><N> has the signature of Kernel::check.
#ifndef TAKT_ENGINE_OPS_CHECKS_H_
#define TAKT_ENGINE_OPS_CHECKS_H_

#include "engine/core/kernel.h"

namespace takt {

#define TAKT_OP(Name, name, file, min_inputs, max_inputs, outputs, traits)       \
  Status Check##Name(const KernelCall& call, Numerics numerics, uint64_t& work); \
  template <Numerics N>                                                          \
  Status Check##Name(const KernelCall& call, uint64_t& work) {                   \
    return Check##Name(call, N, work);                                           \
  }
#define TAKT_GRAPH_OP(Name, name, file, min_inputs, max_inputs, outputs)
#include "schema/op_table.inc"
#undef TAKT_OP
#undef TAKT_GRAPH_OP

}  // namespace takt

#endif  // TAKT_ENGINE_OPS_CHECKS_H_
