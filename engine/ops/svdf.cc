// svdf
#include "engine/ops/check.h"
#include "engine/ops/checks.h"

namespace takt {
using namespace ops;

Status CheckSvdf(const KernelCall& call, Numerics numerics, uint64_t& work) {
  const bool is_float = numerics == Numerics::kAny;
  const DataType type = is_float ? DataType::kFloat32 : DataType::kInt8;
  const bool narrow = !is_float && call.inputs[2].type == DataType::kInt8;
  const DataType memory = is_float ? DataType::kFloat32 : narrow ? DataType::kInt8 : DataType::kInt16;
  const DataType bias_type = is_float ? DataType::kFloat32 : DataType::kInt32;
  TAKT_TRY(CheckOperands(call, {type, type, memory, bias_type, memory, type, memory}));
  const auto& p = call.params<schema::SvdfParams>();
  const TensorRef &x = call.inputs[0], &feature = call.inputs[1], &time = call.inputs[2], &bias = call.inputs[3];
  const TensorRef &state = call.inputs[4], &y = call.outputs[0];
  if (x.rank != 2) return BadOperand(0);
  if (feature.rank != 2 || feature.dims[1] != x.dims[1]) return BadOperand(1);
  if (time.rank != 2 || time.dims[0] != feature.dims[0]) return BadOperand(2);
  if (p.rank() == 0 || feature.dims[0] % p.rank() != 0) return BadParams();
  const int32_t units = feature.dims[0] / p.rank();
  if (bias.rank != 1 || bias.dims[0] != units) return BadOperand(3);
  if (state.rank != 2 || state.dims[0] != x.dims[0] || static_cast<uint32_t>(state.dims[1]) != time.size())
    return BadOperand(4);
  if (y.rank != 2 || y.dims[0] != x.dims[0] || y.dims[1] != units) return BadOperand(5);
  if (!SameShape(state, call.outputs[1])) return BadOperand(6);
  if (!ClampOk(p.clamp(), type) || !ZeroPointOk(p.input_zero_point(), type) ||
      !ZeroPointOk(p.output_zero_point(), type) || !ZeroPointOk(p.state_zero_point(), memory))
    return BadParams();
  for (const schema::Rescale* stage : {&p.feature(), &p.output()})
    if (!OutputStageOk(numerics, stage->scale(), stage->multiplier(), stage->shift())) return BadParams();
  AddWork(work, static_cast<uint32_t>(x.dims[0]), feature.size());
  AddWork(work, static_cast<uint32_t>(x.dims[0]), 2 * uint64_t{time.size()});
  return {};
}

}  // namespace takt
