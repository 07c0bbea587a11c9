// binary
#include "engine/ops/check.h"
#include "engine/ops/checks.h"

namespace takt {
using namespace ops;

/// Which functions a type has: those of int8 and int16 depend on the numerics, as add and multiply have steps of their
/// own.
static bool FunctionOk(schema::BinaryFunction function, DataType type, Numerics numerics) {
  using enum schema::BinaryFunction;
  if (function > schema::BinaryFunction::MAX) return false;
  const bool bits = function == exclusive_or || function == right_shift;
  if (type == DataType::kFloat32) return !bits;
  if (type != DataType::kInt8 && type != DataType::kInt16) return function != prelu && function != atan2;
  return numerics == Numerics::kAny ? function == maximum || function == minimum
                                    : function == squared_difference || function == prelu;
}

static bool OutputStagesOk(const schema::BinaryParams& p, Numerics numerics) {
  if (numerics == Numerics::kFp32Rne) return ScaleOk(p.a_scale()) && ScaleOk(p.b_scale());
  return numerics != Numerics::kTflite ||
         (p.left_shift() >= 0 && p.left_shift() <= 7 && MultiplierOk(p.a_multiplier(), p.a_shift()) &&
          MultiplierOk(p.b_multiplier(), p.b_shift()) && MultiplierOk(p.output_multiplier(), p.output_shift()));
}

Status CheckBinary(const KernelCall& call, Numerics numerics, uint64_t& work) {
  using enum DataType;
  const DataType type = call.inputs[0].type;
  const auto& p = call.params<schema::BinaryParams>();
  const bool plain = IsOneOf(type, {kFloat32, kInt32, kInt64});
  if (!IsOneOf(type, {kInt8, kInt16}) && (!plain || numerics != Numerics::kAny)) return BadOperand(0);
  TAKT_TRY(CheckOperands(call, {type, type, type}));
  TAKT_TRY(CheckBroadcast(call));
  if (!FunctionOk(p.function(), type, numerics) || !ClampOk(p.clamp(), plain ? kFloat32 : type) ||
      !OutputStagesOk(p, numerics))
    return BadParams();
  for (const int32_t zero_point : {p.a_zero_point(), p.b_zero_point(), p.output_zero_point()})
    if (!ZeroPointOk(zero_point, type)) return BadParams();
  AddWork(work, call.outputs[0].size(), 1);
  return {};
}

}  // namespace takt
