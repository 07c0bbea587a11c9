// mean
#include "engine/ops/check.h"
#include "engine/ops/checks.h"

namespace takt {
using namespace ops;

Status CheckMean(const KernelCall& call, Numerics numerics, uint64_t& work) {
  const DataType type = call.inputs[0].type;
  if (!TypeOk(numerics, type)) return BadOperand(0);
  TAKT_TRY(CheckOperands(call, {type, type}));
  const auto& p = call.params<schema::MeanParams>();
  const TensorRef &x = call.inputs[0], &y = call.outputs[0];
  uint32_t reduced = 0;
  if (p.count() > x.rank) return BadParams();
  for (uint16_t i = 0; i < p.count(); ++i) {
    const uint32_t axis = p.axes()->Get(i);
    if (axis >= x.rank || (reduced >> axis & 1) != 0) return BadParams();
    reduced |= 1u << axis;
  }
  // The output keeps the reduced axes as 1, or drops them.
  const bool keep = y.rank == x.rank;
  if (!keep && y.rank != x.rank - p.count()) return BadOperand(1);
  int out = 0;
  for (int d = 0; d < x.rank; ++d) {
    const bool is_reduced = (reduced >> d & 1) != 0;
    if (is_reduced && !keep) continue;
    if (y.dims[out++] != (is_reduced ? 1 : x.dims[d])) return BadOperand(1);
  }
  if (!ClampOk(p.clamp(), type) || !ZeroPointOk(p.input_zero_point(), type) ||
      !ZeroPointOk(p.output_zero_point(), type) || !OutputStageOk(numerics, p.scale(), p.multiplier(), p.shift()))
    return BadParams();
  AddWork(work, x.size(), 1);
  return {};
}

}  // namespace takt
