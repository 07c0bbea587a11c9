// conv3d
#include "engine/ops/checks.h"
#include "ports/kernel_util/arithmetic.h"
#include "ports/reference/kernels.h"

namespace takt::reference {
namespace {

/// Where the window of one output lies: its first cell's coordinates, and the cells inside x.
struct Box {
  int32_t start[3];
  Span1d d, h, w;
};

Box BoxAt(const schema::Window3d& win, const TensorRef& x, const TensorRef& w, const int32_t (&at)[3]) {
  int32_t start[3];
  for (uint16_t i = 0; i < 3; ++i) start[i] = at[i] * win.stride()->Get(i) - win.pad_before()->Get(i);
  const auto span = [&](uint16_t i) { return Span1d(start[i], x.dims[1 + i], w.dims[1 + i], win.dilation()->Get(i)); };
  return {{start[0], start[1], start[2]}, span(0), span(1), span(2)};
}

template <typename A>
typename A::Accumulator Sum(typename A::Accumulator acc, const Box& box, const KernelCall& call,
                            const typename A::Element* image, int32_t oc) {
  const auto& p = call.params<schema::Conv3dParams>();
  const auto& dilation = *p.window().dilation();
  const TensorRef &x = call.inputs[0], &w = call.inputs[1];
  const int32_t depth = w.dims[4], groups = x.dims[4] / depth;
  const auto* weights =
      w.as<const typename A::Weight>() + static_cast<ptrdiff_t>(oc) * w.dims[1] * w.dims[2] * w.dims[3] * depth;
  image += oc / (w.dims[0] / groups) * depth;
  for (int32_t kd = box.d.begin; kd < box.d.end; ++kd) {
    for (int32_t kh = box.h.begin; kh < box.h.end; ++kh) {
      const ptrdiff_t plane = box.start[0] + static_cast<ptrdiff_t>(kd) * dilation.Get(0);
      const ptrdiff_t row = plane * x.dims[2] + box.start[1] + static_cast<ptrdiff_t>(kh) * dilation.Get(1);
      for (int32_t kw = box.w.begin; kw < box.w.end; ++kw) {
        const ptrdiff_t pixel = row * x.dims[3] + box.start[2] + static_cast<ptrdiff_t>(kw) * dilation.Get(2);
        const ptrdiff_t cell = (static_cast<ptrdiff_t>(kd) * w.dims[2] + kh) * w.dims[3] + kw;
        acc = Dot(acc, image + pixel * x.dims[4], weights + cell * depth, depth, p.input_zero_point(),
                  p.weight_zero_point());
      }
    }
  }
  return acc;
}

template <typename A>
void RunConv3d(const KernelCall& call) {
  using E = typename A::Element;
  const auto& p = call.params<schema::Conv3dParams>();
  const TensorRef &x = call.inputs[0], &w = call.inputs[1], &y = call.outputs[0];
  const auto* bias = call.inputs[2].as<const typename A::Bias>();
  E* out = y.as<E>();
  A output(p.clamp(), p.output_zero_point());
  if constexpr (A::kNumerics != Numerics::kAny) output.SetTable(call.inputs[3]);
  const uint32_t volume = x.size() / static_cast<uint32_t>(x.dims[0]);
  int32_t at[3];
  for (int32_t n = 0; n < x.dims[0]; ++n) {
    const E* image = x.as<const E>() + static_cast<size_t>(n) * volume;
    for (at[0] = 0; at[0] < y.dims[1]; ++at[0]) {
      for (at[1] = 0; at[1] < y.dims[2]; ++at[1]) {
        for (at[2] = 0; at[2] < y.dims[3]; ++at[2]) {
          const Box box = BoxAt(p.window(), x, w, at);
          for (int32_t oc = 0; oc < y.dims[4]; ++oc)
            *out++ = output(A::Finish(Sum<A>(A::Start(bias[oc]), box, call, image, oc), bias[oc]), oc);
        }
      }
    }
  }
}

template <typename A>
constexpr Kernel Row(RunFunction run = &RunConv3d<A>) {
  return {ContractionKey<A>(Op::kConv3d), &CheckConv3d<A::kNumerics>, run};
}

}  // namespace

constexpr Kernel kConv3dInt8Fp32Rne = Row<Fp32Rne>();
constexpr Kernel kConv3dInt8Tflite = Row<Tflite>();
constexpr Kernel kConv3dFloat32 = Row<Float32>();

}  // namespace takt::reference
