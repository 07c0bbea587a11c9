// conv2d, depthwise_conv2d, fully_connected and the convolution of conv2d_add, as XNNPACK's convolution.
#ifndef TAKT_PORTS_XNNPACK_CONTRACTION_H_
#define TAKT_PORTS_XNNPACK_CONTRACTION_H_

#include <type_traits>

#include "ports/xnnpack/operators.h"
#include "ports/xnnpack/window.h"

namespace takt::xnnpack {

/// What the ops' params and shapes come to.
struct Contraction {
  Window window;
  size_t batch, groups, depth, outputs;  ///< Depth and outputs of a group.
  schema::Clamp clamp;
  int16_t input_zero_point, weight_zero_point, output_zero_point;
  uint32_t flags;
};

template <typename Params>
Contraction FromParams(const Params& p, const Window& window, size_t batch, size_t groups, size_t depth, size_t outputs,
                       uint32_t flags = 0) {
  return {window,
          batch,
          groups,
          depth,
          outputs,
          p.clamp(),
          p.input_zero_point(),
          p.weight_zero_point(),
          p.output_zero_point(),
          flags};
}

template <Op kOp>
Contraction ContractionOf(const KernelCall& call) {
  const TensorRef &x = call.inputs[0], &w = call.inputs[1], &y = call.outputs[0];
  const auto dim = [](const TensorRef& t, int i) { return static_cast<size_t>(t.dims[i]); };
  if constexpr (kOp == Op::kFullyConnected) {
    return FromParams(call.params<schema::FullyConnectedParams>(), {}, x.size() / dim(w, 1), 1, dim(w, 1), dim(w, 0));
  } else if constexpr (kOp == Op::kDepthwiseConv2d) {
    const auto& p = call.params<schema::DepthwiseConv2dParams>();
    return FromParams(p, {p.window(), x.dims, y.dims, w.dims[1], w.dims[2]}, dim(x, 0), dim(x, 3), 1,
                      dim(y, 3) / dim(x, 3), XNN_FLAG_DEPTHWISE_CONVOLUTION);
  } else {
    const schema::Conv2dParams* p;
    if constexpr (kOp == Op::kConv2dAdd) {
      p = &call.params<schema::Conv2dAddParams>().conv();
    } else {
      p = &call.params<schema::Conv2dParams>();
    }
    const size_t groups = dim(x, 3) / dim(w, 3);
    return FromParams(*p, {p->window(), x.dims, y.dims, w.dims[1], w.dims[2]}, dim(x, 0), groups, dim(w, 3),
                      dim(y, 3) / groups);
  }
}

/// Weights of -128 overflow in 16-bit sums of its arm64 kernels.
#if defined(__aarch64__)
inline constexpr bool kTakesMinus128 = false;
#else
inline constexpr bool kTakesMinus128 = true;
#endif

template <Op kOp, typename E>
struct Convolution {
  static constexpr bool kIsFloat = std::is_same_v<E, float>;

  static const char* Refusal(const KernelCall& call) {
    const Contraction c = ContractionOf<kOp>(call);
    if (!call.inputs[1].constant || !call.inputs[2].constant) return "weights or bias are no constants";
    if (!c.window.Fits()) return kWindowReason;
    if (!ClampFits(c.clamp)) return kClampReason;
    if constexpr (!kIsFloat) {
      if (c.weight_zero_point != 0) return "weights have a zero point";
      if (!kTakesMinus128) {
        const std::span weights(call.inputs[1].as<const int8_t>(), call.inputs[1].size());
        if (std::find(weights.begin(), weights.end(), -128) != weights.end())
          return "weights of -128 overflow on arm64";
      }
    }
    return nullptr;
  }

  static uint64_t Bytes(const KernelCall& call) {
    const Contraction c = ContractionOf<kOp>(call);
    return ConvolutionBytes({c.window.shape(), c.groups, c.depth, c.outputs, sizeof(E), kIsFloat ? 0 : sizeof(float)});
  }

  static xnn_status Create(const KernelCall& call, xnn_operator_t* op) {
    const Contraction c = ContractionOf<kOp>(call);
    const size_t in = c.groups * c.depth, out = c.groups * c.outputs;
    const TensorRef &w = call.inputs[1], &bias = call.inputs[2];
    return c.window.Call<true>([&](auto... window) {
      if constexpr (kIsFloat) {
        return xnn_create_convolution2d_nhwc_f32(window..., static_cast<uint32_t>(c.groups), c.depth, c.outputs, in,
                                                 out, w.as<const float>(), bias.as<const float>(), c.clamp.min(),
                                                 c.clamp.max(), c.flags, op);
      } else {
        // The scales of input and output are 1, so that the kernel's are the step's.
        return xnn_create_convolution2d_nhwc_qc8(
            window..., static_cast<uint32_t>(c.groups), c.depth, c.outputs, in, out,
            static_cast<int8_t>(c.input_zero_point), 1.0f, call.inputs[3].as<const float>(), w.as<const int8_t>(),
            bias.as<const int32_t>(), static_cast<int8_t>(c.output_zero_point), 1.0f,
            static_cast<int8_t>(c.clamp.min()), static_cast<int8_t>(c.clamp.max()), c.flags, op);
      }
    });
  }

  static xnn_status Setup(xnn_operator_t op, const KernelCall& call) {
    const Contraction c = ContractionOf<kOp>(call);
    E* out = kOp == Op::kConv2dAdd ? reinterpret_cast<E*>(call.scratch.data()) : call.outputs[0].as<E>();
    const auto h = static_cast<size_t>(c.window.h.in), w = static_cast<size_t>(c.window.w.in);
    const E* in = call.inputs[0].as<const E>();
    if constexpr (kIsFloat) {
      return xnn_setup_convolution2d_nhwc_f32(op, c.batch, h, w, in, out, nullptr);
    } else {
      return xnn_setup_convolution2d_nhwc_qc8(op, c.batch, h, w, in, out, nullptr);
    }
  }
};

}  // namespace takt::xnnpack

#endif  // TAKT_PORTS_XNNPACK_CONTRACTION_H_
