// gru, rnn
#include "ports/kernel_util/recurrent.h"

#include <algorithm>

#include "engine/ops/checks.h"
#include "ports/kernel_util/arithmetic.h"
#include "ports/reference/kernels.h"

namespace takt::reference {
namespace {

using schema::RecurrentParams;

/// What both cells have.
struct Cell {
  const RecurrentParams& p;
  int32_t inputs, cells;
  const float *weights, *recurrent, *bias;

  explicit Cell(const KernelCall& call)
      : p(call.params<RecurrentParams>()),
        inputs(call.inputs[0].dims[2]),
        cells(call.inputs[4].dims[1]),
        weights(call.inputs[1].as<const float>()),
        recurrent(call.inputs[2].as<const float>()),
        bias(call.inputs[3].as<const float>()) {}

  float Input(int32_t row, const float* x) const {
    return Dot(0.0f, x, weights + static_cast<size_t>(row) * static_cast<size_t>(inputs), inputs, 0, 0) + bias[row];
  }
  float Recurrent(int32_t row, const float* h) const {
    return Dot(0.0f, h, recurrent + static_cast<size_t>(row) * static_cast<size_t>(cells), cells, 0, 0);
  }
  float Value(schema::GateFunction f, float sum) const { return ApplyGate(f, Float32(p.sum(), 0).Clamped(sum)); }
};

/// `next`: scratch of a row.
void StepRnn(const Cell& cell, const float* x, float* h, float* next) {
  for (int32_t k = 0; k < cell.cells; ++k)
    next[k] = cell.Value(cell.p.candidate_function(), cell.Input(k, x) + cell.Recurrent(k, h));
  std::copy_n(next, cell.cells, h);
}

/// `scratch`: three rows, of the update gate, the reset gate (later its product with h) and the candidate.
void StepGru(const Cell& cell, const float* last, const float* x, float* h, float* scratch) {
  const int32_t n = cell.cells;
  float *update = scratch, *reset = scratch + n, *candidate = scratch + 2 * n;
  for (int32_t k = 0; k < 2 * n; ++k)
    scratch[k] = cell.Value(cell.p.gate_function(), cell.Input(k, x) + cell.Recurrent(k, h));
  const bool before = cell.p.linear_before_reset();
  for (int32_t k = 0; k < n && !before; ++k) reset[k] *= h[k];
  for (int32_t k = 0; k < n; ++k) {
    const int32_t row = 2 * n + k;
    const float product = before ? reset[k] * (cell.Recurrent(row, h) + last[k]) : cell.Recurrent(row, reset) + last[k];
    candidate[k] = cell.Value(cell.p.candidate_function(), cell.Input(row, x) + product);
  }
  for (int32_t k = 0; k < n; ++k) h[k] = (1.0f - update[k]) * candidate[k] + update[k] * h[k];
}

template <Op kOp>
void Run(const KernelCall& call) {
  const Cell cell(call);
  const TensorRef& h0 = call.inputs[4];
  auto* h = call.outputs[1].as<float>();
  auto* scratch = reinterpret_cast<float*>(call.scratch.data());
  CopyState(h0, call.outputs[1]);
  ForEachStep<float>(call.inputs[0], call.outputs[0], cell.p, [&](const float* x, float* y, int32_t batch) {
    float* own = h + batch * cell.cells;
    if constexpr (kOp == Op::kGru)
      StepGru(cell, call.inputs[5].as<const float>(), x, own, scratch);
    else
      StepRnn(cell, x, own, scratch);
    std::copy_n(own, cell.cells, y);
  });
}

template <Op kOp>
KernelNeed Need(const KernelCall& call) {
  const auto cells = static_cast<uint32_t>(call.inputs[4].dims[1]);
  return {.scratch = cells * (kOp == Op::kGru ? 3 : 1) * static_cast<uint32_t>(sizeof(float))};
}

}  // namespace

constexpr Kernel kGruFloat32 = {ContractionKey<Float32>(Op::kGru), &CheckGru<Numerics::kAny>, &Run<Op::kGru>,
                                &Need<Op::kGru>};
constexpr Kernel kRnnFloat32 = {ContractionKey<Float32>(Op::kRnn), &CheckRnn<Numerics::kAny>, &Run<Op::kRnn>,
                                &Need<Op::kRnn>};

}  // namespace takt::reference
