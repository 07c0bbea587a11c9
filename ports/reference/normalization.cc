// local_response_normalization, l2_normalization
#include <cmath>

#include "engine/base/fixed_point.h"
#include "engine/base/requantize.h"
#include "engine/ops/checks.h"
#include "ports/reference/kernels.h"
#include "schema/plan_generated.h"

namespace takt::reference {
namespace {

/// Calls row(x, y, depth) for each row of the last axis.
template <typename E, typename Row>
void ForEachRow(const KernelCall& call, Row row) {
  const TensorRef& t = call.inputs[0];
  const int32_t depth = t.dims[t.rank - 1];
  const uint32_t size = t.size();
  for (uint32_t at = 0; at < size; at += static_cast<uint32_t>(depth))
    row(t.as<const E>() + at, call.outputs[0].as<E>() + at, depth);
}

void RunLocalResponse(const KernelCall& call) {
  const auto& p = call.params<schema::LocalResponseNormalizationParams>();
  const int32_t radius = p.radius();
  ForEachRow<float>(call, [&](const float* x, float* y, int32_t depth) {
    for (int32_t c = 0; c < depth; ++c) {
      const int32_t first = c > radius ? c - radius : 0, last = c + radius < depth ? c + radius : depth - 1;
      float sum = 0.0f;
      for (int32_t k = first; k <= last; ++k) sum += x[k] * x[k];
      y[c] = x[c] * std::pow(p.bias() + p.alpha() * sum, -p.beta());
    }
  });
}

/// The root is IEEE's, so that its bits are the same everywhere.
struct Fp32RneRow {
  static constexpr Numerics kNumerics = Numerics::kFp32Rne;
  float factor, lo, hi;

  Fp32RneRow(int32_t squares, const schema::L2NormalizationParams& p)
      : factor(squares == 0 ? 0.0f : p.scale() / std::sqrt(static_cast<float>(squares))),
        lo(-128.0f - static_cast<float>(p.output_zero_point())),
        hi(127.0f - static_cast<float>(p.output_zero_point())) {}
  int32_t operator()(int32_t a) const { return RoundToEven(ClampFloat(static_cast<float>(a) * factor, lo, hi)); }
};

struct TfliteRow {
  static constexpr Numerics kNumerics = Numerics::kTflite;
  fixed_point::Scaled factor;

  TfliteRow(int32_t squares, const schema::L2NormalizationParams&) : factor(fixed_point::InverseSquareRoot(squares)) {}
  int32_t operator()(int32_t a) const {
    return ClampInt(MultiplyTflite(static_cast<uint32_t>(a), factor.multiplier, factor.shift + 7), -128, 127);
  }
};

template <typename A>
void RunL2(const KernelCall& call) {
  const auto& p = call.params<schema::L2NormalizationParams>();
  ForEachRow<int8_t>(call, [&](const int8_t* x, int8_t* y, int32_t depth) {
    int32_t squares = 0;
    for (int32_t c = 0; c < depth; ++c) squares += (x[c] - p.input_zero_point()) * (x[c] - p.input_zero_point());
    const A stage(squares, p);
    for (int32_t c = 0; c < depth; ++c)
      y[c] = static_cast<int8_t>(stage(x[c] - p.input_zero_point()) + p.output_zero_point());
  });
}

template <typename A>
constexpr Kernel L2Row() {
  return {{Op::kL2Normalization, A::kNumerics, Layout::kNeutral, {DataType::kInt8, DataType::kNone, DataType::kInt8}},
          &CheckL2Normalization<A::kNumerics>,
          &RunL2<A>};
}

}  // namespace

constexpr Kernel kLocalResponseNormalizationFloat32 = {{Op::kLocalResponseNormalization,
                                                        Numerics::kAny,
                                                        Layout::kNeutral,
                                                        {DataType::kFloat32, DataType::kNone, DataType::kFloat32}},
                                                       &CheckLocalResponseNormalization<Numerics::kAny>,
                                                       &RunLocalResponse};
constexpr Kernel kL2NormalizationInt8Fp32Rne = L2Row<Fp32RneRow>();
constexpr Kernel kL2NormalizationInt8Tflite = L2Row<TfliteRow>();

}  // namespace takt::reference
