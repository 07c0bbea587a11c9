// resize_bilinear, resize_nearest
#include <cstring>

#include "engine/ops/checks.h"
#include "ports/kernel_util/arithmetic.h"
#include "ports/reference/kernels.h"

namespace takt::reference {
namespace {

using Coordinates = schema::ResizeCoordinates;

/// A place on an axis of the input, in 1/unit of a cell.
struct Position {
  int64_t at, unit;
};

/// Of output cell i, as a fraction of integers.
Position ExactPosition(Coordinates c, int32_t i, int32_t in, int32_t out) {
  if (c == Coordinates::align_corners && out > 1) return {int64_t{i} * (in - 1), out - 1};
  if (c == Coordinates::half_pixel) return {(2 * int64_t{i} + 1) * in - out, 2 * int64_t{out}};
  return {int64_t{i} * in, out};
}

/// From a scale rounded to 10 bits of fraction.
Position FixedPosition(Coordinates c, int32_t i, int32_t in, int32_t out) {
  constexpr int64_t kUnit = 1 << 10;
  const bool corners = c == Coordinates::align_corners && out > 1;
  const int64_t from = corners ? in - 1 : in, to = corners ? out - 1 : out;
  const int64_t scale = (kUnit * from + to / 2) / to;
  return {c == Coordinates::half_pixel ? i * scale + scale / 2 - kUnit / 2 : i * scale, kUnit};
}

/// The two cells around a position, moved into the axis, and the second one's weight.
struct Cells {
  int32_t lower, upper;
  int64_t weight, unit;
  Cells(Position p, int32_t size) : unit(p.unit) {
    const int64_t last = (size - 1) * p.unit, at = p.at < 0 ? 0 : p.at > last ? last : p.at;
    lower = static_cast<int32_t>(at / unit);
    upper = lower + 1 < size ? lower + 1 : lower;
    weight = at - lower * unit;
  }
};

template <typename E>
struct IntegerBlend {
  using Element = E;
  using Value = int64_t;
  static int64_t Unit(const Cells& c) { return c.unit; }
  static int64_t Weight(const Cells& c) { return c.weight; }
};

template <typename E>
struct BlendFp32Rne : IntegerBlend<E> {
  static constexpr Numerics kNumerics = Numerics::kFp32Rne;
  static constexpr auto At = &ExactPosition;
  /// sum / unit, ties to even.
  static E Round(int64_t sum, int64_t unit) {
    int64_t q = sum / unit - (sum % unit < 0 ? 1 : 0);
    const int64_t twice = 2 * (sum - q * unit);
    if (twice > unit || (twice == unit && q % 2 != 0)) ++q;
    return static_cast<E>(q);
  }
};

template <typename E>
struct BlendTflite : IntegerBlend<E> {
  static constexpr Numerics kNumerics = Numerics::kTflite;
  static constexpr auto At = &FixedPosition;
  /// sum / unit, ties away from zero.
  static E Round(int64_t sum, int64_t unit) { return static_cast<E>((sum + (sum > 0 ? unit / 2 : -unit / 2)) / unit); }
};

struct BlendFloat32 {
  using Element = float;
  using Value = float;
  static constexpr Numerics kNumerics = Numerics::kAny;
  static constexpr auto At = &ExactPosition;
  static float Unit(const Cells&) { return 1; }
  static float Weight(const Cells& c) { return static_cast<float>(c.weight) / static_cast<float>(c.unit); }
  static float Round(float sum, float) { return sum; }
};

template <typename B>
void RunResizeBilinear(const KernelCall& call) {
  using E = typename B::Element;
  using V = typename B::Value;
  const Coordinates coordinates = call.params<schema::ResizeParams>().coordinates();
  const TensorRef &x = call.inputs[0], &y = call.outputs[0];
  const int32_t channels = x.dims[3];
  const ptrdiff_t row = static_cast<ptrdiff_t>(x.dims[2]) * channels;
  const E* image = x.as<const E>();
  E* out = y.as<E>();
  for (int32_t n = 0; n < x.dims[0]; ++n, image += row * x.dims[1]) {
    for (int32_t oy = 0; oy < y.dims[1]; ++oy) {
      const Cells ys(B::At(coordinates, oy, x.dims[1], y.dims[1]), x.dims[1]);
      const E *top = image + row * ys.lower, *bottom = image + row * ys.upper;
      const V below = B::Weight(ys), above = B::Unit(ys) - below;
      for (int32_t ox = 0; ox < y.dims[2]; ++ox) {
        const Cells xs(B::At(coordinates, ox, x.dims[2], y.dims[2]), x.dims[2]);
        const ptrdiff_t left = static_cast<ptrdiff_t>(xs.lower) * channels;
        const ptrdiff_t right = static_cast<ptrdiff_t>(xs.upper) * channels;
        const V after = B::Weight(xs), before = B::Unit(xs) - after, unit = B::Unit(ys) * B::Unit(xs);
        for (int32_t c = 0; c < channels; ++c) {
          const V upper = static_cast<V>(top[left + c]) * before + static_cast<V>(top[right + c]) * after;
          const V lower = static_cast<V>(bottom[left + c]) * before + static_cast<V>(bottom[right + c]) * after;
          *out++ = B::Round(upper * above + lower * below, unit);
        }
      }
    }
  }
}

/// The nearest input cell, in TFLite's float arithmetic: its roundings decide at the border of two cells.
int32_t NearestCell(Coordinates c, int32_t i, int32_t in, int32_t out) {
  const bool corners = c == Coordinates::align_corners;
  const float scale = corners && out > 1 ? static_cast<float>(in - 1) / static_cast<float>(out - 1)
                                         : static_cast<float>(in) / static_cast<float>(out);
  const float at = (static_cast<float>(i) + (c == Coordinates::half_pixel ? 0.5f : 0.0f)) * scale;
  const int32_t cell = corners ? RoundAway(at) : static_cast<int32_t>(at);
  return cell < in ? cell : in - 1;
}

void RunResizeNearest(const KernelCall& call) {
  const Coordinates coordinates = call.params<schema::ResizeParams>().coordinates();
  const TensorRef &x = call.inputs[0], &y = call.outputs[0];
  const size_t pixel = static_cast<size_t>(x.dims[3]) * (BitWidth(x.type) / 8);
  const size_t row = pixel * static_cast<size_t>(x.dims[2]);
  const auto* image = x.as<const uint8_t>();
  auto* out = y.as<uint8_t>();
  for (int32_t n = 0; n < x.dims[0]; ++n, image += row * static_cast<size_t>(x.dims[1])) {
    for (int32_t oy = 0; oy < y.dims[1]; ++oy) {
      const uint8_t* in = image + row * static_cast<size_t>(NearestCell(coordinates, oy, x.dims[1], y.dims[1]));
      for (int32_t ox = 0; ox < y.dims[2]; ++ox, out += pixel)
        std::memcpy(out, in + pixel * static_cast<size_t>(NearestCell(coordinates, ox, x.dims[2], y.dims[2])), pixel);
    }
  }
}

template <typename B>
constexpr Kernel BilinearRow(DataType type) {
  return {{Op::kResizeBilinear, B::kNumerics, Layout::kNeutral, {type, DataType::kNone, type}},
          &CheckResizeBilinear<B::kNumerics>,
          &RunResizeBilinear<B>};
}
constexpr Kernel NearestRow(DataType type) {
  return {{Op::kResizeNearest, Numerics::kAny, Layout::kNeutral, {type, DataType::kNone, type}},
          &CheckResizeNearest<Numerics::kAny>,
          &RunResizeNearest};
}

}  // namespace

constexpr Kernel kResizeBilinearInt8Fp32Rne = BilinearRow<BlendFp32Rne<int8_t>>(DataType::kInt8);
constexpr Kernel kResizeBilinearInt8Tflite = BilinearRow<BlendTflite<int8_t>>(DataType::kInt8);
constexpr Kernel kResizeBilinearInt16Fp32Rne = BilinearRow<BlendFp32Rne<int16_t>>(DataType::kInt16);
constexpr Kernel kResizeBilinearInt16Tflite = BilinearRow<BlendTflite<int16_t>>(DataType::kInt16);
constexpr Kernel kResizeBilinearFloat32 = BilinearRow<BlendFloat32>(DataType::kFloat32);
constexpr Kernel kResizeNearestInt8 = NearestRow(DataType::kInt8);
constexpr Kernel kResizeNearestInt16 = NearestRow(DataType::kInt16);
constexpr Kernel kResizeNearestFloat32 = NearestRow(DataType::kFloat32);

}  // namespace takt::reference
