// add, mul
#include "engine/ops/check.h"
#include "engine/ops/checks.h"

namespace takt {
namespace ops {

bool AddOk(const schema::AddParams& p, Numerics numerics, DataType type) {
  if (p.function() > schema::AddFunction::subtract || !ClampOk(p.clamp(), type) ||
      !ZeroPointOk(p.a_zero_point(), type) || !ZeroPointOk(p.b_zero_point(), type) ||
      !ZeroPointOk(p.output_zero_point(), type))
    return false;
  if (numerics == Numerics::kFp32Rne) {
    constexpr int32_t kMax = 1 << 21;  // int8: 2 * 255 * 2^21 + 2^29 < 2^31
    return p.output_shift() >= 1 && p.output_shift() <= 30 && p.a_multiplier() >= -kMax && p.a_multiplier() <= kMax &&
           p.b_multiplier() >= -kMax && p.b_multiplier() <= kMax;
  }
  if (numerics == Numerics::kTflite)
    return p.left_shift() >= 0 && p.left_shift() <= 22 && MultiplierOk(p.a_multiplier(), p.a_shift()) &&
           MultiplierOk(p.b_multiplier(), p.b_shift()) && MultiplierOk(p.output_multiplier(), p.output_shift());
  return true;
}

Status CheckBroadcast(const KernelCall& call) {
  const TensorRef& y = call.outputs[0];
  for (uint32_t i = 0; i < call.inputs.size(); ++i) {
    const TensorRef& t = call.inputs[i];
    if (t.rank > y.rank) return BadOperand(i);
    for (int d = 0; d < t.rank; ++d)
      if (t.dims[d] != 1 && t.dims[d] != y.dims[y.rank - t.rank + d]) return BadOperand(i);
  }
  return {};
}

}  // namespace ops

using namespace ops;

Status CheckAdd(const KernelCall& call, Numerics numerics, uint64_t& work) {
  const DataType type = call.inputs[0].type;
  if (!TypeOk(numerics, type)) return BadOperand(0);
  TAKT_TRY(CheckOperands(call, {type, type, type}));
  TAKT_TRY(CheckBroadcast(call));
  if (!AddOk(call.params<schema::AddParams>(), numerics, type)) return BadParams();
  AddWork(work, call.outputs[0].size(), 1);
  return {};
}

Status CheckMul(const KernelCall& call, Numerics numerics, uint64_t& work) {
  const DataType type = call.inputs[0].type;
  if (!TypeOk(numerics, type)) return BadOperand(0);
  TAKT_TRY(CheckOperands(call, {type, type, type}));
  TAKT_TRY(CheckBroadcast(call));
  const auto& p = call.params<schema::MulParams>();
  if (!ClampOk(p.clamp(), type) || !ZeroPointOk(p.a_zero_point(), type) || !ZeroPointOk(p.b_zero_point(), type) ||
      !ZeroPointOk(p.output_zero_point(), type) || !OutputStageOk(numerics, p.scale(), p.multiplier(), p.shift()))
    return BadParams();
  AddWork(work, call.outputs[0].size(), 1);
  return {};
}

}  // namespace takt
