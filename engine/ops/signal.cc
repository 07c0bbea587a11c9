// signal_window, fft_auto_scale, energy, overlap_add
#include "engine/ops/check.h"
#include "engine/ops/checks.h"

namespace takt {
using namespace ops;

Status CheckSignalWindow(const KernelCall& call, Numerics, uint64_t& work) {
  using enum DataType;
  TAKT_TRY(CheckOperands(call, {kInt16, kInt16, kInt16}));
  const TensorRef &x = call.inputs[0], &window = call.inputs[1], &y = call.outputs[0];
  if (x.rank == 0) return BadOperand(0);
  if (window.rank != 1 || x.dims[x.rank - 1] % window.dims[0] != 0) return BadOperand(1);
  if (!SameShape(x, y)) return BadOperand(2);
  if (call.params<schema::SignalWindowParams>().shift() > 31) return BadParams();
  AddWork(work, x.size(), 1);
  return {};
}

Status CheckFftAutoScale(const KernelCall& call, Numerics, uint64_t& work) {
  using enum DataType;
  TAKT_TRY(CheckOperands(call, {kInt16, kInt16, kInt32}));
  if (!SameShape(call.inputs[0], call.outputs[0])) return BadOperand(1);
  if (call.outputs[1].size() != 1) return BadOperand(2);
  AddWork(work, call.inputs[0].size(), 2);
  return {};
}

Status CheckEnergy(const KernelCall& call, Numerics, uint64_t& work) {
  using enum DataType;
  TAKT_TRY(CheckOperands(call, {kInt16, kUint32}));
  const TensorRef &x = call.inputs[0], &y = call.outputs[0];
  const auto& p = call.params<schema::EnergyParams>();
  if (x.rank != 1) return BadOperand(0);
  if (y.rank != 1 || y.dims[0] != x.dims[0] / 2) return BadOperand(1);
  if (p.begin() > p.end() || p.end() > y.size()) return BadParams();
  AddWork(work, y.size(), 1);
  return {};
}

Status CheckOverlapAdd(const KernelCall& call, Numerics, uint64_t& work) {
  using enum DataType;
  const DataType type = call.inputs[0].type;
  if (!IsOneOf(type, {kInt16, kFloat32})) return BadOperand(0);
  TAKT_TRY(CheckOperands(call, {type, type, type, type}));
  const TensorRef &x = call.inputs[0], &state = call.inputs[1], &y = call.outputs[0];
  if (x.rank < 2) return BadOperand(0);
  if (state.rank != x.rank - 1) return BadOperand(1);
  if (y.rank != x.rank - 1) return BadOperand(2);
  const int32_t count = x.dims[x.rank - 2], size = x.dims[x.rank - 1];
  const uint32_t step = call.params<schema::OverlapAddParams>().step();
  if (step == 0 || step > static_cast<uint32_t>(size)) return BadParams();
  for (int d = 0; d + 2 < x.rank; ++d) {
    if (state.dims[d] != x.dims[d]) return BadOperand(1);
    if (y.dims[d] != x.dims[d]) return BadOperand(2);
  }
  if (state.dims[state.rank - 1] != size) return BadOperand(1);
  if (uint64_t(y.dims[y.rank - 1]) != uint64_t{step} * static_cast<uint32_t>(count)) return BadOperand(2);
  if (!SameShape(state, call.outputs[1])) return BadOperand(3);
  AddWork(work, x.size(), 2);
  AddWork(work, state.size(), 1);
  return {};
}

}  // namespace takt
