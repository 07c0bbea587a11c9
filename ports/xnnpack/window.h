// A step's window as XNNPACK wants it.
#ifndef TAKT_PORTS_XNNPACK_WINDOW_H_
#define TAKT_PORTS_XNNPACK_WINDOW_H_

#include <cstdint>

#include "ports/xnnpack/describe.h"
#include "schema/plan_generated.h"

namespace takt::xnnpack {

/// One axis. XNNPACK derives the output's size from the pads, so `pad_after` is what the last window reads.
struct Axis {
  int64_t in = 1, out = 1, kernel = 1, stride = 1, dilation = 1, pad_before = 0;

  int64_t extent() const { return (kernel - 1) * dilation + 1; }
  int64_t pad_after() const {
    const int64_t missing = (out - 1) * stride + extent() - in - pad_before;
    return missing > 0 ? missing : 0;
  }
  /// Whether XNNPACK's output has `out` cells.
  bool Fits() const { return (pad_before + in + pad_after() - extent()) / stride + 1 == out; }
};

struct Window {
  Axis h, w;

  Window() = default;
  Window(const schema::Window2d& win, const int32_t* x, const int32_t* y, int64_t kernel_h, int64_t kernel_w)
      : h{x[1], y[1], kernel_h, win.stride_h(), win.dilation_h(), win.pad_top()},
        w{x[2], y[2], kernel_w, win.stride_w(), win.dilation_w(), win.pad_left()} {}

  bool Fits() const { return h.Fits() && w.Fits(); }
  WindowShape shape() const {
    const auto u = [](int64_t n) { return static_cast<uint64_t>(n); };
    return {u(h.out), u(w.out), u(h.kernel), u(w.kernel), u(w.stride), u(w.dilation)};
  }
  /// Calls create with the arguments that windows begin with: pads, kernel, strides; then dilations if it takes them.
  template <bool kDilations, typename Create>
  auto Call(Create create) const {
    const auto u = [](int64_t n) { return static_cast<uint32_t>(n); };
    const uint32_t top = u(h.pad_before), right = u(w.pad_after()), bottom = u(h.pad_after()), left = u(w.pad_before);
    if constexpr (kDilations) {
      return create(top, right, bottom, left, u(h.kernel), u(w.kernel), u(h.stride), u(w.stride), u(h.dilation),
                    u(w.dilation));
    } else {
      return create(top, right, bottom, left, u(h.kernel), u(w.kernel), u(h.stride), u(w.stride));
    }
  }
};

inline constexpr const char* kWindowReason = "windows leave cells at the end of an axis unread";
inline constexpr const char* kClampReason = "the clamp leaves one value";

inline bool ClampFits(const schema::Clamp& clamp) {
  return clamp.min() < clamp.max();
}

}  // namespace takt::xnnpack

#endif  // TAKT_PORTS_XNNPACK_WINDOW_H_
