// Sliding windows, for the oracles of convolutions and pools.
#ifndef TAKT_TESTS_OPS_WINDOW_H_
#define TAKT_TESTS_OPS_WINDOW_H_

#include "tests/ops/op_test.h"

namespace takt::test {

/// strides, dilations (h, w), pads (top, left, bottom, right).
struct Window {
  Ints strides = {1, 1}, dilations = {1, 1}, pads = {0, 0, 0, 0};
};

/// Calls f(pixel of the output, pixel of the input, kernel cell) for each cell inside the input x (NHWC); pixels and
/// cells are numbered row-major. Gives the output's dims but the last, which is x's.
template <typename F>
Dims ForEachCell(const Dims& x, int32_t kernel_h, int32_t kernel_w, const Window& w, F f) {
  const auto size = [&](size_t axis, int32_t kernel) {
    const int64_t room = x[axis + 1] + w.pads[axis] + w.pads[axis + 2] - (kernel - 1) * w.dilations[axis] - 1;
    return static_cast<int32_t>(room / w.strides[axis] + 1);
  };
  Dims y = {x[0], size(0, kernel_h), size(1, kernel_w), x[3]};
  size_t out = 0;
  for (int32_t n = 0; n < y[0]; ++n)
    for (int32_t oy = 0; oy < y[1]; ++oy)
      for (int32_t ox = 0; ox < y[2]; ++ox, ++out)
        for (int32_t k = 0; k < kernel_h * kernel_w; ++k) {
          const int64_t iy = oy * w.strides[0] - w.pads[0] + k / kernel_w * w.dilations[0];
          const int64_t ix = ox * w.strides[1] - w.pads[1] + k % kernel_w * w.dilations[1];
          if (iy < 0 || ix < 0 || iy >= x[1] || ix >= x[2]) continue;
          f(out, static_cast<size_t>((n * x[1] + iy) * x[2] + ix), static_cast<size_t>(k));
        }
  return y;
}

inline Window WindowOf(const OpCase& c) {
  Window w;
  w.strides = std::get<Ints>(c.attributes.at("strides"));
  w.pads = std::get<Ints>(c.attributes.at("pads"));
  if (c.attributes.count("dilations") != 0) w.dilations = std::get<Ints>(c.attributes.at("dilations"));
  return w;
}

inline Attributes WindowAttributes(const Window& w, const std::string& activation, bool dilations = true) {
  Attributes a = {{"strides", w.strides}, {"pads", w.pads}, {"activation", activation}};
  if (dilations) a["dilations"] = w.dilations;
  return a;
}

/// Real value of a contraction's accumulator: input scale times weight scale of the channel.
inline double ContractionUnit(const OpCase& c, size_t channel) {
  return c.inputs[0].scale() * c.inputs[1].scale(channel);
}

}  // namespace takt::test

#endif  // TAKT_TESTS_OPS_WINDOW_H_
