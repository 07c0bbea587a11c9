// depthwise_conv2d
#include "engine/ops/checks.h"
#include "ports/kernel_util/arithmetic.h"
#include "ports/reference/kernels.h"

namespace takt::reference {
namespace {

constexpr int32_t kBlock = 16;  // channels whose accumulators are held at once

template <typename A>
void RunDepthwise(const KernelCall& call) {
  using E = typename A::Element;
  const auto& p = call.params<schema::DepthwiseConv2dParams>();
  const TensorRef &x = call.inputs[0], &w = call.inputs[1], &y = call.outputs[0];
  const auto* bias = call.inputs[2].as<const typename A::Bias>();
  const auto* weights = w.as<const typename A::Weight>();
  E* out = y.as<E>();
  A output(p.clamp(), p.output_zero_point());
  if constexpr (A::kNumerics != Numerics::kAny) output.SetTable(call.inputs[3]);

  const schema::Window2d& win = p.window();
  const int32_t xh = x.dims[1], xw = x.dims[2], xc = x.dims[3], yc = y.dims[3];
  const int32_t kw = w.dims[2], dh = win.dilation_h(), dw = win.dilation_w();
  const int32_t multiplier = yc / xc, xz = p.input_zero_point(), wz = p.weight_zero_point();

  for (int32_t n = 0; n < x.dims[0]; ++n) {
    const E* image = x.as<const E>() + static_cast<ptrdiff_t>(n) * xh * xw * xc;
    for (int32_t oy = 0; oy < y.dims[1]; ++oy) {
      const int32_t y0 = oy * win.stride_h() - win.pad_top();
      const Span1d ys(y0, xh, w.dims[1], dh);
      for (int32_t ox = 0; ox < y.dims[2]; ++ox) {
        const int32_t x0 = ox * win.stride_w() - win.pad_left();
        const Span1d xs(x0, xw, kw, dw);
        for (int32_t oc = 0; oc < yc; oc += kBlock) {
          const int32_t count = yc - oc < kBlock ? yc - oc : kBlock;
          typename A::Accumulator acc[kBlock];
          for (int32_t i = 0; i < count; ++i) acc[i] = A::Start(bias[oc + i]);
          for (int32_t ky = ys.begin; ky < ys.end; ++ky) {
            for (int32_t kx = xs.begin; kx < xs.end; ++kx) {
              const E* cell = image + (static_cast<ptrdiff_t>(y0 + ky * dh) * xw + x0 + kx * dw) * xc;
              const auto* row = weights + (static_cast<ptrdiff_t>(ky) * kw + kx) * yc + oc;
              if (multiplier == 1) {
                for (int32_t i = 0; i < count; ++i)
                  MultiplyAdd(acc[i], Centered(cell[oc + i], xz), Centered(row[i], wz));
              } else {
                for (int32_t i = 0; i < count; ++i)
                  MultiplyAdd(acc[i], Centered(cell[(oc + i) / multiplier], xz), Centered(row[i], wz));
              }
            }
          }
          for (int32_t i = 0; i < count; ++i) *out++ = output(A::Finish(acc[i], bias[oc + i]), oc + i);
        }
      }
    }
  }
}

template <typename A>
constexpr Kernel Row(RunFunction run = &RunDepthwise<A>) {
  return {ContractionKey<A>(Op::kDepthwiseConv2d), &CheckDepthwiseConv2d<A::kNumerics>, run};
}

}  // namespace

constexpr Kernel kDepthwiseConv2dInt8Fp32Rne = Row<Fp32Rne>();
constexpr Kernel kDepthwiseConv2dInt8Tflite = Row<Tflite>();
constexpr Kernel kDepthwiseConv2dInt16Fp32Rne = Row<Fp32Rne16>();
constexpr Kernel kDepthwiseConv2dInt16Tflite =
    Row<Tflite16>(&RunByBias<&RunDepthwise<Tflite16>, &RunDepthwise<Tflite16Narrow>>);
constexpr Kernel kDepthwiseConv2dFloat32 = Row<Float32>();

}  // namespace takt::reference
