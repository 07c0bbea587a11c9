// cast
#include "engine/ops/check.h"
#include "engine/ops/checks.h"

namespace takt {
using namespace ops;

Status CheckCast(const KernelCall& call, Numerics, uint64_t& work) {
  using enum DataType;
  const TensorRef* operands[] = {&call.inputs[0], &call.outputs[0]};
  for (uint32_t i = 0; i < 2; ++i)
    if (!IsOneOf(operands[i]->type, {kFloat32, kInt8, kUint8, kInt16, kInt32, kInt64, kUint32, kBool}))
      return BadOperand(i);
  TAKT_TRY(CheckOperands(call, {call.inputs[0].type, call.outputs[0].type}));
  if (!SameShape(call.inputs[0], call.outputs[0])) return BadOperand(1);
  AddWork(work, call.outputs[0].size(), 1);
  return {};
}

}  // namespace takt
