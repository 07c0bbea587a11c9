// arg_reduce, cumulative_sum, top_k, reverse_sequence
#include "engine/ops/check.h"
#include "engine/ops/checks.h"

namespace takt {
using namespace ops;

Status CheckArgReduce(const KernelCall& call, Numerics, uint64_t& work) {
  using enum DataType;
  const DataType index = call.outputs[0].type;
  if (!IsOneOf(call.inputs[0].type, {kFloat32, kInt8, kInt16, kInt32})) return BadOperand(0);
  if (!IsOneOf(index, {kInt32, kInt64})) return BadOperand(1);
  TAKT_TRY(CheckOperands(call, {call.inputs[0].type, index}));
  const TensorRef &x = call.inputs[0], &y = call.outputs[0];
  const int axis = call.params<schema::ArgReduceParams>().axis();
  if (axis >= x.rank) return BadParams();
  if (y.rank != x.rank - 1) return BadOperand(1);
  for (int d = 0; d < y.rank; ++d)
    if (y.dims[d] != x.dims[d < axis ? d : d + 1]) return BadOperand(1);
  AddWork(work, x.size(), 1);
  return {};
}

Status CheckCumulativeSum(const KernelCall& call, Numerics, uint64_t& work) {
  using enum DataType;
  const DataType type = call.inputs[0].type;
  if (!IsOneOf(type, {kFloat32, kInt32, kInt64})) return BadOperand(0);
  TAKT_TRY(CheckOperands(call, {type, type}));
  if (!SameShape(call.inputs[0], call.outputs[0])) return BadOperand(1);
  if (call.params<schema::CumulativeSumParams>().axis() >= call.inputs[0].rank) return BadParams();
  AddWork(work, call.outputs[0].size(), 1);
  return {};
}

Status CheckTopK(const KernelCall& call, Numerics, uint64_t& work) {
  using enum DataType;
  const DataType type = call.inputs[0].type, index = call.outputs[1].type;
  if (!IsOneOf(type, {kFloat32, kInt8, kInt16, kInt32, kInt64})) return BadOperand(0);
  if (!IsOneOf(index, {kInt32, kInt64})) return BadOperand(2);
  TAKT_TRY(CheckOperands(call, {type, type, index}));
  const TensorRef &x = call.inputs[0], &y = call.outputs[0];
  const int axis = call.params<schema::TopKParams>().axis();
  if (axis >= x.rank) return BadParams();
  if (y.rank != x.rank) return BadOperand(1);
  for (int d = 0; d < y.rank; ++d)
    if (d == axis ? y.dims[d] > x.dims[d] : y.dims[d] != x.dims[d]) return BadOperand(1);
  if (!SameShape(y, call.outputs[1])) return BadOperand(2);
  AddWork(work, x.size(), static_cast<uint64_t>(y.dims[axis]));
  return {};
}

Status CheckReverseSequence(const KernelCall& call, Numerics, uint64_t& work) {
  using enum DataType;
  const DataType type = call.inputs[0].type, index = call.inputs[1].type;
  if (BitWidth(type) < 8) return BadOperand(0);
  if (!IsOneOf(index, {kInt32, kInt64})) return BadOperand(1);
  TAKT_TRY(CheckOperands(call, {type, index, type}));
  const auto& p = call.params<schema::ReverseSequenceParams>();
  const TensorRef &x = call.inputs[0], &lengths = call.inputs[1];
  if (p.axis() >= x.rank || p.batch_axis() >= x.rank || p.axis() == p.batch_axis()) return BadParams();
  if (lengths.rank != 1 || lengths.dims[0] != x.dims[p.batch_axis()]) return BadOperand(1);
  if (!SameShape(x, call.outputs[0])) return BadOperand(2);
  AddWork(work, x.size(), 1);
  return {};
}

}  // namespace takt
