// What a kernel computes with: element, accumulator and output stage of each arithmetic, so that one loop serves all.
#ifndef TAKT_PORTS_KERNEL_UTIL_ARITHMETIC_H_
#define TAKT_PORTS_KERNEL_UTIL_ARITHMETIC_H_

#include <cstdint>
#include <type_traits>

#include "engine/base/requantize.h"
#include "engine/core/kernel.h"
#include "schema/plan_generated.h"

namespace takt {

/// Integer activations E with int8 weights. Acc: unsigned, the type that sums wrap in.
template <typename E, typename Acc>
struct IntegerTypes {
  using Element = E;
  using Weight = int8_t;
  using Accumulator = Acc;
  using Bias = std::make_signed_t<Acc>;

  static Acc Start(Bias bias) { return static_cast<Acc>(bias); }
  static Acc Finish(Acc acc, Bias) { return acc; }
};

template <typename E, typename Acc>
struct Fp32RneOf : IntegerTypes<E, Acc> {
  static constexpr Numerics kNumerics = Numerics::kFp32Rne;

  const float* scales = nullptr;
  float lo, hi;
  int32_t zero_point;

  Fp32RneOf(const schema::Clamp& clamp, int32_t zp)
      : lo(clamp.min() - static_cast<float>(zp)), hi(clamp.max() - static_cast<float>(zp)), zero_point(zp) {}
  void SetTable(const TensorRef& t) { scales = t.as<const float>(); }
  template <typename Params>
  E One(Acc acc, const Params& p) const {
    return static_cast<E>(RequantizeFp32Rne(acc, p.scale(), lo, hi, zero_point));
  }
  E operator()(Acc acc, int32_t channel) const {
    return static_cast<E>(RequantizeFp32Rne(acc, scales[channel], lo, hi, zero_point));
  }
};

template <typename E, typename Acc>
struct TfliteOf : IntegerTypes<E, Acc> {
  static constexpr Numerics kNumerics = Numerics::kTflite;

  const int32_t* table = nullptr;
  int32_t lo, hi, zero_point;

  TfliteOf(const schema::Clamp& clamp, int32_t zp)
      : lo(static_cast<int32_t>(clamp.min())), hi(static_cast<int32_t>(clamp.max())), zero_point(zp) {}
  void SetTable(const TensorRef& t) { table = t.as<const int32_t>(); }
  template <typename Params>
  E One(Acc acc, const Params& p) const {
    return static_cast<E>(RequantizeTflite(acc, p.multiplier(), p.shift(), zero_point, lo, hi));
  }
  E operator()(Acc acc, int32_t channel) const {
    return static_cast<E>(RequantizeTflite(acc, table[2 * channel], table[2 * channel + 1], zero_point, lo, hi));
  }
};

using Fp32Rne = Fp32RneOf<int8_t, uint32_t>;
using Fp32Rne16 = Fp32RneOf<int16_t, uint64_t>;
using Tflite = TfliteOf<int8_t, uint32_t>;
using Tflite16 = TfliteOf<int16_t, uint64_t>;
/// TFLite's int16 sums of 32 bits, with its full multiplier: element-wise ops, means, contractions with an int32 bias.
using Tflite16Narrow = TfliteOf<int16_t, uint32_t>;

struct Float32 {
  static constexpr Numerics kNumerics = Numerics::kAny;
  using Element = float;
  using Weight = float;
  using Accumulator = float;
  using Bias = float;

  /// The bias comes last, as other implementations have it: a sum that starts with a large bias rounds worse.
  static float Start(float) { return 0; }
  static float Finish(float acc, float bias) { return acc + bias; }

  float lo, hi;

