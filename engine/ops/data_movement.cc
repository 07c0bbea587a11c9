// copy, pad, transpose
#include "engine/ops/check.h"
#include "engine/ops/checks.h"

namespace takt {
using namespace ops;

Status CheckCopy(const KernelCall& call, Numerics, uint64_t& work) {
  const DataType type = call.inputs[0].type;
  TAKT_TRY(CheckOperands(call, {type, type}, true));
  const int32_t bytes = static_cast<int32_t>(BitWidth(type) / 8);
  if (bytes == 0) return BadOperand(0);
  const TensorRef* operands[] = {&call.inputs[0], &call.outputs[0]};
  for (uint32_t i = 0; i < 2; ++i)
    for (int d = 0; operands[i]->strides != nullptr && d < operands[i]->rank; ++d)
      if (operands[i]->strides[d] % bytes != 0) return BadOperand(i);
  if (!SameShape(call.inputs[0], call.outputs[0])) return BadOperand(1);
  AddWork(work, call.outputs[0].size(), 1);
  return {};
}

Status CheckPad(const KernelCall& call, Numerics, uint64_t& work) {
  const DataType type = call.inputs[0].type;
  TAKT_TRY(CheckOperands(call, {type, type}));
  const auto& p = call.params<schema::PadParams>();
  const TensorRef &x = call.inputs[0], &y = call.outputs[0];
  if (y.rank != x.rank) return BadOperand(1);
  if (p.count() != x.rank) return BadParams();
  for (uint16_t d = 0; d < x.rank; ++d) {
    const int64_t before = p.before()->Get(d), after = p.after()->Get(d);
    if (before < 0 || after < 0) return BadParams();
    if (x.dims[d] + before + after != y.dims[d]) return BadOperand(1);
  }
  AddWork(work, y.size(), 1);
  return {};
}

Status CheckTranspose(const KernelCall& call, Numerics, uint64_t& work) {
  const DataType type = call.inputs[0].type;
  TAKT_TRY(CheckOperands(call, {type, type}));
  const auto& p = call.params<schema::TransposeParams>();
  const TensorRef &x = call.inputs[0], &y = call.outputs[0];
  if (y.rank != x.rank) return BadOperand(1);
  if (p.count() != x.rank) return BadParams();
  uint32_t seen = 0;
  for (uint16_t d = 0; d < x.rank; ++d) {
    const uint32_t axis = p.permutation()->Get(d);
    if (axis >= x.rank || (seen >> axis & 1) != 0) return BadParams();
    seen |= 1u << axis;
    if (y.dims[d] != x.dims[axis]) return BadOperand(1);
  }
  AddWork(work, y.size(), 1);
  return {};
}

}  // namespace takt
