// average_pool2d, max_pool2d
#include <type_traits>

#include "engine/ops/checks.h"
#include "ports/kernel_util/arithmetic.h"
#include "ports/reference/kernels.h"

namespace takt::reference {
namespace {

struct Average {
  static constexpr Op kOp = Op::kAveragePool2d;
  static int32_t First(int32_t) { return 0; }
  static float First(float) { return 0.0f; }
  template <typename V>
  static V Next(V acc, V v) {
    return acc + v;
  }
  static int32_t Last(int32_t sum, int32_t n) { return (sum > 0 ? sum + n / 2 : sum - n / 2) / n; }
  static float Last(float sum, int32_t n) { return sum / static_cast<float>(n); }
};

struct Max {
  static constexpr Op kOp = Op::kMaxPool2d;
  static int32_t First(int32_t v) { return v; }
  static float First(float v) { return v; }
  template <typename V>
  static V Next(V acc, V v) {
    return v > acc ? v : acc;
  }
  template <typename V>
  static V Last(V acc, int32_t) {
    return acc;
  }
};

template <typename Pool, typename E>
void RunPool(const KernelCall& call) {
  const auto& p = call.params<schema::Pool2dParams>();
  const TensorRef &x = call.inputs[0], &y = call.outputs[0];
  const schema::Window2d& win = p.window();
  const int32_t xh = x.dims[1], xw = x.dims[2], channels = x.dims[3];
  using V = std::conditional_t<std::is_same_v<E, float>, float, int32_t>;
  const V lo = static_cast<V>(p.clamp().min()), hi = static_cast<V>(p.clamp().max());
  E* out = y.as<E>();
  for (int32_t n = 0; n < x.dims[0]; ++n) {
    const E* image = x.as<const E>() + static_cast<ptrdiff_t>(n) * xh * xw * channels;
    for (int32_t oy = 0; oy < y.dims[1]; ++oy) {
      const int32_t y0 = oy * win.stride_h() - win.pad_top();
      const Span1d ys(y0, xh, p.kernel_h(), 1);
      for (int32_t ox = 0; ox < y.dims[2]; ++ox) {
        const int32_t x0 = ox * win.stride_w() - win.pad_left();
        const Span1d xs(x0, xw, p.kernel_w(), 1);
        const E* corner = image + (static_cast<ptrdiff_t>(y0 + ys.begin) * xw + x0 + xs.begin) * channels;
        for (int32_t c = 0; c < channels; ++c) {
          V acc = Pool::First(static_cast<V>(corner[c]));
          for (int32_t ky = 0; ky < ys.size(); ++ky) {
            const E* cell = corner + static_cast<ptrdiff_t>(ky) * xw * channels + c;
            for (int32_t kx = 0; kx < xs.size(); ++kx, cell += channels) acc = Pool::Next(acc, static_cast<V>(*cell));
          }
          const V v = Pool::Last(acc, ys.size() * xs.size());
          *out++ = static_cast<E>(v < lo ? lo : v > hi ? hi : v);
        }
      }
    }
  }
}

template <typename Pool, typename E>
constexpr Kernel Row(DataType type, Status (*check)(const KernelCall&, uint64_t&)) {
  return {{Pool::kOp, Numerics::kAny, Layout::kNeutral, {type, DataType::kNone, type}}, check, &RunPool<Pool, E>};
}

}  // namespace

constexpr Kernel kAveragePool2dInt8 = Row<Average, int8_t>(DataType::kInt8, &CheckAveragePool2d<Numerics::kAny>);
constexpr Kernel kAveragePool2dInt16 = Row<Average, int16_t>(DataType::kInt16, &CheckAveragePool2d<Numerics::kAny>);
constexpr Kernel kAveragePool2dFloat32 = Row<Average, float>(DataType::kFloat32, &CheckAveragePool2d<Numerics::kAny>);
constexpr Kernel kMaxPool2dInt8 = Row<Max, int8_t>(DataType::kInt8, &CheckMaxPool2d<Numerics::kAny>);
constexpr Kernel kMaxPool2dInt16 = Row<Max, int16_t>(DataType::kInt16, &CheckMaxPool2d<Numerics::kAny>);
constexpr Kernel kMaxPool2dFloat32 = Row<Max, float>(DataType::kFloat32, &CheckMaxPool2d<Numerics::kAny>);

}  // namespace takt::reference
