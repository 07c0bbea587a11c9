// rfft, inverse_rfft
#include "engine/ops/check.h"
#include "engine/ops/checks.h"

namespace takt {
using namespace ops;

namespace {

constexpr uint32_t kMaxLength = 1u << 16;

/// Stages of a transform of n points, 0 if n has other factors than 2, 3 and 5.
uint32_t Stages(uint32_t n) {
  uint32_t stages = 0;
  for (const uint32_t radix : {4u, 2u, 3u, 5u})
    for (; n % radix == 0; n /= radix) ++stages;
  return n == 1 ? stages : 0;
}

Status CheckTransform(const KernelCall& call, bool inverse, uint64_t& work) {
  using enum DataType;
  const DataType type = call.inputs[0].type;
  if (!IsOneOf(type, {kInt16, kInt32, kFloat32})) return BadOperand(0);
  TAKT_TRY(CheckOperands(call, {type, type, type}));
  const TensorRef &x = call.inputs[0], &twiddles = call.inputs[1], &y = call.outputs[0];
  const uint32_t length = call.params<schema::FftParams>().length();
  if (length < 4 || length > kMaxLength || length % 2 != 0) return BadParams();
  const uint32_t stages = Stages(length / 2);
  if (stages == 0) return BadParams();
  const auto size = static_cast<int32_t>(length);
  if (x.rank == 0 || (inverse ? x.dims[x.rank - 1] != size + 2 : x.dims[x.rank - 1] > size)) return BadOperand(0);
  if (twiddles.rank != 2 || twiddles.dims[0] != size / 2 + size / 4 || twiddles.dims[1] != 2) return BadOperand(1);
  if (y.rank != x.rank || y.dims[y.rank - 1] != (inverse ? size : size + 2)) return BadOperand(2);
  uint64_t frames = 1;
  for (int d = 0; d + 1 < x.rank; ++d) {
    if (y.dims[d] != x.dims[d]) return BadOperand(2);
    frames *= static_cast<uint32_t>(x.dims[d]);
  }
  AddWork(work, frames, uint64_t{length} * (stages + 1));
  return {};
}

}  // namespace

Status CheckRfft(const KernelCall& call, Numerics, uint64_t& work) {
  return CheckTransform(call, false, work);
}

Status CheckInverseRfft(const KernelCall& call, Numerics, uint64_t& work) {
  return CheckTransform(call, true, work);
}

}  // namespace takt
