// filter_bank, filter_bank_square_root, spectral_subtraction, filter_bank_log, pcan
#include "engine/ops/check.h"
#include "engine/ops/checks.h"

namespace takt {
using namespace ops;

namespace {

/// Channel operands: rank 1, of one length.
bool IsVector(const TensorRef& t, const TensorRef& like) {
  return t.rank == 1 && t.dims[0] == like.dims[0];
}

}  // namespace

Status CheckFilterBank(const KernelCall& call, Numerics, uint64_t& work) {
  using enum DataType;
  TAKT_TRY(CheckOperands(call, {kUint32, kInt16, kInt16, kInt16, kInt16, kInt16, kUint64}));
  const TensorRef &x = call.inputs[0], &weights = call.inputs[1], &y = call.outputs[0];
  for (uint32_t i = 0; i < 6; ++i)
    if (call.inputs[i].rank != 1 || (i > 0 && !call.inputs[i].constant)) return BadOperand(i);
  if (!IsVector(call.inputs[2], weights)) return BadOperand(2);
  if (y.rank != 1) return BadOperand(6);
  for (uint32_t i = 3; i < 6; ++i)
    if (call.inputs[i].dims[0] - 1 != y.dims[0]) return BadOperand(i);
  for (int32_t c = 0; c <= y.dims[0]; ++c) {
    const int32_t cell = call.inputs[3].as<const int16_t>()[c], weight = call.inputs[4].as<const int16_t>()[c];
    const int32_t width = call.inputs[5].as<const int16_t>()[c];
    if (width < 0) return BadConstant(5);
    if (cell < 0 || cell + width > x.dims[0]) return BadConstant(3);
    if (weight < 0 || weight + width > weights.dims[0]) return BadConstant(4);
    AddWork(work, static_cast<uint32_t>(width) + 1, 1);
  }
  return {};
}

Status CheckFilterBankSquareRoot(const KernelCall& call, Numerics, uint64_t& work) {
  using enum DataType;
  TAKT_TRY(CheckOperands(call, {kUint64, kInt32, kUint32}));
  if (call.inputs[0].rank != 1) return BadOperand(0);
  if (call.inputs[1].size() != 1) return BadOperand(1);
  if (!IsVector(call.outputs[0], call.inputs[0])) return BadOperand(2);
  AddWork(work, call.inputs[0].size(), 32);
  return {};
}

Status CheckSpectralSubtraction(const KernelCall& call, Numerics, uint64_t& work) {
  using enum DataType;
  TAKT_TRY(CheckOperands(call, {kUint32, kUint32, kUint32, kUint32}));
  const TensorRef* operands[] = {&call.inputs[0], &call.inputs[1], &call.outputs[0], &call.outputs[1]};
  if (operands[0]->rank != 1) return BadOperand(0);
  for (uint32_t i = 1; i < 4; ++i)
    if (!IsVector(*operands[i], *operands[0])) return BadOperand(i);
  const auto& p = call.params<schema::SpectralSubtractionParams>();
  if (p.smoothing_bits() > 31 || p.bits() > 63) return BadParams();
  AddWork(work, call.inputs[0].size(), 1);
  return {};
}

Status CheckFilterBankLog(const KernelCall& call, Numerics, uint64_t& work) {
  using enum DataType;
  TAKT_TRY(CheckOperands(call, {kUint32, kInt16, kInt16}));
  if (call.inputs[0].rank != 1) return BadOperand(0);
  if (call.inputs[1].rank != 1 || call.inputs[1].dims[0] != 129) return BadOperand(1);
  if (!IsVector(call.outputs[0], call.inputs[0])) return BadOperand(2);
  if (call.params<schema::FilterBankLogParams>().correction_bits() > 31) return BadParams();
  AddWork(work, call.inputs[0].size(), 1);
  return {};
}

Status CheckPcan(const KernelCall& call, Numerics, uint64_t& work) {
  using enum DataType;
  TAKT_TRY(CheckOperands(call, {kUint32, kUint32, kInt16, kUint32}));
  if (call.inputs[0].rank != 1) return BadOperand(0);
  if (!IsVector(call.inputs[1], call.inputs[0])) return BadOperand(1);
  if (call.inputs[2].rank != 1 || call.inputs[2].dims[0] < 125) return BadOperand(2);
  if (!IsVector(call.outputs[0], call.inputs[0])) return BadOperand(3);
  if (call.params<schema::PcanParams>().snr_shift() > 63) return BadParams();
  AddWork(work, call.inputs[0].size(), 1);
  return {};
}

}  // namespace takt