  Float32(const schema::Clamp& clamp, int32_t) : lo(clamp.min()), hi(clamp.max()) {}
  void SetTable(const TensorRef&) {}
  float Clamped(float v) const { return v < lo ? lo : v > hi ? hi : v; }
  template <typename Params>
  float One(float v, const Params&) const {
    return Clamped(v);
  }
  float operator()(float acc, int32_t) const { return Clamped(acc); }
};

/// Value less its zero point; floats have none.
template <typename E>
constexpr int32_t Centered(E v, int32_t zero_point) {
  return v - zero_point;
}
constexpr float Centered(float v, int32_t) {
  return v;
}

/// acc + sum of (x - xz) * (w - wz). Not inlined: in its callers' loops a small core would run out of registers.
template <typename Acc, typename X, typename W>
[[gnu::noinline]] Acc Dot(Acc acc, const X* x, const W* w, int32_t n, int32_t xz, int32_t wz) {
#pragma GCC unroll 4
  for (int32_t i = 0; i < n; ++i) acc += static_cast<Acc>((x[i] - xz) * (w[i] - wz));
  return acc;
}
inline float Dot(float acc, const float* x, const float* w, int32_t n, int32_t, int32_t) {
  for (int32_t i = 0; i < n; ++i) acc += x[i] * w[i];
  return acc;
}
template <typename Acc>
void MultiplyAdd(Acc& acc, int32_t x, int32_t w) {
  acc += static_cast<Acc>(x * w);
}
inline void MultiplyAdd(float& acc, float x, float w) {
  acc += x * w;
}

/// int16 function by table[513], whose entries are 2^7 apart; rounded half up.
inline int16_t Interpolate(const int16_t* table, int16_t x) {
  const int32_t entry = (x >> 7) + 256, rest = x & 127;
  return static_cast<int16_t>(table[entry] + (((table[entry + 1] - table[entry]) * rest + 64) >> 7));
}

/// The key of a contraction's row.
template <typename A>
constexpr KernelKey ContractionKey(Op op) {
  constexpr DataType kElement = kDataTypeOf<typename A::Element>;
  return {op, A::kNumerics, Layout::kNeutral, {kElement, kDataTypeOf<typename A::Weight>, kElement}};
}

using RunFunction = void (*)(const KernelCall&);
/// TFLite's int16 contractions: the bias's type says how wide the sums are.
template <RunFunction kWide, RunFunction kNarrow>
void RunByBias(const KernelCall& call) {
  call.inputs[2].type == DataType::kInt32 ? kNarrow(call) : kWide(call);
}

/// Kernel cells [begin, end) of a window that starts at `start` (in input cells) and lie in [0, size).
struct Span1d {
  int32_t begin, end;
  Span1d(int32_t start, int32_t size, int32_t kernel, int32_t dilation) {
    begin = start >= 0 ? 0 : (-start + dilation - 1) / dilation;
    const int32_t room = size - start;  // the first cell outside, counted from start
    end = room <= 0 ? 0 : (room + dilation - 1) / dilation;
    if (end > kernel) end = kernel;
    if (begin > end) begin = end;
  }
  int32_t size() const { return end - begin; }
};

/// The integer addition of both numerics: a and b are stored values.
template <typename A>
typename A::Element AddStored(const schema::AddParams& p, int32_t a, int32_t b) {
  const auto lo = static_cast<int32_t>(p.clamp().min()), hi = static_cast<int32_t>(p.clamp().max());
  a -= p.a_zero_point();
  b -= p.b_zero_point();
  if constexpr (A::kNumerics == Numerics::kFp32Rne) {
    using Wide = typename A::Bias;
    const int sh = p.output_shift();
    const Wide acc = (Wide{1} << (sh - 1)) + Wide{p.a_multiplier()} * a + Wide{p.b_multiplier()} * b;
    return static_cast<typename A::Element>(ClampInt(static_cast<int32_t>(acc >> sh) + p.output_zero_point(), lo, hi));
  } else {
    const auto scaled = [&p](int32_t v, int32_t multiplier, int32_t shift) {
      return static_cast<uint32_t>(MultiplyTflite(static_cast<uint32_t>(v) << p.left_shift(), multiplier, shift));
    };
    const uint32_t sa = scaled(a, p.a_multiplier(), p.a_shift()), sb = scaled(b, p.b_multiplier(), p.b_shift());
    const uint32_t sum = p.function() == schema::AddFunction::add ? sa + sb : sa - sb;
    return static_cast<typename A::Element>(
        RequantizeTflite(sum, p.output_multiplier(), p.output_shift(), p.output_zero_point(), lo, hi));
  }
}

}  // namespace takt

#endif  // TAKT_PORTS_KERNEL_UTIL_ARITHMETIC_H_
