// max_pool_argmax2d, max_unpool2d
#include <limits>

#include "engine/ops/checks.h"
#include "ports/kernel_util/arithmetic.h"
#include "ports/reference/kernels.h"

namespace takt::reference {
namespace {

void RunMaxPoolArgmax2d(const KernelCall& call) {
  const auto& p = call.params<schema::Pool2dParams>();
  const TensorRef &x = call.inputs[0], &y = call.outputs[0];
  const schema::Window2d& win = p.window();
  const int32_t xh = x.dims[1], xw = x.dims[2], channels = x.dims[3];
  const float lo = p.clamp().min(), hi = p.clamp().max();
  float *out = y.as<float>(), *places = call.outputs[1].as<float>();
  for (int32_t n = 0; n < x.dims[0]; ++n) {
    const float* image = x.as<const float>() + static_cast<ptrdiff_t>(n) * xh * xw * channels;
    for (int32_t oy = 0; oy < y.dims[1]; ++oy) {
      const int32_t y0 = oy * win.stride_h() - win.pad_top();
      const Span1d ys(y0, xh, p.kernel_h(), 1);
      for (int32_t ox = 0; ox < y.dims[2]; ++ox) {
        const int32_t x0 = ox * win.stride_w() - win.pad_left();
        const Span1d xs(x0, xw, p.kernel_w(), 1);
        for (int32_t c = 0; c < channels; ++c) {
          float best = std::numeric_limits<float>::lowest();
          int32_t place = 0;
          for (int32_t ky = ys.begin; ky < ys.end; ++ky) {
            for (int32_t kx = xs.begin; kx < xs.end; ++kx) {
              const float v = image[(static_cast<ptrdiff_t>(y0 + ky) * xw + x0 + kx) * channels + c];
              if (!(v > best)) continue;
              best = v;
              place = ky * p.kernel_w() + kx;
            }
          }
          *out++ = best < lo ? lo : best > hi ? hi : best;
          *places++ = static_cast<float>(place) + 0.1f;
        }
      }
    }
  }
}

/// Places come from data: those outside of the output are dropped.
void RunMaxUnpool2d(const KernelCall& call) {
  const auto& p = call.params<schema::Pool2dParams>();
  const TensorRef &x = call.inputs[0], &y = call.outputs[0];
  const schema::Window2d& win = p.window();
  const int32_t yh = y.dims[1], yw = y.dims[2], channels = y.dims[3];
  const auto cells = static_cast<float>(p.kernel_h() * p.kernel_w());
  const float *in = x.as<const float>(), *places = call.inputs[1].as<const float>();
  auto* out = y.as<float>();
  for (uint32_t i = 0; i < y.size(); ++i) out[i] = 0;
  for (int32_t n = 0; n < x.dims[0]; ++n, out += static_cast<ptrdiff_t>(yh) * yw * channels) {
    for (int32_t iy = 0; iy < x.dims[1]; ++iy) {
      for (int32_t ix = 0; ix < x.dims[2]; ++ix) {
        for (int32_t c = 0; c < channels; ++c, ++in, ++places) {
          if (!(*places >= 0 && *places < cells)) continue;
          const auto place = static_cast<int32_t>(*places);
          const int32_t oy = iy * win.stride_h() - win.pad_top() + place / p.kernel_w();
          const int32_t ox = ix * win.stride_w() - win.pad_left() + place % p.kernel_w();
          if (oy < 0 || oy >= yh || ox < 0 || ox >= yw) continue;
          out[(static_cast<ptrdiff_t>(oy) * yw + ox) * channels + c] = *in;
        }
      }
    }
  }
}

}  // namespace

constexpr Kernel kMaxPoolArgmax2dFloat32 = {
    {Op::kMaxPoolArgmax2d, Numerics::kAny, Layout::kNeutral, {DataType::kFloat32, DataType::kNone, DataType::kFloat32}},
    &CheckMaxPoolArgmax2d<Numerics::kAny>,
    &RunMaxPoolArgmax2d};
constexpr Kernel kMaxUnpool2dFloat32 = {
    {Op::kMaxUnpool2d, Numerics::kAny, Layout::kNeutral, {DataType::kFloat32, DataType::kFloat32, DataType::kFloat32}},
    &CheckMaxUnpool2d<Numerics::kAny>,
    &RunMaxUnpool2d};

}  // namespace takt::reference
