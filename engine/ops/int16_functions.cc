// leaky_relu, sigmoid_table
#include "engine/ops/check.h"
#include "engine/ops/checks.h"

namespace takt {
using namespace ops;

Status CheckLeakyRelu(const KernelCall& call, Numerics numerics, uint64_t& work) {
  TAKT_TRY(CheckOperands(call, {DataType::kInt16, DataType::kInt16}));
  const auto& p = call.params<schema::LeakyReluParams>();
  if (!SameShape(call.inputs[0], call.outputs[0])) return BadOperand(1);
  if (numerics == Numerics::kAny || !ClampOk(p.clamp(), DataType::kInt16) ||
      !OutputStageOk(numerics, p.scale(), p.multiplier(), p.shift()))
    return BadParams();
  // Of either sign; the least multiplier has no opposite.
  const float scale = p.negative_scale();
  const int32_t multiplier = p.negative_multiplier();
  if (multiplier == std::numeric_limits<int32_t>::min() ||
      !OutputStageOk(numerics, scale < 0 ? -scale : scale, multiplier < 0 ? -multiplier : multiplier,
                     p.negative_shift()))
    return BadParams();
  AddWork(work, call.outputs[0].size(), 1);
  return {};
}

Status ops::CheckLogisticTable(const KernelCall& call, uint32_t index) {
  const TensorRef& table = call.inputs[index];
  if (!HasShape(table, {256})) return BadOperand(index);
  if (!table.constant) return BadConstant(index);
  for (int i = 0; i < 256; ++i)
    if (table.as<const int32_t>()[i] < 0 || table.as<const int32_t>()[i] > 65535) return BadConstant(index);
  return {};
}

Status CheckSigmoidTable(const KernelCall& call, Numerics, uint64_t& work) {
  TAKT_TRY(CheckOperands(call, {DataType::kInt16, DataType::kInt32, DataType::kInt16}));
  const auto& p = call.params<schema::SigmoidTableParams>();
  if (!SameShape(call.inputs[0], call.outputs[0])) return BadOperand(2);
  TAKT_TRY(CheckLogisticTable(call, 1));
  // The product of x and the multiplier stays below 2^31.
  if (p.multiplier() < 0 || p.multiplier() > 32767 || p.shift() < 0 || p.shift() > 30 ||
      (p.function() != schema::UnaryFunction::logistic && p.function() != schema::UnaryFunction::tanh))
    return BadParams();
  AddWork(work, call.outputs[0].size(), 1);
  return {};
}

}  // namespace takt
