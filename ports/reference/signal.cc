// signal_window, fft_auto_scale, energy, overlap_add
#include <algorithm>
#include <bit>
#include <cstring>

#include "engine/ops/checks.h"
#include "ports/reference/kernels.h"
#include "schema/plan_generated.h"

namespace takt::reference {
namespace {

constexpr int16_t Saturated16(int32_t v) {
  return static_cast<int16_t>(std::clamp<int32_t>(v, -32768, 32767));
}

void RunWindow(const KernelCall& call) {
  const int shift = call.params<schema::SignalWindowParams>().shift();
  const auto* x = call.inputs[0].as<const int16_t>();
  const auto* window = call.inputs[1].as<const int16_t>();
  auto* y = call.outputs[0].as<int16_t>();
  const uint32_t size = call.inputs[0].size(), period = call.inputs[1].size();
  for (uint32_t i = 0; i < size; ++i) y[i] = Saturated16(x[i] * window[i % period] >> shift);
}

/// Largest magnitude as TFLM finds it: that of -32768 is -32768 in its 16 bits, which any later value replaces.
int16_t MaxMagnitude(const int16_t* x, uint32_t size) {
  int16_t most = 0;
  for (uint32_t i = 0; i < size; ++i) {
    const int32_t magnitude = x[i] > most ? x[i] : -x[i];
    if (magnitude > most) most = static_cast<int16_t>(magnitude);
  }
  return most;
}

void RunAutoScale(const KernelCall& call) {
  const auto* x = call.inputs[0].as<const int16_t>();
  auto* y = call.outputs[0].as<int16_t>();
  const uint32_t size = call.inputs[0].size();
  const int16_t most = MaxMagnitude(x, size);
  const int bits = most <= 0 ? 0 : 15 - static_cast<int>(std::bit_width(static_cast<uint32_t>(most)));
  for (uint32_t i = 0; i < size; ++i) y[i] = static_cast<int16_t>(x[i] * (1 << bits));
  *call.outputs[1].as<int32_t>() = bits;
}

void RunEnergy(const KernelCall& call) {
  const auto& p = call.params<schema::EnergyParams>();
  const auto* x = call.inputs[0].as<const int16_t>();
  auto* y = call.outputs[0].as<uint32_t>();
  const auto square = [](int32_t v) { return static_cast<uint32_t>(v * v); };
  std::fill_n(y, call.outputs[0].size(), 0u);
  for (uint32_t i = p.begin(); i < p.end(); ++i) y[i] = square(x[2 * i]) + square(x[2 * i + 1]);
}

int16_t Sum(int16_t a, int16_t b) {
  return Saturated16(a + b);
}
float Sum(float a, float b) {
  return a + b;
}

template <typename T>
void RunOverlapAdd(const KernelCall& call) {
  const TensorRef &x = call.inputs[0], &state = call.inputs[1];
  const size_t step = call.params<schema::OverlapAddParams>().step();
  const auto size = static_cast<size_t>(x.dims[x.rank - 1]), count = static_cast<size_t>(x.dims[x.rank - 2]);
  const auto* in = x.as<const T>();
  auto* next = call.outputs[1].as<T>();
  auto* out = call.outputs[0].as<T>();
  std::memcpy(next, state.data, state.size() * sizeof(T));
  for (const T* end = next + state.size(); next < end; next += size) {
    for (size_t frame = 0; frame < count; ++frame, in += size, out += step) {
      for (size_t i = 0; i < size; ++i) next[i] = Sum(in[i], next[i]);
      std::memcpy(out, next, step * sizeof(T));
      std::memmove(next, next + step, (size - step) * sizeof(T));
      std::fill_n(next + size - step, step, T{0});
    }
  }
}

template <typename T>
constexpr Kernel OverlapAddRow() {
  constexpr DataType kType = kDataTypeOf<T>;
  return {{Op::kOverlapAdd, Numerics::kAny, Layout::kNeutral, {kType, kType, kType}},
          &CheckOverlapAdd<Numerics::kAny>,
          &RunOverlapAdd<T>};
}

}  // namespace

using enum DataType;
constexpr Kernel kSignalWindow = {{Op::kSignalWindow, Numerics::kAny, Layout::kNeutral, {kInt16, kInt16, kInt16}},
                                  &CheckSignalWindow<Numerics::kAny>,
                                  &RunWindow};
constexpr Kernel kFftAutoScale = {{Op::kFftAutoScale, Numerics::kAny, Layout::kNeutral, {kInt16, kNone, kInt16}},
                                  &CheckFftAutoScale<Numerics::kAny>,
                                  &RunAutoScale};
constexpr Kernel kEnergy = {{Op::kEnergy, Numerics::kAny, Layout::kNeutral, {kInt16, kNone, kUint32}},
                            &CheckEnergy<Numerics::kAny>,
                            &RunEnergy};
constexpr Kernel kOverlapAddInt16 = OverlapAddRow<int16_t>();
constexpr Kernel kOverlapAddFloat32 = OverlapAddRow<float>();

}  // namespace takt::reference
