// max_pool_argmax2d, max_unpool2d
#include "engine/ops/check.h"
#include "engine/ops/checks.h"

namespace takt {
using namespace ops;

/// A window over `cells` [N, H, W, C] whose positions are those of `windows` [N, h, w, C]; none lies wholly in the
/// padding, and a place in it is exact in float32.
static bool ArgmaxWindowOk(const schema::Pool2dParams& p, const TensorRef& cells, const TensorRef& windows) {
  const auto& w = p.window();
  const int64_t count = int64_t{p.kernel_h()} * p.kernel_w();
  return count >= 1 && count <= 1 << 16 && w.dilation_h() == 1 && w.dilation_w() == 1 &&
         ClampOk(p.clamp(), DataType::kFloat32) && WindowOk(w, cells, windows, p.kernel_h(), p.kernel_w()) &&
         w.pad_top() < p.kernel_h() && w.pad_left() < p.kernel_w() &&
         int64_t{windows.dims[1] - 1} * w.stride_h() - w.pad_top() < cells.dims[1] &&
         int64_t{windows.dims[2] - 1} * w.stride_w() - w.pad_left() < cells.dims[2];
}

Status CheckMaxPoolArgmax2d(const KernelCall& call, Numerics, uint64_t& work) {
  using enum DataType;
  TAKT_TRY(CheckOperands(call, {kFloat32, kFloat32, kFloat32}));
  const auto& p = call.params<schema::Pool2dParams>();
  const TensorRef &x = call.inputs[0], &y = call.outputs[0];
  if (x.rank != 4) return BadOperand(0);
  if (y.rank != 4 || y.dims[0] != x.dims[0] || y.dims[3] != x.dims[3]) return BadOperand(1);
  if (!SameShape(y, call.outputs[1])) return BadOperand(2);
  if (!ArgmaxWindowOk(p, x, y)) return BadParams();
  AddWork(work, y.size(), uint64_t{p.kernel_h()} * p.kernel_w());
  return {};
}

Status CheckMaxUnpool2d(const KernelCall& call, Numerics, uint64_t& work) {
  using enum DataType;
  TAKT_TRY(CheckOperands(call, {kFloat32, kFloat32, kFloat32}));
  const TensorRef &x = call.inputs[0], &y = call.outputs[0];
  if (x.rank != 4) return BadOperand(0);
  if (!SameShape(x, call.inputs[1])) return BadOperand(1);
  if (y.rank != 4 || y.dims[0] != x.dims[0] || y.dims[3] != x.dims[3]) return BadOperand(2);
  if (!ArgmaxWindowOk(call.params<schema::Pool2dParams>(), y, x)) return BadParams();
  AddWork(work, y.size(), 1);
  AddWork(work, x.size(), 1);
  return {};
}

}  // namespace takt
