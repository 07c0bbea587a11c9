// average_pool2d, max_pool2d
#include "engine/ops/check.h"
#include "engine/ops/checks.h"

namespace takt {
using namespace ops;

static Status CheckPool(const KernelCall& call, uint64_t& work) {
  const DataType type = call.inputs[0].type;
  if (type != DataType::kInt8 && type != DataType::kInt16 && type != DataType::kFloat32) return BadOperand(0);
  TAKT_TRY(CheckOperands(call, {type, type}));
  const auto& p = call.params<schema::Pool2dParams>();
  const auto& w = p.window();
  const TensorRef &x = call.inputs[0], &y = call.outputs[0];
  if (x.rank != 4) return BadOperand(0);
  if (y.rank != 4 || y.dims[0] != x.dims[0] || y.dims[3] != x.dims[3]) return BadOperand(1);
  const int64_t cells = int64_t{p.kernel_h()} * p.kernel_w();
  // No window lies wholly in the padding; the sum of a window's cells fits in 31 bits.
  if (cells < 1 || cells > (type == DataType::kInt16 ? 1 << 15 : 1 << 23) || w.dilation_h() != 1 ||
      w.dilation_w() != 1 || !ClampOk(p.clamp(), type) || !WindowOk(w, x, y, p.kernel_h(), p.kernel_w()) ||
      w.pad_top() >= p.kernel_h() || w.pad_left() >= p.kernel_w() ||
      int64_t{y.dims[1] - 1} * w.stride_h() - w.pad_top() >= x.dims[1] ||
      int64_t{y.dims[2] - 1} * w.stride_w() - w.pad_left() >= x.dims[2])
    return BadParams();
  AddWork(work, y.size(), static_cast<uint64_t>(cells));
  return {};
}

Status CheckAveragePool2d(const KernelCall& call, Numerics, uint64_t& work) {
  return CheckPool(call, work);
}
Status CheckMaxPool2d(const KernelCall& call, Numerics, uint64_t& work) {
  return CheckPool(call, work);
}

}  // namespace takt
