// softmax
#include "engine/ops/check.h"
#include "engine/ops/checks.h"

namespace takt {
using namespace ops;

/// exp(0) = 1 in Q15, so that a row's sum is not 0; no value is negative.
static Status CheckWideTables(const KernelCall& call) {
  for (uint32_t i = 1; i < 3; ++i) {
    const TensorRef& table = call.inputs[i];
    if (table.rank != 1 || table.dims[0] != 513) return BadOperand(i);
    if (!table.constant) return BadConstant(i);
    for (int k = 0; k < 513; ++k)
      if (table.as<const int16_t>()[k] < 0) return BadConstant(i);
  }
  return call.inputs[1].as<const int16_t>()[512] == 32767 ? Status() : BadConstant(1);
}

Status CheckSoftmax(const KernelCall& call, Numerics numerics, uint64_t& work) {
  using enum DataType;
  const auto& p = call.params<schema::SoftmaxParams>();
  const bool wide = call.inputs[0].type == kInt16;
  const DataType out = wide || call.outputs[0].type == kInt16 ? kInt16 : kInt8;
  if (numerics == Numerics::kFp32Rne)
    TAKT_TRY(CheckOperands(call, {wide ? kInt16 : kInt8, kUint32, out}));
  else if (wide)
    TAKT_TRY(CheckOperands(call, {kInt16, kInt16, kInt16, kInt16}));
  else if (numerics == Numerics::kTflite)
    TAKT_TRY(CheckOperands(call, {kInt8, out}));
  else
    TAKT_TRY(CheckOperands(call, {kFloat32, kFloat32}));
  const TensorRef& x = call.inputs[0];
  if (x.rank < 1) return BadOperand(0);
  if (!SameShape(x, call.outputs[0])) return BadOperand(static_cast<uint32_t>(call.inputs.size()));
  if (numerics == Numerics::kFp32Rne) {
    const TensorRef& table = call.inputs[1];
    if (table.rank != 1 || table.dims[0] != (wide ? 512 : 256)) return BadOperand(1);
    if (!table.constant) return BadConstant(1);
    // The largest value of a row has d = 0: the sum is not 0.
    const auto* t = table.as<const uint32_t>();
    if (t[0] == 0 || (wide && (t[0] != uint32_t{1} << 24 || t[256] != t[0]))) return BadConstant(1);
    for (int i = 0; wide && i < 512; ++i)
      if (t[i] > t[0]) return BadConstant(1);
  } else if (wide) {
    TAKT_TRY(CheckWideTables(call));
    // A row's sum is Q15 in 31 bits.
    if (x.dims[x.rank - 1] > 65535) return BadOperand(0);
    if (!MultiplierOk(p.multiplier(), p.shift())) return BadParams();
  } else if (numerics == Numerics::kTflite) {
    // The sum is Q12: it holds fewer than 4096 ones.
    if (x.dims[x.rank - 1] >= 4096) return BadOperand(0);
    if (!MultiplierOk(p.multiplier(), p.shift()) || p.shift() < 0 || p.diff_min() > 0) return BadParams();
  } else if (!PositiveOk(p.beta())) {
    return BadParams();
  }
  AddWork(work, x.size(), 3);
  return {};
}

}  // namespace takt
