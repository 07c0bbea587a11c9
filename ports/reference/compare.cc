// compare
#include "engine/ops/checks.h"
#include "ports/kernel_util/arithmetic.h"
#include "ports/kernel_util/walk.h"
#include "ports/reference/kernels.h"

namespace takt::reference {
namespace {

using schema::CompareParams;

template <typename V>
uint8_t Holds(schema::CompareFunction function, V a, V b) {
  using enum schema::CompareFunction;
  switch (function) {
    case equal:
      return a == b;
    case not_equal:
      return a != b;
    case greater:
      return a > b;
    case greater_equal:
      return a >= b;
    case less:
      return a < b;
    case less_equal:
      return a <= b;
  }
  return 0;
}

template <typename E>
void Run(const KernelCall& call) {
  const auto& p = call.params<CompareParams>();
  ForEachPair<E, uint8_t>(call, [&](E a, E b) { return Holds(p.function(), a, b); });
}

void RunBool(const KernelCall& call) {
  const auto& p = call.params<CompareParams>();
  ForEachPair<uint8_t>(call, [&](uint8_t a, uint8_t b) { return Holds(p.function(), a != 0, b != 0); });
}

template <typename E>
void RunFp32Rne(const KernelCall& call) {
  const auto& p = call.params<CompareParams>();
  ForEachPair<E, uint8_t>(call, [&](E a, E b) {
    return Holds(p.function(), static_cast<float>(a - p.a_zero_point()) * p.a_scale(),
                 static_cast<float>(b - p.b_zero_point()) * p.b_scale());
  });
}

template <typename E>
void RunTflite(const KernelCall& call) {
  constexpr int32_t kLeft = 1 << 8;
  const auto& p = call.params<CompareParams>();
  ForEachPair<E, uint8_t>(call, [&](E a, E b) {
    const auto x = static_cast<uint32_t>((a - p.a_zero_point()) * kLeft);
    const auto y = static_cast<uint32_t>((b - p.b_zero_point()) * kLeft);
    return Holds(p.function(), MultiplyTflite(x, p.a_multiplier(), p.a_shift()),
                 MultiplyTflite(y, p.b_multiplier(), p.b_shift()));
  });
}

template <Numerics N>
constexpr Kernel Row(DataType type, void (*run)(const KernelCall&)) {
  return {{Op::kCompare, N, Layout::kNeutral, {type, type, DataType::kBool}}, &CheckCompare<N>, run};
}

using enum DataType;

}  // namespace

constexpr Kernel kCompareFloat32 = Row<Numerics::kAny>(kFloat32, &Run<float>);
constexpr Kernel kCompareInt32 = Row<Numerics::kAny>(kInt32, &Run<int32_t>);
constexpr Kernel kCompareInt64 = Row<Numerics::kAny>(kInt64, &Run<int64_t>);
constexpr Kernel kCompareBool = Row<Numerics::kAny>(kBool, &RunBool);
constexpr Kernel kCompareInt8Fp32Rne = Row<Numerics::kFp32Rne>(kInt8, &RunFp32Rne<int8_t>);
constexpr Kernel kCompareInt8Tflite = Row<Numerics::kTflite>(kInt8, &RunTflite<int8_t>);
constexpr Kernel kCompareInt16Fp32Rne = Row<Numerics::kFp32Rne>(kInt16, &RunFp32Rne<int16_t>);
constexpr Kernel kCompareInt16Tflite = Row<Numerics::kTflite>(kInt16, &RunTflite<int16_t>);

}  // namespace takt::reference
