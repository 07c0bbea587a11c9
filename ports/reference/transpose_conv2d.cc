// transpose_conv2d
#include "engine/ops/checks.h"
#include "ports/kernel_util/arithmetic.h"
#include "ports/reference/kernels.h"

namespace takt::reference {
namespace {

/// The input coordinate that kernel cell `k` takes to output coordinate `out` (before the crop), or -1.
int32_t Source(int32_t out, int32_t k, int32_t stride, int32_t dilation, int32_t size) {
  const int32_t at = out - k * dilation;
  return at < 0 || at % stride != 0 || at / stride >= size ? -1 : at / stride;
}

/// Gathers: each output sums over the cells that reach it, so no sums need memory.
template <typename A>
void RunTransposeConv2d(const KernelCall& call) {
  using E = typename A::Element;
  const auto& p = call.params<schema::TransposeConv2dParams>();
  const TensorRef &x = call.inputs[0], &w = call.inputs[1], &y = call.outputs[0];
  const auto* bias = call.inputs[2].as<const typename A::Bias>();
  const auto* weights = w.as<const typename A::Weight>();
  E* out = y.as<E>();
  A output(p.clamp(), p.output_zero_point());
  if constexpr (A::kNumerics != Numerics::kAny) output.SetTable(call.inputs[3]);

  const schema::Window2d& win = p.window();
  const int32_t xh = x.dims[1], xw = x.dims[2], xc = x.dims[3], yc = y.dims[3];
  const int32_t kh = w.dims[1], kw = w.dims[2], depth = w.dims[3];
  const int32_t group_outputs = yc / (xc / depth);
  const int32_t xz = p.input_zero_point(), wz = p.weight_zero_point();

  for (int32_t n = 0; n < x.dims[0]; ++n) {
    const E* image = x.as<const E>() + static_cast<ptrdiff_t>(n) * xh * xw * xc;
    for (int32_t oy = 0; oy < y.dims[1]; ++oy) {
      for (int32_t ox = 0; ox < y.dims[2]; ++ox) {
        for (int32_t oc = 0; oc < yc; ++oc) {
          typename A::Accumulator acc = A::Start(bias[oc]);
          for (int32_t ky = 0; ky < kh; ++ky) {
            const int32_t iy = Source(oy + win.pad_top(), ky, win.stride_h(), win.dilation_h(), xh);
            for (int32_t kx = 0; iy >= 0 && kx < kw; ++kx) {
              const int32_t ix = Source(ox + win.pad_left(), kx, win.stride_w(), win.dilation_w(), xw);
              if (ix < 0) continue;
              const E* cell = image + (static_cast<ptrdiff_t>(iy) * xw + ix) * xc + oc / group_outputs * depth;
              acc = Dot(acc, cell, weights + ((static_cast<ptrdiff_t>(oc) * kh + ky) * kw + kx) * depth, depth, xz, wz);
            }
          }
          *out++ = output(A::Finish(acc, bias[oc]), oc);
        }
      }
    }
  }
}

template <typename A>
constexpr Kernel Row(RunFunction run = &RunTransposeConv2d<A>) {
  return {ContractionKey<A>(Op::kTransposeConv2d), &CheckTransposeConv2d<A::kNumerics>, run};
}

}  // namespace

constexpr Kernel kTransposeConv2dInt8Fp32Rne = Row<Fp32Rne>();
constexpr Kernel kTransposeConv2dInt8Tflite = Row<Tflite>();
constexpr Kernel kTransposeConv2dInt16Fp32Rne = Row<Fp32Rne16>();
constexpr Kernel kTransposeConv2dInt16Tflite =
    Row<Tflite16>(&RunByBias<&RunTransposeConv2d<Tflite16>, &RunTransposeConv2d<Tflite16Narrow>>);
constexpr Kernel kTransposeConv2dFloat32 = Row<Float32>();

}  // namespace takt::reference
