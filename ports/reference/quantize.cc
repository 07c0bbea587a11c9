// quantize, dequantize, requantize
#include <limits>

#include "engine/ops/checks.h"
#include "ports/kernel_util/arithmetic.h"
#include "ports/reference/kernels.h"

namespace takt::reference {
namespace {

template <Numerics kNumerics, typename Out>
void RunQuantize(const KernelCall& call) {
  const auto& p = call.params<schema::QuantizeParams>();
  const auto* in = call.inputs[0].as<const float>();
  auto* out = call.outputs[0].as<Out>();
  const auto zp = static_cast<float>(p.zero_point());
  const float lo = std::numeric_limits<Out>::min() - zp, hi = std::numeric_limits<Out>::max() - zp;
  const uint32_t size = call.outputs[0].size();
  for (uint32_t i = 0; i < size; ++i) {
    const float ratio = in[i] / p.scale();
    const float v = ratio == ratio ? ClampFloat(ratio, lo, hi) : 0.0f;
    const int32_t q = kNumerics == Numerics::kTflite ? RoundAway(v) : RoundToEven(v);
    out[i] = static_cast<Out>(q + p.zero_point());
  }
}

template <typename In>
void RunDequantize(const KernelCall& call) {
  const auto& p = call.params<schema::DequantizeParams>();
  const auto* in = call.inputs[0].as<const In>();
  auto* out = call.outputs[0].as<float>();
  const uint32_t size = call.outputs[0].size();
  for (uint32_t i = 0; i < size; ++i) {
    const uint32_t centered = static_cast<uint32_t>(in[i]) - static_cast<uint32_t>(p.zero_point());
    out[i] = p.scale() * static_cast<float>(static_cast<int32_t>(centered));
  }
}

template <template <typename, typename> class Stage, typename In, typename Out>
void RunRequantize(const KernelCall& call) {
  using A = Stage<Out, uint32_t>;
  const auto& p = call.params<schema::RequantizeParams>();
  const auto* in = call.inputs[0].as<const In>();
  auto* out = call.outputs[0].as<Out>();
  const auto zero_point = static_cast<uint32_t>(int32_t{p.input_zero_point()});
  const A output(p.clamp(), p.output_zero_point());
  const uint32_t size = call.outputs[0].size();
  for (uint32_t i = 0; i < size; ++i) out[i] = output.One(static_cast<uint32_t>(in[i]) - zero_point, p);
}

/// By the multiplier in both numerics: a float has fewer bits than the result.
template <typename In>
void RunToInt32(const KernelCall& call) {
  const auto& p = call.params<schema::RequantizeParams>();
  const auto* in = call.inputs[0].as<const In>();
  auto* out = call.outputs[0].as<int32_t>();
  const uint32_t size = call.outputs[0].size();
  for (uint32_t i = 0; i < size; ++i) {
    const auto centered = static_cast<uint32_t>(in[i] - p.input_zero_point());
    const auto product = static_cast<uint32_t>(MultiplyTflite(centered, p.multiplier(), p.shift()));
    out[i] = static_cast<int32_t>(product + static_cast<uint32_t>(int32_t{p.output_zero_point()}));
  }
}

template <Numerics kNumerics, typename Out>
constexpr Kernel QuantizeRow() {
  return {{Op::kQuantize, kNumerics, Layout::kNeutral, {DataType::kFloat32, DataType::kNone, kDataTypeOf<Out>}},
          &CheckQuantize<kNumerics>,
          &RunQuantize<kNumerics, Out>};
}
template <typename In>
constexpr Kernel DequantizeRow() {
  return {{Op::kDequantize, Numerics::kAny, Layout::kNeutral, {kDataTypeOf<In>, DataType::kNone, DataType::kFloat32}},
          &CheckDequantize<Numerics::kAny>,
          &RunDequantize<In>};
}
template <template <typename, typename> class Stage, typename In, typename Out>
constexpr Kernel RequantizeRow() {
  constexpr Numerics kNumerics = Stage<Out, uint32_t>::kNumerics;
  return {{Op::kRequantize, kNumerics, Layout::kNeutral, {kDataTypeOf<In>, DataType::kNone, kDataTypeOf<Out>}},
          &CheckRequantize<kNumerics>,
          &RunRequantize<Stage, In, Out>};
}
template <typename In>
constexpr Kernel ToInt32Row() {
  return {{Op::kRequantize, Numerics::kAny, Layout::kNeutral, {kDataTypeOf<In>, DataType::kNone, DataType::kInt32}},
          &CheckRequantize<Numerics::kAny>,
          &RunToInt32<In>};
}

}  // namespace

constexpr Kernel kQuantizeFloat32ToInt8Fp32Rne = QuantizeRow<Numerics::kFp32Rne, int8_t>();
constexpr Kernel kQuantizeFloat32ToInt8Tflite = QuantizeRow<Numerics::kTflite, int8_t>();
constexpr Kernel kQuantizeFloat32ToInt16Fp32Rne = QuantizeRow<Numerics::kFp32Rne, int16_t>();
constexpr Kernel kQuantizeFloat32ToInt16Tflite = QuantizeRow<Numerics::kTflite, int16_t>();
constexpr Kernel kDequantizeInt8ToFloat32 = DequantizeRow<int8_t>();
constexpr Kernel kDequantizeInt16ToFloat32 = DequantizeRow<int16_t>();
constexpr Kernel kDequantizeInt32ToFloat32 = DequantizeRow<int32_t>();
constexpr Kernel kRequantizeInt8Fp32Rne = RequantizeRow<Fp32RneOf, int8_t, int8_t>();
constexpr Kernel kRequantizeInt8Tflite = RequantizeRow<TfliteOf, int8_t, int8_t>();
constexpr Kernel kRequantizeUint8ToInt8Fp32Rne = RequantizeRow<Fp32RneOf, uint8_t, int8_t>();
constexpr Kernel kRequantizeUint8ToInt8Tflite = RequantizeRow<TfliteOf, uint8_t, int8_t>();
constexpr Kernel kRequantizeInt8ToUint8Fp32Rne = RequantizeRow<Fp32RneOf, int8_t, uint8_t>();
constexpr Kernel kRequantizeInt8ToUint8Tflite = RequantizeRow<TfliteOf, int8_t, uint8_t>();
constexpr Kernel kRequantizeInt8ToInt16Fp32Rne = RequantizeRow<Fp32RneOf, int8_t, int16_t>();
constexpr Kernel kRequantizeInt8ToInt16Tflite = RequantizeRow<TfliteOf, int8_t, int16_t>();
constexpr Kernel kRequantizeInt8ToInt32 = ToInt32Row<int8_t>();
constexpr Kernel kRequantizeInt16ToInt8Fp32Rne = RequantizeRow<Fp32RneOf, int16_t, int8_t>();
constexpr Kernel kRequantizeInt16ToInt8Tflite = RequantizeRow<TfliteOf, int16_t, int8_t>();
constexpr Kernel kRequantizeInt16Fp32Rne = RequantizeRow<Fp32RneOf, int16_t, int16_t>();
constexpr Kernel kRequantizeInt16Tflite = RequantizeRow<TfliteOf, int16_t, int16_t>();
constexpr Kernel kRequantizeInt16ToInt32 = ToInt32Row<int16_t>();
constexpr Kernel kRequantizeInt32ToInt8Fp32Rne = RequantizeRow<Fp32RneOf, int32_t, int8_t>();
constexpr Kernel kRequantizeInt32ToInt8Tflite = RequantizeRow<TfliteOf, int32_t, int8_t>();
constexpr Kernel kRequantizeInt32ToInt16Fp32Rne = RequantizeRow<Fp32RneOf, int32_t, int16_t>();
constexpr Kernel kRequantizeInt32ToInt16Tflite = RequantizeRow<TfliteOf, int32_t, int16_t>();

}  // namespace takt::reference
