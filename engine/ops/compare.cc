// compare
#include "engine/ops/check.h"
#include "engine/ops/checks.h"

namespace takt {
using namespace ops;

Status CheckCompare(const KernelCall& call, Numerics numerics, uint64_t& work) {
  using enum DataType;
  const DataType type = call.inputs[0].type;
  const auto& p = call.params<schema::CompareParams>();
  const bool plain = IsOneOf(type, {kFloat32, kInt32, kInt64, kBool});
  if (numerics == Numerics::kAny ? !plain : !IsOneOf(type, {kInt8, kInt16})) return BadOperand(0);
  TAKT_TRY(CheckOperands(call, {type, type, kBool}));
  TAKT_TRY(CheckBroadcast(call));
  if (p.function() > schema::CompareFunction::MAX || !ZeroPointOk(p.a_zero_point(), type) ||
      !ZeroPointOk(p.b_zero_point(), type))
    return BadParams();
  if (numerics == Numerics::kFp32Rne && (!PositiveOk(p.a_scale()) || !PositiveOk(p.b_scale()))) return BadParams();
  if (numerics == Numerics::kTflite &&
      (!MultiplierOk(p.a_multiplier(), p.a_shift()) || !MultiplierOk(p.b_multiplier(), p.b_shift())))
    return BadParams();
  AddWork(work, call.outputs[0].size(), 1);
  return {};
}

}  // namespace takt
