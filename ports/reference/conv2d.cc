// conv2d, conv2d_add
#include "engine/ops/checks.h"
#include "ports/kernel_util/arithmetic.h"
#include "ports/reference/kernels.h"

namespace takt::reference {
namespace {

/// Calls store(index, value) for each output element, in order.
template <typename A, typename Store>
void Convolve(const KernelCall& call, const schema::Conv2dParams& p, Store store) {
  using E = typename A::Element;
  const TensorRef &x = call.inputs[0], &w = call.inputs[1], &y = call.outputs[0];
  const auto* bias = call.inputs[2].as<const typename A::Bias>();
  A output(p.clamp(), p.output_zero_point());
  if constexpr (A::kNumerics != Numerics::kAny) output.SetTable(call.inputs[3]);

  const schema::Window2d& win = p.window();
  const int32_t xh = x.dims[1], xw = x.dims[2], xc = x.dims[3];
  const int32_t yh = y.dims[1], yw = y.dims[2], yc = y.dims[3];
  const int32_t kh = w.dims[1], kw = w.dims[2], depth = w.dims[3];
  const int32_t group_outputs = yc / (xc / depth);
  const int32_t dh = win.dilation_h(), dw = win.dilation_w();
  const int32_t xz = p.input_zero_point(), wz = p.weight_zero_point();
  const bool row_is_dense = dw == 1 && depth == xc;  // a kernel row is one run of x

  uint32_t index = 0;
  for (int32_t n = 0; n < x.dims[0]; ++n) {
    const E* image = x.as<const E>() + static_cast<ptrdiff_t>(n) * xh * xw * xc;
    for (int32_t oy = 0; oy < yh; ++oy) {
      const int32_t y0 = oy * win.stride_h() - win.pad_top();
      const Span1d ys(y0, xh, kh, dh);
      for (int32_t ox = 0; ox < yw; ++ox) {
        const int32_t x0 = ox * win.stride_w() - win.pad_left();
        const Span1d xs(x0, xw, kw, dw);
        const int32_t run = row_is_dense ? xs.size() * depth : depth;
        const int32_t runs = row_is_dense ? (run > 0 ? 1 : 0) : xs.size();
        for (int32_t oc = 0; oc < yc; ++oc) {
          const int32_t first = row_is_dense ? 0 : oc / group_outputs * depth;
          typename A::Accumulator acc = A::Start(bias[oc]);
          for (int32_t ky = ys.begin; ky < ys.end; ++ky) {
            ptrdiff_t at = (static_cast<ptrdiff_t>(y0 + ky * dh) * xw + x0 + xs.begin * dw) * xc + first;
            ptrdiff_t wat = ((static_cast<ptrdiff_t>(oc) * kh + ky) * kw + xs.begin) * depth;
            for (int32_t r = 0; r < runs; ++r, at += static_cast<ptrdiff_t>(dw) * xc, wat += depth)
              acc = Dot(acc, image + at, w.as<const typename A::Weight>() + wat, run, xz, wz);
          }
          store(index++, output(A::Finish(acc, bias[oc]), oc));
        }
      }
    }
  }
}

template <typename A>
void RunConv2d(const KernelCall& call) {
  auto* out = call.outputs[0].as<typename A::Element>();
  Convolve<A>(call, call.params<schema::Conv2dParams>(), [out](uint32_t i, typename A::Element v) { out[i] = v; });
}

/// The output may be the skip's memory: each element is read before it is written.
template <typename A>
void RunConv2dAdd(const KernelCall& call) {
  const auto& p = call.params<schema::Conv2dAddParams>();
  const auto* skip = call.inputs[4].as<const int8_t>();
  auto* out = call.outputs[0].as<int8_t>();
  Convolve<A>(call, p.conv(), [&](uint32_t i, int8_t v) { out[i] = AddStored<A>(p.add(), skip[i], v); });
}

constexpr DataType kI8 = DataType::kInt8;

template <typename A>
constexpr Kernel Row(RunFunction run = &RunConv2d<A>) {
  return {ContractionKey<A>(Op::kConv2d), &CheckConv2d<A::kNumerics>, run};
}
template <typename A>
constexpr Kernel AddRow() {
  return {{Op::kConv2dAdd, A::kNumerics, Layout::kNeutral, {kI8, kI8, kI8}},
          &CheckConv2dAdd<A::kNumerics>,
          &RunConv2dAdd<A>};
}

}  // namespace

constexpr Kernel kConv2dInt8Fp32Rne = Row<Fp32Rne>();
constexpr Kernel kConv2dInt8Tflite = Row<Tflite>();
constexpr Kernel kConv2dInt16Fp32Rne = Row<Fp32Rne16>();
constexpr Kernel kConv2dInt16Tflite = Row<Tflite16>(&RunByBias<&RunConv2d<Tflite16>, &RunConv2d<Tflite16Narrow>>);
constexpr Kernel kConv2dFloat32 = Row<Float32>();
constexpr Kernel kConv2dAddInt8Fp32Rne = AddRow<Fp32Rne>();
constexpr Kernel kConv2dAddInt8Tflite = AddRow<Tflite>();

}  // namespace takt::reference
