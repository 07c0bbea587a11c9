// quantize, dequantize, requantize
#include "engine/ops/check.h"
#include "engine/ops/checks.h"

namespace takt {
using namespace ops;

Status CheckQuantize(const KernelCall& call, Numerics, uint64_t& work) {
  TAKT_TRY(CheckOperands(call, {DataType::kFloat32, DataType::kInt8}));
  const auto& p = call.params<schema::QuantizeParams>();
  if (!SameShape(call.inputs[0], call.outputs[0])) return BadOperand(1);
  if (!PositiveOk(p.scale()) || !ZeroPointOk(p.zero_point(), DataType::kInt8)) return BadParams();
  AddWork(work, call.outputs[0].size(), 1);
  return {};
}

Status CheckDequantize(const KernelCall& call, Numerics, uint64_t& work) {
  TAKT_TRY(CheckOperands(call, {DataType::kInt8, DataType::kFloat32}));
  const auto& p = call.params<schema::DequantizeParams>();
  if (!SameShape(call.inputs[0], call.outputs[0])) return BadOperand(1);
  if (!PositiveOk(p.scale()) || !ZeroPointOk(p.zero_point(), DataType::kInt8)) return BadParams();
  AddWork(work, call.outputs[0].size(), 1);
  return {};
}

Status CheckRequantize(const KernelCall& call, Numerics numerics, uint64_t& work) {
  const DataType in = call.inputs[0].type == DataType::kUint8 ? DataType::kUint8 : DataType::kInt8;
  const DataType out = call.outputs[0].type == DataType::kUint8 ? DataType::kUint8 : DataType::kInt8;
  TAKT_TRY(CheckOperands(call, {in, out}));
  const auto& p = call.params<schema::RequantizeParams>();
  if (!SameShape(call.inputs[0], call.outputs[0])) return BadOperand(1);
  if (!ClampOk(p.clamp(), out) || !ZeroPointOk(p.input_zero_point(), in) || !ZeroPointOk(p.output_zero_point(), out) ||
      !OutputStageOk(numerics, p.scale(), p.multiplier(), p.shift()))
    return BadParams();
  AddWork(work, call.outputs[0].size(), 1);
  return {};
}

}  // namespace takt
