// clamp, unary
#include <type_traits>

#include "engine/ops/checks.h"
#include "ports/kernel_util/arithmetic.h"
#include "ports/reference/kernels.h"
#include "ports/reference/unary.h"

namespace takt::reference {
namespace {

template <typename E>
void RunClamp(const KernelCall& call) {
  const auto& p = call.params<schema::ClampParams>();
  const auto lo = static_cast<E>(p.clamp().min()), hi = static_cast<E>(p.clamp().max());
  const auto* in = call.inputs[0].as<const E>();
  auto* out = call.outputs[0].as<E>();
  const uint32_t size = call.outputs[0].size();
  for (uint32_t i = 0; i < size; ++i) out[i] = in[i] < lo ? lo : in[i] > hi ? hi : in[i];
}

void RunLookup(const KernelCall& call) {
  const auto* table = call.inputs[1].as<const int8_t>();
  const auto* in = call.inputs[0].as<const int8_t>();
  auto* out = call.outputs[0].as<int8_t>();
  const uint32_t size = call.outputs[0].size();
  for (uint32_t i = 0; i < size; ++i) out[i] = table[in[i] + 128];
}

void RunInterpolation(const KernelCall& call) {
  const auto* table = call.inputs[1].as<const int16_t>();
  const auto* in = call.inputs[0].as<const int16_t>();
  auto* out = call.outputs[0].as<int16_t>();
  const uint32_t size = call.outputs[0].size();
  for (uint32_t i = 0; i < size; ++i) out[i] = Interpolate(table, in[i]);
}

/// Modulo 2^n. Functions: abs, neg, sign, square.
template <typename E>
void RunInteger(const KernelCall& call) {
  using enum schema::UnaryFunction;
  using U = std::make_unsigned_t<E>;
  const schema::UnaryFunction function = call.params<schema::UnaryParams>().function();
  const auto* in = call.inputs[0].as<const E>();
  auto* out = call.outputs[0].as<E>();
  const uint32_t size = call.outputs[0].size();
  for (uint32_t i = 0; i < size; ++i) {
    const E x = in[i];
    const U u = static_cast<U>(x);
    if (function == sign)
      out[i] = x > 0 ? 1 : x < 0 ? -1 : 0;
    else
      out[i] = static_cast<E>(function == square ? u * u : function == neg || x < 0 ? U{0} - u : u);
  }
}

void RunUnary(const KernelCall& call) {
  const auto& p = call.params<schema::UnaryParams>();
  const auto* in = call.inputs[0].as<const float>();
  auto* out = call.outputs[0].as<float>();
  const uint32_t size = call.outputs[0].size();
  for (uint32_t i = 0; i < size; ++i) out[i] = EvaluateUnary(p.function(), in[i], p.alpha());
}

constexpr DataType kI8 = DataType::kInt8, kI16 = DataType::kInt16, kF32 = DataType::kFloat32, kNo = DataType::kNone;

template <typename E>
constexpr Kernel IntegerRow() {
  return {{Op::kUnary, Numerics::kAny, Layout::kNeutral, {kDataTypeOf<E>, kNo, kDataTypeOf<E>}},
          &CheckUnary<Numerics::kAny>,
          &RunInteger<E>};
}

}  // namespace

constexpr Kernel kClampInt8 = {
    {Op::kClamp, Numerics::kAny, Layout::kNeutral, {kI8, kNo, kI8}}, &CheckClamp<Numerics::kAny>, &RunClamp<int8_t>};
constexpr Kernel kClampInt16 = {
    {Op::kClamp, Numerics::kAny, Layout::kNeutral, {kI16, kNo, kI16}}, &CheckClamp<Numerics::kAny>, &RunClamp<int16_t>};
constexpr Kernel kClampFloat32 = {
    {Op::kClamp, Numerics::kAny, Layout::kNeutral, {kF32, kNo, kF32}}, &CheckClamp<Numerics::kAny>, &RunClamp<float>};
constexpr Kernel kUnaryInt8 = {
    {Op::kUnary, Numerics::kAny, Layout::kNeutral, {kI8, kI8, kI8}}, &CheckUnary<Numerics::kAny>, &RunLookup};
constexpr Kernel kUnaryInt16 = {
    {Op::kUnary, Numerics::kAny, Layout::kNeutral, {kI16, kI16, kI16}}, &CheckUnary<Numerics::kAny>, &RunInterpolation};
constexpr Kernel kUnaryFloat32 = {
    {Op::kUnary, Numerics::kAny, Layout::kNeutral, {kF32, kNo, kF32}}, &CheckUnary<Numerics::kAny>, &RunUnary};
constexpr Kernel kUnaryInt32 = IntegerRow<int32_t>();
constexpr Kernel kUnaryInt64 = IntegerRow<int64_t>();

}  // namespace takt::reference
