// quantize, dequantize, requantize
#include "engine/ops/checks.h"
#include "ports/kernel_util/arithmetic.h"
#include "ports/reference/kernels.h"

namespace takt::reference {
namespace {

template <typename A>
void RunQuantize(const KernelCall& call) {
  const auto& p = call.params<schema::QuantizeParams>();
  const auto* in = call.inputs[0].as<const float>();
  auto* out = call.outputs[0].as<int8_t>();
  const float zp = static_cast<float>(p.zero_point()), lo = -128.0f - zp, hi = 127.0f - zp;
  const uint32_t size = call.outputs[0].size();
  for (uint32_t i = 0; i < size; ++i) {
    const float ratio = in[i] / p.scale();
    const float v = ratio == ratio ? ClampFloat(ratio, lo, hi) : 0.0f;
    const int32_t q = A::kNumerics == Numerics::kTflite ? RoundAway(v) : RoundToEven(v);
    out[i] = static_cast<int8_t>(q + p.zero_point());
  }
}

void RunDequantize(const KernelCall& call) {
  const auto& p = call.params<schema::DequantizeParams>();
  const auto* in = call.inputs[0].as<const int8_t>();
  auto* out = call.outputs[0].as<float>();
  const uint32_t size = call.outputs[0].size();
  for (uint32_t i = 0; i < size; ++i) out[i] = p.scale() * static_cast<float>(in[i] - p.zero_point());
}

template <typename A>
void RunRequantize(const KernelCall& call) {
  const auto& p = call.params<schema::RequantizeParams>();
  const auto* in = call.inputs[0].as<const int8_t>();
  auto* out = call.outputs[0].as<int8_t>();
  const A output(p.clamp(), p.output_zero_point());
  const uint32_t size = call.outputs[0].size();
  for (uint32_t i = 0; i < size; ++i) out[i] = output.One(static_cast<uint32_t>(in[i] - p.input_zero_point()), p);
}

constexpr DataType kI8 = DataType::kInt8, kF32 = DataType::kFloat32, kNo = DataType::kNone;

template <typename A>
constexpr Kernel QuantizeRow() {
  return {
      {Op::kQuantize, A::kNumerics, Layout::kNeutral, {kF32, kNo, kI8}}, &CheckQuantize<A::kNumerics>, &RunQuantize<A>};
}
template <typename A>
constexpr Kernel RequantizeRow() {
  return {{Op::kRequantize, A::kNumerics, Layout::kNeutral, {kI8, kNo, kI8}},
          &CheckRequantize<A::kNumerics>,
          &RunRequantize<A>};
}

}  // namespace

constexpr Kernel kQuantizeFloat32ToInt8Fp32Rne = QuantizeRow<Fp32Rne>();
constexpr Kernel kQuantizeFloat32ToInt8Tflite = QuantizeRow<Tflite>();
constexpr Kernel kDequantizeInt8ToFloat32 = {{Op::kDequantize, Numerics::kAny, Layout::kNeutral, {kI8, kNo, kF32}},
                                             &CheckDequantize<Numerics::kAny>,
                                             &RunDequantize};
constexpr Kernel kRequantizeInt8Fp32Rne = RequantizeRow<Fp32Rne>();
constexpr Kernel kRequantizeInt8Tflite = RequantizeRow<Tflite>();

}  // namespace takt::reference
