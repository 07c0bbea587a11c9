// conv3d
#include "engine/ops/check.h"
#include "engine/ops/checks.h"

namespace takt {
using namespace ops;

Status CheckConv3d(const KernelCall& call, Numerics numerics, uint64_t& work) {
  TAKT_TRY(CheckContraction(call, numerics));
  const auto& p = call.params<schema::Conv3dParams>();
  const schema::Window3d& win = p.window();
  const TensorRef &x = call.inputs[0], &w = call.inputs[1], &y = call.outputs[0];
  if (x.rank != 5) return BadOperand(0);
  if (w.rank != 5 || x.dims[4] % w.dims[4] != 0 || w.dims[0] % (x.dims[4] / w.dims[4]) != 0) return BadOperand(1);
  if (y.rank != 5 || y.dims[0] != x.dims[0] || y.dims[4] != w.dims[0])
    return BadOperand(static_cast<uint32_t>(call.inputs.size()));
  for (uint16_t i = 0; i < 3; ++i)
    if (!WindowAxisOk(x.dims[1 + i], y.dims[1 + i], w.dims[1 + i], win.stride()->Get(i), win.dilation()->Get(i),
                      win.pad_before()->Get(i), win.pad_after()->Get(i)))
      return BadParams();
  TAKT_TRY(CheckContractionParams(call, w.dims[0], numerics, p));
  AddWork(work, y.size(), w.size() / static_cast<uint32_t>(w.dims[0]));
  return {};
}

}  // namespace takt
