// clamp, unary
#include "engine/ops/check.h"
#include "engine/ops/checks.h"

namespace takt {
using namespace ops;

Status CheckClamp(const KernelCall& call, Numerics, uint64_t& work) {
  const DataType type = call.inputs[0].type;
  if (type != DataType::kInt8 && type != DataType::kInt16 && type != DataType::kFloat32) return BadOperand(0);
  TAKT_TRY(CheckOperands(call, {type, type}));
  if (!SameShape(call.inputs[0], call.outputs[0])) return BadOperand(1);
  if (!ClampOk(call.params<schema::ClampParams>().clamp(), type)) return BadParams();
  AddWork(work, call.outputs[0].size(), 1);
  return {};
}

Status CheckUnary(const KernelCall& call, Numerics, uint64_t& work) {
  using enum DataType;
  const auto& p = call.params<schema::UnaryParams>();
  if (call.inputs[0].type == kFloat32) {
    TAKT_TRY(CheckOperands(call, {kFloat32, kFloat32}));
    if (p.function() > schema::UnaryFunction::MAX || p.alpha() != p.alpha()) return BadParams();
  } else if (IsOneOf(call.inputs[0].type, {kInt32, kInt64})) {
    using enum schema::UnaryFunction;
    TAKT_TRY(CheckOperands(call, {call.inputs[0].type, call.inputs[0].type}));
    if (p.function() != abs && p.function() != neg && p.function() != sign && p.function() != square)
      return BadParams();
  } else {
    const DataType type = call.inputs[0].type == kInt16 ? kInt16 : kInt8;
    TAKT_TRY(CheckOperands(call, {type, type, type}));
    if (call.inputs[1].rank != 1 || call.inputs[1].dims[0] != (type == kInt8 ? 256 : 513)) return BadOperand(1);
    if (!call.inputs[1].constant) return BadConstant(1);
  }
  if (!SameShape(call.inputs[0], call.outputs[0])) return BadOperand(static_cast<uint32_t>(call.inputs.size()));
  AddWork(work, call.outputs[0].size(), 1);
  return {};
}

}  // namespace takt
