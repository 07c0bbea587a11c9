// softmax
#include "engine/ops/check.h"
#include "engine/ops/checks.h"

namespace takt {
using namespace ops;

Status CheckSoftmax(const KernelCall& call, Numerics numerics, uint64_t& work) {
  using enum DataType;
  const auto& p = call.params<schema::SoftmaxParams>();
  if (numerics == Numerics::kFp32Rne)
    TAKT_TRY(CheckOperands(call, {kInt8, kUint32, kInt8}));
  else if (numerics == Numerics::kTflite)
    TAKT_TRY(CheckOperands(call, {kInt8, kInt8}));
  else
    TAKT_TRY(CheckOperands(call, {kFloat32, kFloat32}));
  const TensorRef& x = call.inputs[0];
  if (x.rank < 1) return BadOperand(0);
  if (!SameShape(x, call.outputs[0])) return BadOperand(static_cast<uint32_t>(call.inputs.size()));
  if (numerics == Numerics::kFp32Rne) {
    const TensorRef& table = call.inputs[1];
    if (table.rank != 1 || table.dims[0] != 256) return BadOperand(1);
    if (!table.constant || table.as<const uint32_t>()[0] == 0) return BadConstant(1);
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
