// local_response_normalization
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

}  // namespace takt
