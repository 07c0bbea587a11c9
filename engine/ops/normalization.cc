// local_response_normalization, l2_normalization
#include "engine/ops/check.h"
#include "engine/ops/checks.h"

namespace takt {
using namespace ops;

Status CheckLocalResponseNormalization(const KernelCall& call, Numerics, uint64_t& work) {
  TAKT_TRY(CheckOperands(call, {DataType::kFloat32, DataType::kFloat32}));
  const auto& p = call.params<schema::LocalResponseNormalizationParams>();
  if (call.inputs[0].rank < 1) return BadOperand(0);
  if (!SameShape(call.inputs[0], call.outputs[0])) return BadOperand(1);
  const bool numbers = p.bias() == p.bias() && p.alpha() == p.alpha() && p.beta() == p.beta();
  if (p.radius() < 0 || p.radius() > (1 << 20) || !numbers) return BadParams();
  AddWork(work, call.outputs[0].size(), 2 * static_cast<uint64_t>(p.radius()) + 1);
  return {};
}

Status CheckL2Normalization(const KernelCall& call, Numerics numerics, uint64_t& work) {
  TAKT_TRY(CheckOperands(call, {DataType::kInt8, DataType::kInt8}));
  const auto& p = call.params<schema::L2NormalizationParams>();
  const TensorRef& x = call.inputs[0];
  // Sums of squares stay below 2^31.
  constexpr int32_t kMostTerms = std::numeric_limits<int32_t>::max() / (255 * 255);
  if (x.rank < 1 || x.dims[x.rank - 1] > kMostTerms) return BadOperand(0);
  if (!SameShape(x, call.outputs[0])) return BadOperand(1);
  if (!PositiveOk(p.scale()) || !ZeroPointOk(p.input_zero_point(), DataType::kInt8) ||
      !ZeroPointOk(p.output_zero_point(), DataType::kInt8) ||
      (numerics == Numerics::kTflite && p.output_zero_point() != 0))
    return BadParams();
  AddWork(work, x.size(), 2);
  return {};
}

}  // namespace takt
