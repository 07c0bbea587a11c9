// gather
#include "engine/ops/check.h"
#include "engine/ops/checks.h"

namespace takt {
using namespace ops;

Status CheckGather(const KernelCall& call, Numerics, uint64_t& work) {
  const DataType type = call.inputs[0].type;
  if (call.inputs.size() != 2) return BadOperand(1);
  const DataType index = call.inputs[1].type;
  if (BitWidth(type) < 8) return BadOperand(0);
  if (index != DataType::kInt32 && index != DataType::kInt64) return BadOperand(1);
  TAKT_TRY(CheckOperands(call, {type, index, type}));
  const auto& p = call.params<schema::GatherParams>();
  const TensorRef &x = call.inputs[0], &i = call.inputs[1], &y = call.outputs[0];
  if (p.axis() >= x.rank || p.batch_dims() > p.axis() || p.batch_dims() > i.rank) return BadParams();
  const int added = i.rank - p.batch_dims();  // Dimensions that replace the axis.
  if (y.rank != x.rank + added - 1) return BadOperand(2);
  for (int d = 0; d < p.batch_dims(); ++d)
    if (i.dims[d] != x.dims[d]) return BadOperand(1);
  for (int d = 0; d < y.rank; ++d) {
    const int behind = d - p.axis();
    const int32_t dim = behind < 0       ? x.dims[d]
                        : behind < added ? i.dims[p.batch_dims() + behind]
                                         : x.dims[d - added + 1];
    if (y.dims[d] != dim) return BadOperand(2);
  }
  AddWork(work, y.size(), 1);
  return {};
}

}  // namespace takt
