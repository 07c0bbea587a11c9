// quantize, dequantize, requantize
#include "engine/ops/check.h"
#include "engine/ops/checks.h"

namespace takt {
using namespace ops;

static bool IsStored(DataType type) {
  return type == DataType::kInt8 || type == DataType::kUint8 || type == DataType::kInt16 || type == DataType::kInt32;
}
/// Within the type, and within int16, which the params hold.
static bool StoredZeroPointOk(int32_t zero_point, DataType type) {
  if (BitWidth(type) == 8) return ZeroPointOk(zero_point, type);
  return zero_point >= -32768 && zero_point <= 32767;
}

Status CheckQuantize(const KernelCall& call, Numerics, uint64_t& work) {
  const DataType type = call.outputs[0].type;
  if (type != DataType::kInt8 && type != DataType::kInt16) return BadOperand(1);
  TAKT_TRY(CheckOperands(call, {DataType::kFloat32, type}));
  const auto& p = call.params<schema::QuantizeParams>();
  if (!SameShape(call.inputs[0], call.outputs[0])) return BadOperand(1);
  if (!PositiveOk(p.scale()) || !StoredZeroPointOk(p.zero_point(), type)) return BadParams();
  AddWork(work, call.outputs[0].size(), 1);
  return {};
}

Status CheckDequantize(const KernelCall& call, Numerics, uint64_t& work) {
  const DataType type = call.inputs[0].type;
  if (!IsStored(type) || type == DataType::kUint8) return BadOperand(0);
  TAKT_TRY(CheckOperands(call, {type, DataType::kFloat32}));
  const auto& p = call.params<schema::DequantizeParams>();
  if (!SameShape(call.inputs[0], call.outputs[0])) return BadOperand(1);
  if (!PositiveOk(p.scale()) || !StoredZeroPointOk(p.zero_point(), type)) return BadParams();
  AddWork(work, call.outputs[0].size(), 1);
  return {};
}

Status CheckRequantize(const KernelCall& call, Numerics numerics, uint64_t& work) {
  const DataType in = call.inputs[0].type, out = call.outputs[0].type;
  if (!IsStored(in)) return BadOperand(0);
  if (!IsStored(out)) return BadOperand(1);
  TAKT_TRY(CheckOperands(call, {in, out}));
  const auto& p = call.params<schema::RequantizeParams>();
  if (!SameShape(call.inputs[0], call.outputs[0])) return BadOperand(1);
  // int32 comes from the multiplier in both numerics, not clamped.
  const bool wide = out == DataType::kInt32;
  if (wide != (numerics == Numerics::kAny)) return BadOperand(1);
  if (!(wide ? MultiplierOk(p.multiplier(), p.shift())
             : ClampOk(p.clamp(), out) && OutputStageOk(numerics, p.scale(), p.multiplier(), p.shift())) ||
      !StoredZeroPointOk(p.input_zero_point(), in) || !StoredZeroPointOk(p.output_zero_point(), out))
    return BadParams();
  AddWork(work, call.outputs[0].size(), 1);
  return {};
}

}  // namespace takt
