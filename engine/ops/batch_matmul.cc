// batch_matmul
#include "engine/ops/check.h"
#include "engine/ops/checks.h"

namespace takt {
using namespace ops;

Status CheckBatchMatMul(const KernelCall& call, Numerics numerics, uint64_t& work) {
  const DataType type = call.inputs[0].type;
  if (!TypeOk(numerics, type)) return BadOperand(0);
  TAKT_TRY(CheckOperands(call, {type, type, type}));
  const auto& p = call.params<schema::BatchMatMulParams>();
  const TensorRef &a = call.inputs[0], &b = call.inputs[1], &y = call.outputs[0];
  if (y.rank < 2) return BadOperand(2);
  const int32_t rows = y.dims[y.rank - 2], columns = y.dims[y.rank - 1];
  int32_t depth = 0;
  for (uint32_t i = 0; i < 2; ++i) {
    const TensorRef& t = i == 0 ? a : b;
    if (t.rank < 2 || t.rank > y.rank) return BadOperand(i);
    for (int d = 0; d < t.rank - 2; ++d)
      if (t.dims[d] != 1 && t.dims[d] != y.dims[y.rank - t.rank + d]) return BadOperand(i);
    const bool transposed = i == 0 ? p.transpose_a() : p.transpose_b();
    const int32_t first = t.dims[t.rank - (transposed ? 1 : 2)], second = t.dims[t.rank - (transposed ? 2 : 1)];
    if ((i == 0 ? first : second) != (i == 0 ? rows : columns)) return BadOperand(i);
    if (i == 0) depth = second;
    if (i == 1 && first != depth) return BadOperand(1);
  }
  if (!ClampOk(p.clamp(), type) || !ZeroPointOk(p.a_zero_point(), type) || !ZeroPointOk(p.b_zero_point(), type) ||
      !ZeroPointOk(p.output_zero_point(), type) || !OutputStageOk(numerics, p.scale(), p.multiplier(), p.shift()))
    return BadParams();
  AddWork(work, y.size(), static_cast<uint64_t>(depth));
  return {};
}

}  // namespace takt
