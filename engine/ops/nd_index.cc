// gather_nd, scatter_nd, update_slice
#include "engine/ops/check.h"
#include "engine/ops/checks.h"

namespace takt {
using namespace ops;

static bool IndexOk(DataType type) {
  return type == DataType::kInt32 || type == DataType::kInt64;
}

Status CheckGatherNd(const KernelCall& call, Numerics, uint64_t& work) {
  const DataType type = call.inputs[0].type, index = call.inputs[1].type;
  if (BitWidth(type) < 8) return BadOperand(0);
  if (!IndexOk(index)) return BadOperand(1);
  TAKT_TRY(CheckOperands(call, {type, index, type}));
  const TensorRef &x = call.inputs[0], &i = call.inputs[1], &y = call.outputs[0];
  const int batch_dims = call.params<schema::GatherNdParams>().batch_dims(), rows = i.rank - 1;
  if (i.rank < 1) return BadOperand(1);
  if (batch_dims > rows || batch_dims > x.rank) return BadParams();
  if (i.dims[rows] > x.rank - batch_dims) return BadOperand(1);
  const int named = batch_dims + i.dims[rows];  // Dimensions of x that indices stand for.
  for (int d = 0; d < batch_dims; ++d)
    if (i.dims[d] != x.dims[d]) return BadOperand(1);
  if (y.rank != rows + x.rank - named) return BadOperand(2);
  for (int d = 0; d < y.rank; ++d)
    if (y.dims[d] != (d < rows ? i.dims[d] : x.dims[named + d - rows])) return BadOperand(2);
  AddWork(work, y.size(), 1);
  AddWork(work, i.size(), 1);
  return {};
}

Status CheckScatterNd(const KernelCall& call, Numerics, uint64_t& work) {
  using enum DataType;
  const DataType type = call.inputs[0].type, index = call.inputs[1].type;
  const auto function = call.params<schema::ScatterNdParams>().function();
  const bool adds = function != schema::ScatterFunction::replace;
  if (adds ? !IsOneOf(type, {kFloat32, kInt8, kInt16, kInt32, kInt64}) : BitWidth(type) < 8) return BadOperand(0);
  if (!IndexOk(index)) return BadOperand(1);
  if (function > schema::ScatterFunction::MAX) return BadParams();
  if (call.inputs.size() == 3)
    TAKT_TRY(CheckOperands(call, {type, index, type, type}));
  else
    TAKT_TRY(CheckOperands(call, {type, index, type}));
  const TensorRef &updates = call.inputs[0], &i = call.inputs[1], &y = call.outputs[0];
  const int rows = i.rank - 1;
  if (i.rank < 1 || i.dims[rows] > y.rank) return BadOperand(1);
  const int named = i.dims[rows];
  if (updates.rank != rows + y.rank - named) return BadOperand(0);
  for (int d = 0; d < updates.rank; ++d)
    if (updates.dims[d] != (d < rows ? i.dims[d] : y.dims[named + d - rows])) return BadOperand(0);
  if (call.inputs.size() == 3 && !SameShape(call.inputs[2], y)) return BadOperand(2);
  AddWork(work, y.size(), 1);
  AddWork(work, updates.size(), 1);
  AddWork(work, i.size(), 1);
  return {};
}

Status CheckUpdateSlice(const KernelCall& call, Numerics, uint64_t& work) {
  const DataType type = call.inputs[0].type, index = call.inputs[1].type;
  if (BitWidth(type) < 8) return BadOperand(0);
  if (!IndexOk(index)) return BadOperand(1);
  TAKT_TRY(CheckOperands(call, {type, index, type, type}));
  const TensorRef &update = call.inputs[0], &starts = call.inputs[1], &x = call.inputs[2];
  if (update.rank != x.rank) return BadOperand(0);
  for (int d = 0; d < x.rank; ++d)
    if (update.dims[d] > x.dims[d]) return BadOperand(0);
  if (x.rank < 1 || starts.rank != 1 || starts.dims[0] != x.rank) return BadOperand(1);
  if (!SameShape(x, call.outputs[0])) return BadOperand(3);
  AddWork(work, x.size(), 1);
  AddWork(work, update.size(), 1);
  return {};
}

}  // namespace takt
