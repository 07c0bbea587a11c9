// quantize, dequantize, requantize
#include <type_traits>

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

/// In, Out: int8_t or uint8_t. The output stage's value fits Out; its low byte is the same as int8.
template <typename A, typename In, typename Out>
void RunRequantize(const KernelCall& call) {
  const auto& p = call.params<schema::RequantizeParams>();
  const auto* in = call.inputs[0].as<const In>();
  auto* out = call.outputs[0].as<Out>();
  const A output(p.clamp(), p.output_zero_point());
  const uint32_t size = call.outputs[0].size();
  for (uint32_t i = 0; i < size; ++i) {
    out[i] = static_cast<Out>(output.One(static_cast<uint32_t>(in[i] - p.input_zero_point()), p));
  }
}

constexpr DataType kI8 = DataType::kInt8, kF32 = DataType::kFloat32, kNo = DataType::kNone;
template <typename T>
constexpr DataType kByte = std::is_signed_v<T> ? DataType::kInt8 : DataType::kUint8;

template <typename A>
constexpr Kernel QuantizeRow() {
  return {
      {Op::kQuantize, A::kNumerics, Layout::kNeutral, {kF32, kNo, kI8}}, &CheckQuantize<A::kNumerics>, &RunQuantize<A>};
}
template <typename A, typename In, typename Out>
constexpr Kernel RequantizeRow() {
  return {{Op::kRequantize, A::kNumerics, Layout::kNeutral, {kByte<In>, kNo, kByte<Out>}},
          &CheckRequantize<A::kNumerics>,
          &RunRequantize<A, In, Out>};
}

}  // namespace

constexpr Kernel kQuantizeFloat32ToInt8Fp32Rne = QuantizeRow<Fp32Rne>();
constexpr Kernel kQuantizeFloat32ToInt8Tflite = QuantizeRow<Tflite>();
constexpr Kernel kDequantizeInt8ToFloat32 = {{Op::kDequantize, Numerics::kAny, Layout::kNeutral, {kI8, kNo, kF32}},
                                             &CheckDequantize<Numerics::kAny>,
                                             &RunDequantize};
constexpr Kernel kRequantizeInt8Fp32Rne = RequantizeRow<Fp32Rne, int8_t, int8_t>();
constexpr Kernel kRequantizeInt8Tflite = RequantizeRow<Tflite, int8_t, int8_t>();
constexpr Kernel kRequantizeUint8ToInt8Fp32Rne = RequantizeRow<Fp32Rne, uint8_t, int8_t>();
constexpr Kernel kRequantizeUint8ToInt8Tflite = RequantizeRow<Tflite, uint8_t, int8_t>();
constexpr Kernel kRequantizeInt8ToUint8Fp32Rne = RequantizeRow<Fp32Rne, int8_t, uint8_t>();
constexpr Kernel kRequantizeInt8ToUint8Tflite = RequantizeRow<Tflite, int8_t, uint8_t>();

}  // namespace takt::reference
