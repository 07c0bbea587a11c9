// What a kernel computes with: element, accumulator and output stage of each arithmetic, so that one loop serves all.
#ifndef TAKT_PORTS_KERNEL_UTIL_ARITHMETIC_H_
#define TAKT_PORTS_KERNEL_UTIL_ARITHMETIC_H_

#include <cstdint>

#include "engine/base/requantize.h"
#include "engine/core/kernel.h"
#include "schema/plan_generated.h"

namespace takt {

struct Int8Arithmetic {
  using Element = int8_t;
  using Accumulator = uint32_t;
  using Bias = int32_t;

  static uint32_t Start(int32_t bias) { return static_cast<uint32_t>(bias); }
  static uint32_t Finish(uint32_t acc, int32_t) { return acc; }
};

struct Fp32Rne : Int8Arithmetic {
  static constexpr Numerics kNumerics = Numerics::kFp32Rne;
  static constexpr DataType kRequantization = DataType::kFloat32;

  const float* scales = nullptr;
  float lo, hi;
  int32_t zero_point;

  Fp32Rne(const schema::Clamp& clamp, int32_t zp)
      : lo(clamp.min() - static_cast<float>(zp)), hi(clamp.max() - static_cast<float>(zp)), zero_point(zp) {}
  void SetTable(const TensorRef& t) { scales = t.as<const float>(); }
  template <typename Params>
  int8_t One(uint32_t acc, const Params& p) const {
    return static_cast<int8_t>(RequantizeFp32Rne(acc, p.scale(), lo, hi, zero_point));
  }
  int8_t operator()(uint32_t acc, int32_t channel) const {
    return static_cast<int8_t>(RequantizeFp32Rne(acc, scales[channel], lo, hi, zero_point));
  }
};

struct Tflite : Int8Arithmetic {
  static constexpr Numerics kNumerics = Numerics::kTflite;
  static constexpr DataType kRequantization = DataType::kInt32;

  const int32_t* table = nullptr;
  int32_t lo, hi, zero_point;

  Tflite(const schema::Clamp& clamp, int32_t zp)
      : lo(static_cast<int32_t>(clamp.min())), hi(static_cast<int32_t>(clamp.max())), zero_point(zp) {}
  void SetTable(const TensorRef& t) { table = t.as<const int32_t>(); }
  template <typename Params>
  int8_t One(uint32_t acc, const Params& p) const {
    return static_cast<int8_t>(RequantizeTflite(acc, p.multiplier(), p.shift(), zero_point, lo, hi));
  }
  int8_t operator()(uint32_t acc, int32_t channel) const {
    return static_cast<int8_t>(RequantizeTflite(acc, table[2 * channel], table[2 * channel + 1], zero_point, lo, hi));
  }
};

struct Float32 {
  static constexpr Numerics kNumerics = Numerics::kAny;
  using Element = float;
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
constexpr int32_t Centered(int8_t v, int32_t zero_point) {
  return v - zero_point;
}
constexpr float Centered(float v, int32_t) {
  return v;
}

/// acc + sum of (x - xz) * (w - wz). Not inlined: in its callers' loops a small core would run out of registers.
[[gnu::noinline]] inline uint32_t Dot(uint32_t acc, const int8_t* x, const int8_t* w, int32_t n, int32_t xz,
                                      int32_t wz) {
#pragma GCC unroll 4
  for (int32_t i = 0; i < n; ++i) acc += static_cast<uint32_t>((x[i] - xz) * (w[i] - wz));
  return acc;
}
inline float Dot(float acc, const float* x, const float* w, int32_t n, int32_t, int32_t) {
  for (int32_t i = 0; i < n; ++i) acc += x[i] * w[i];
  return acc;
}
inline void MultiplyAdd(uint32_t& acc, int32_t x, int32_t w) {
  acc += static_cast<uint32_t>(x * w);
}
inline void MultiplyAdd(float& acc, float x, float w) {
  acc += x * w;
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
int8_t AddInt8(const schema::AddParams& p, int32_t a, int32_t b);

template <>
inline int8_t AddInt8<Fp32Rne>(const schema::AddParams& p, int32_t a, int32_t b) {
  const int32_t sh = p.output_shift();
  const int32_t acc =
      (1 << (sh - 1)) + p.a_multiplier() * (a - p.a_zero_point()) + p.b_multiplier() * (b - p.b_zero_point());
  return static_cast<int8_t>(ClampInt((acc >> sh) + p.output_zero_point(), static_cast<int32_t>(p.clamp().min()),
                                      static_cast<int32_t>(p.clamp().max())));
}

template <>
inline int8_t AddInt8<Tflite>(const schema::AddParams& p, int32_t a, int32_t b) {
  const auto ua = static_cast<uint32_t>(a - p.a_zero_point()) << p.left_shift();
  const auto ub = static_cast<uint32_t>(b - p.b_zero_point()) << p.left_shift();
  const auto sa = static_cast<uint32_t>(MultiplyTflite(ua, p.a_multiplier(), p.a_shift()));
  const auto sb = static_cast<uint32_t>(MultiplyTflite(ub, p.b_multiplier(), p.b_shift()));
  const uint32_t sum = p.function() == schema::AddFunction::add ? sa + sb : sa - sb;
  return static_cast<int8_t>(RequantizeTflite(sum, p.output_multiplier(), p.output_shift(), p.output_zero_point(),
                                              static_cast<int32_t>(p.clamp().min()),
                                              static_cast<int32_t>(p.clamp().max())));
}

}  // namespace takt

#endif  // TAKT_PORTS_KERNEL_UTIL_ARITHMETIC_H_
