// mean, reduce
#include "engine/ops/check.h"
#include "engine/ops/checks.h"

namespace takt {
using namespace ops;

/// `count` different axes below x's rank, which the output keeps as 1 or drops.
static Status CheckReducedShape(const TensorRef& x, const TensorRef& y, const flatbuffers::Array<uint8_t, 6>& axes,
                                uint32_t count) {
  uint32_t reduced = 0;
  if (count > x.rank) return BadParams();
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t axis = axes.Get(static_cast<uint16_t>(i));
    if (axis >= x.rank || (reduced >> axis & 1) != 0) return BadParams();
    reduced |= 1u << axis;
  }
  const bool keep = y.rank == x.rank;
  if (!keep && y.rank != x.rank - static_cast<int>(count)) return BadOperand(1);
  int out = 0;
  for (int d = 0; d < x.rank; ++d) {
    const bool is_reduced = (reduced >> d & 1) != 0;
    if (is_reduced && !keep) continue;
    if (y.dims[out++] != (is_reduced ? 1 : x.dims[d])) return BadOperand(1);
  }
  return {};
}

Status CheckMean(const KernelCall& call, Numerics numerics, uint64_t& work) {
  const DataType type = call.inputs[0].type;
  if (!TypeOk(numerics, type)) return BadOperand(0);
  TAKT_TRY(CheckOperands(call, {type, type}));
  const auto& p = call.params<schema::MeanParams>();
  TAKT_TRY(CheckReducedShape(call.inputs[0], call.outputs[0], *p.axes(), p.count()));
  if (!ClampOk(p.clamp(), type) || !ZeroPointOk(p.input_zero_point(), type) ||
      !ZeroPointOk(p.output_zero_point(), type) || !OutputStageOk(numerics, p.scale(), p.multiplier(), p.shift()))
    return BadParams();
  AddWork(work, call.inputs[0].size(), 1);
  return {};
}

Status CheckReduce(const KernelCall& call, Numerics, uint64_t& work) {
  using enum schema::ReduceFunction;
  const DataType type = call.inputs[0].type;
  if (!IsOneOf(type, {DataType::kFloat32, DataType::kInt8, DataType::kInt16, DataType::kInt32, DataType::kInt64,
                      DataType::kBool}))
    return BadOperand(0);
  TAKT_TRY(CheckOperands(call, {type, type}));
  const auto& p = call.params<schema::ReduceParams>();
  const bool logical = p.function() == any || p.function() == all,
             extreme = p.function() == maximum || p.function() == minimum;
  if (p.function() > schema::ReduceFunction::MAX || logical != (type == DataType::kBool) ||
      (IsOneOf(type, {DataType::kInt8, DataType::kInt16}) && !extreme))
    return BadParams();
  TAKT_TRY(CheckReducedShape(call.inputs[0], call.outputs[0], *p.axes(), p.count()));
  AddWork(work, call.inputs[0].size(), 1);
  return {};
}

}  // namespace takt
