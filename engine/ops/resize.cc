// resize_bilinear, resize_nearest
#include "engine/ops/check.h"
#include "engine/ops/checks.h"

namespace takt {
using namespace ops;

/// Sizes whose products of two coordinates and a value are exact in 64 bits, and whose positions are exact in float.
constexpr int32_t kMaxSize = 1 << 16;

static Status CheckResize(const KernelCall& call, uint64_t cells, uint64_t& work) {
  const DataType type = call.inputs[0].type;
  if (type != DataType::kInt8 && type != DataType::kInt16 && type != DataType::kFloat32) return BadOperand(0);
  TAKT_TRY(CheckOperands(call, {type, type}));
  const TensorRef &x = call.inputs[0], &y = call.outputs[0];
  if (x.rank != 4 || x.dims[1] > kMaxSize || x.dims[2] > kMaxSize) return BadOperand(0);
  if (y.rank != 4 || y.dims[0] != x.dims[0] || y.dims[3] != x.dims[3] || y.dims[1] > kMaxSize || y.dims[2] > kMaxSize)
    return BadOperand(1);
  if (call.params<schema::ResizeParams>().coordinates() > schema::ResizeCoordinates::half_pixel) return BadParams();
  AddWork(work, y.size(), cells);
  return {};
}

Status CheckResizeBilinear(const KernelCall& call, Numerics, uint64_t& work) {
  return CheckResize(call, 4, work);
}
Status CheckResizeNearest(const KernelCall& call, Numerics, uint64_t& work) {
  return CheckResize(call, 1, work);
}

}  // namespace takt
