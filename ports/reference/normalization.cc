// local_response_normalization
#include <cmath>

#include "engine/ops/checks.h"
#include "ports/reference/kernels.h"
#include "schema/plan_generated.h"

namespace takt::reference {
namespace {

void Run(const KernelCall& call) {
  const auto& p = call.params<schema::LocalResponseNormalizationParams>();
  const TensorRef& t = call.inputs[0];
  const int32_t depth = t.dims[t.rank - 1], radius = p.radius();
  const uint32_t size = t.size();
  for (uint32_t row = 0; row < size; row += static_cast<uint32_t>(depth)) {
    const float* x = t.as<const float>() + row;
    float* y = call.outputs[0].as<float>() + row;
    for (int32_t c = 0; c < depth; ++c) {
      const int32_t first = c > radius ? c - radius : 0, last = c + radius < depth ? c + radius : depth - 1;
      float sum = 0.0f;
      for (int32_t k = first; k <= last; ++k) sum += x[k] * x[k];
      y[c] = x[c] * std::pow(p.bias() + p.alpha() * sum, -p.beta());
    }
  }
}

}  // namespace

constexpr Kernel kLocalResponseNormalizationFloat32 = {{Op::kLocalResponseNormalization,
                                                        Numerics::kAny,
                                                        Layout::kNeutral,
                                                        {DataType::kFloat32, DataType::kNone, DataType::kFloat32}},
                                                       &CheckLocalResponseNormalization<Numerics::kAny>,
                                                       &Run};

}  // namespace takt::reference
