// transpose_conv2d
#include "engine/ops/check.h"
#include "engine/ops/checks.h"

namespace takt {
using namespace ops;

/// The convolution that takes y to x: its window slides over y.
Status CheckTransposeConv2d(const KernelCall& call, Numerics numerics, uint64_t& work) {
  TAKT_TRY(CheckContraction(call, numerics));
  const auto& p = call.params<schema::TransposeConv2dParams>();
  const TensorRef &x = call.inputs[0], &w = call.inputs[1], &y = call.outputs[0];
  if (x.rank != 4) return BadOperand(0);
  if (w.rank != 4 || x.dims[3] % w.dims[3] != 0 || w.dims[0] % (x.dims[3] / w.dims[3]) != 0) return BadOperand(1);
  if (y.rank != 4 || y.dims[0] != x.dims[0] || y.dims[3] != w.dims[0])
    return BadOperand(static_cast<uint32_t>(call.inputs.size()));
  if (!WindowOk(p.window(), y, x, w.dims[1], w.dims[2])) return BadParams();
  TAKT_TRY(CheckContractionParams(call, w.dims[0], numerics, p));
  AddWork(work, y.size(), w.size() / static_cast<uint32_t>(w.dims[0]));
  return {};
}

}  // namespace takt
