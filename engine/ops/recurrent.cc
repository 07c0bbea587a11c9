// gru, rnn
#include "engine/ops/check.h"
#include "engine/ops/checks.h"

namespace takt {
using namespace ops;

/// A cell with `gates` gates; a gru has one operand more.
static Status CheckRecurrent(const KernelCall& call, int64_t gates, uint64_t& work) {
  using enum DataType;
  DataType types[8];
  for (DataType& type : types) type = kFloat32;
  const bool gru = gates == 3;
  TAKT_TRY(CheckOperands(call, std::span<const DataType>(types, gru ? 8 : 7)));
  const auto& p = call.params<schema::RecurrentParams>();
  const TensorRef &x = call.inputs[0], &h = call.inputs[4];
  if (x.rank != 3) return BadOperand(0);
  if (h.rank != 2 || h.dims[0] != x.dims[p.batch_major() ? 0 : 1]) return BadOperand(4);
  const int64_t cells = h.dims[1];
  if (!HasShape(call.inputs[1], {gates * cells, x.dims[2]})) return BadOperand(1);
  if (!HasShape(call.inputs[2], {gates * cells, cells})) return BadOperand(2);
  if (!HasShape(call.inputs[3], {gates * cells})) return BadOperand(3);
  if (gru && !HasShape(call.inputs[5], {cells})) return BadOperand(5);
  const auto inputs = static_cast<uint32_t>(call.inputs.size());
  if (!HasShape(call.outputs[0], {x.dims[0], x.dims[1], cells})) return BadOperand(inputs);
  if (!SameShape(h, call.outputs[1])) return BadOperand(inputs + 1);
  if (!ClampOk(p.sum(), kFloat32) || p.gate_function() > schema::GateFunction::relu6 ||
      p.candidate_function() > schema::GateFunction::relu6)
    return BadParams();
  const auto row = static_cast<uint64_t>(x.dims[2] + cells + 4);
  AddWork(work, x.size() / static_cast<uint32_t>(x.dims[2]), static_cast<uint64_t>(gates * cells) * row);
  return {};
}

Status CheckGru(const KernelCall& call, Numerics, uint64_t& work) {
  return CheckRecurrent(call, 3, work);
}

Status CheckRnn(const KernelCall& call, Numerics, uint64_t& work) {
  return CheckRecurrent(call, 1, work);
}

}  // namespace takt
