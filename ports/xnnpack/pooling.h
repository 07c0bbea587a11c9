// max_pool2d, average_pool2d.
#ifndef TAKT_PORTS_XNNPACK_POOLING_H_
#define TAKT_PORTS_XNNPACK_POOLING_H_

#include "ports/xnnpack/operators.h"
#include "ports/xnnpack/window.h"

namespace takt::xnnpack {

template <bool kMax, typename E>
struct Pool {
  static constexpr bool kIsFloat = std::is_same_v<E, float>;
  static_assert(kMax || kIsFloat, "XNNPACK's integer averages are rounded otherwise");

  static Window WindowOf(const KernelCall& call) {
    const auto& p = call.params<schema::Pool2dParams>();
    return {p.window(), call.inputs[0].dims, call.outputs[0].dims, p.kernel_h(), p.kernel_w()};
  }
  static size_t Dim(const KernelCall& call, int i) { return static_cast<size_t>(call.inputs[0].dims[i]); }

  static const char* Refusal(const KernelCall& call) {
    const auto& p = call.params<schema::Pool2dParams>();
    if (p.kernel_h() * p.kernel_w() == 1) return "the window has one cell";
    if (!ClampFits(p.clamp())) return kClampReason;
    return WindowOf(call).Fits() ? nullptr : kWindowReason;
  }
  static uint64_t Bytes(const KernelCall& call) { return PoolBytes(WindowOf(call).shape(), Dim(call, 3), sizeof(E)); }
  static xnn_status Create(const KernelCall& call, xnn_operator_t* op) {
    const schema::Clamp& clamp = call.params<schema::Pool2dParams>().clamp();
    const size_t channels = Dim(call, 3);
    return WindowOf(call).template Call<kMax>([&](auto... window) {
      if constexpr (!kMax) {
        return xnn_create_average_pooling2d_nhwc_f32(window..., channels, channels, channels, clamp.min(), clamp.max(),
                                                     0, op);
      } else if constexpr (kIsFloat) {
        return xnn_create_max_pooling2d_nhwc_f32(window..., channels, channels, channels, clamp.min(), clamp.max(), 0,
                                                 op);
      } else {
        return xnn_create_max_pooling2d_nhwc_s8(window..., channels, channels, channels,
                                                static_cast<int8_t>(clamp.min()), static_cast<int8_t>(clamp.max()), 0,
                                                op);
      }
    });
  }
  static xnn_status Setup(xnn_operator_t op, const KernelCall& call) {
    const E* x = call.inputs[0].as<const E>();
    E* y = call.outputs[0].as<E>();
    const size_t n = Dim(call, 0), h = Dim(call, 1), w = Dim(call, 2);
    if constexpr (!kMax) {
      return xnn_setup_average_pooling2d_nhwc_f32(op, n, h, w, x, y, nullptr);
    } else if constexpr (kIsFloat) {
      return xnn_setup_max_pooling2d_nhwc_f32(op, n, h, w, x, y, nullptr);
    } else {
      return xnn_setup_max_pooling2d_nhwc_s8(op, n, h, w, x, y, nullptr);
    }
  }
};

}  // namespace takt::xnnpack

#endif  // TAKT_PORTS_XNNPACK_POOLING_H_
