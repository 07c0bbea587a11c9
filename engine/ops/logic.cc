// logic, select
#include "engine/ops/check.h"
#include "engine/ops/checks.h"

namespace takt {
using namespace ops;

Status CheckLogic(const KernelCall& call, Numerics, uint64_t& work) {
  using enum DataType;
  const schema::LogicFunction function = call.params<schema::LogicParams>().function();
  if (function > schema::LogicFunction::MAX) return BadParams();
  if (function == schema::LogicFunction::negation)
    TAKT_TRY(CheckOperands(call, {kBool, kBool}));
  else
    TAKT_TRY(CheckOperands(call, {kBool, kBool, kBool}));
  TAKT_TRY(CheckBroadcast(call));
  AddWork(work, call.outputs[0].size(), 1);
  return {};
}

Status CheckSelect(const KernelCall& call, Numerics, uint64_t& work) {
  if (call.inputs.size() != 3) return BadOperand(static_cast<uint32_t>(call.inputs.size()));
  const DataType type = call.inputs[1].type;
  TAKT_TRY(CheckOperands(call, {DataType::kBool, type, type, type}));
  TAKT_TRY(CheckBroadcast(call));
  AddWork(work, call.outputs[0].size(), 1);
  return {};
}

}  // namespace takt
