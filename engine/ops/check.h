// Rules that several ops share. A check returns the first broken rule; `detail` is the operand's index.
#ifndef TAKT_ENGINE_OPS_CHECK_H_
#define TAKT_ENGINE_OPS_CHECK_H_

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>

#include "engine/core/kernel.h"
#include "schema/plan_generated.h"

namespace takt::ops {

constexpr Status BadOperand(uint32_t operand) {
  return {StatusCode::kMalformedPlan, Site::kOpOperands, operand};
}
constexpr Status BadParams() {
  return {StatusCode::kMalformedPlan, Site::kOpParams};
}
constexpr Status BadConstant(uint32_t operand) {
  return {StatusCode::kMalformedPlan, Site::kOpConstant, operand};
}

/// Adds a * b, saturating.
inline void AddWork(uint64_t& work, uint64_t a, uint64_t b) {
  constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();
  const uint64_t product = (a != 0 && b > kMax / a) ? kMax : a * b;
  work = product > kMax - work ? kMax : work + product;
}

/// One operand for each type (inputs, then outputs), dims of at least 1, dense unless `strided`.
Status CheckOperands(const KernelCall& call, std::span<const DataType> types, bool strided = false);
inline Status CheckOperands(const KernelCall& call, std::initializer_list<DataType> types, bool strided = false) {
  return CheckOperands(call, std::span<const DataType>(types.begin(), types.size()), strided);
}

constexpr bool IsOneOf(DataType type, std::initializer_list<DataType> types) {
  for (const DataType t : types)
    if (t == type) return true;
  return false;
}
bool SameShape(const TensorRef& a, const TensorRef& b);
/// Every input broadcasts to the shape of output 0.
Status CheckBroadcast(const KernelCall& call);
/// Ordered; for integers whole numbers in the type's range; not NaN.
bool ClampOk(const schema::Clamp& clamp, DataType type);
inline bool HasShape(const TensorRef& t, std::initializer_list<int64_t> dims) {
  if (t.rank != dims.size()) return false;
  const int32_t* dim = t.dims;
  for (const int64_t d : dims)
    if (*dim++ != d) return false;
  return true;
}
/// Operand `index`: the constant int32[256] of 2^16 * logistic(i / 24).
Status CheckLogisticTable(const KernelCall& call, uint32_t index);
/// int8 is asymmetric; int16 and float32 have no zero point.
inline bool ZeroPointOk(int32_t zero_point, DataType type) {
  if (type == DataType::kUint8) return zero_point >= 0 && zero_point <= 255;
  return type == DataType::kInt8 ? zero_point >= -128 && zero_point <= 127 : zero_point == 0;
}
/// In [2^-32, 256).
inline bool ScaleOk(float scale) {
  return scale >= 0x1p-32f && scale < 256.0f;
}
/// Finite, positive, normal.
inline bool PositiveOk(float scale) {
  return scale >= 0x1p-126f && scale <= std::numeric_limits<float>::max();
}
inline bool MultiplierOk(int32_t multiplier, int32_t shift) {
  return multiplier >= 0 && shift >= -31 && shift <= 30;
}
/// The scale, or the multiplier and shift, of a step's output stage.
inline bool OutputStageOk(Numerics numerics, float scale, int32_t multiplier, int32_t shift) {
  return numerics == Numerics::kFp32Rne ? ScaleOk(scale)
                                        : numerics != Numerics::kTflite || MultiplierOk(multiplier, shift);
}
/// Activations of a step: float32 for kAny, else int8 or int16.
inline bool TypeOk(Numerics numerics, DataType type) {
  return numerics == Numerics::kAny ? type == DataType::kFloat32 : type == DataType::kInt8 || type == DataType::kInt16;
}
/// Types of x, weights, bias, [requantization], y: float32; int8 x int8 with bias int32; int16 x int8 with bias int64
/// (under tflite also int32).
Status CheckContraction(const KernelCall& call, Numerics numerics);
/// Operand `index`: constant float32[channels] (fp32_rne) or int32[channels, 2] (tflite), values in range.
Status CheckRequantization(const KernelCall& call, uint32_t index, int32_t channels, Numerics numerics);
/// Bias and requantization of `channels` values, clamp and zero points of a contraction.
template <typename Params>
Status CheckContractionParams(const KernelCall& call, int32_t channels, Numerics numerics, const Params& p) {
  const DataType type = call.inputs[0].type;
  const TensorRef& bias = call.inputs[2];
  if (bias.rank != 1 || bias.dims[0] != channels) return BadOperand(2);
  if (!ClampOk(p.clamp(), type) || !ZeroPointOk(p.input_zero_point(), type) ||
      !ZeroPointOk(p.weight_zero_point(), call.inputs[1].type) || !ZeroPointOk(p.output_zero_point(), type))
    return BadParams();
  return numerics == Numerics::kAny ? Status() : CheckRequantization(call, 3, channels, numerics);
}
/// One axis of a window: its last cell lies inside the padded input.
bool WindowAxisOk(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t dilation, int64_t before,
                  int64_t after);
/// Window against rows, columns of x and y (NHWC) and the kernel: no window ends behind the padded input.
bool WindowOk(const schema::Window2d& window, const TensorRef& x, const TensorRef& y, int32_t kernel_h,
              int32_t kernel_w);
/// Adding step's parameters for one of its two numerics (or float).
bool AddOk(const schema::AddParams& params, Numerics numerics, DataType type);

}  // namespace takt::ops

#endif  // TAKT_ENGINE_OPS_CHECK_H_
