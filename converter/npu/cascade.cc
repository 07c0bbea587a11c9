#include "converter/npu/cascade.h"

#include <algorithm>

namespace takt::npu {
namespace {

Part RowsRead(const Layer& l, Part out) {
  uint32_t pad = 0;
  return InputOf(out, l.stride_h, l.kernel_h, l.dilation_h, l.pad_top, l.height, pad);
}

/// Calls f(layer, rows needed) for every stripe, layer by layer.
template <typename F>
void ForEachNeed(const std::vector<Layer>& layers, uint32_t stripe_rows, F f) {
  std::vector<Part> needs(layers.size());
  const uint32_t height = layers.back().out_height;
  for (uint32_t row = 0; row < height; row += stripe_rows) {
    needs.back() = {row, std::min(stripe_rows, height - row)};
    for (size_t i = layers.size() - 1; i > 0; --i) needs[i - 1] = RowsRead(layers[i], needs[i]);
    for (size_t i = 0; i < layers.size(); ++i) f(i, needs[i]);
  }
}

}  // namespace

std::vector<Stripe> StripesOf(const std::vector<Layer>& layers, uint32_t stripe_rows) {
  std::vector<Stripe> stripes;
  std::vector<uint32_t> done(layers.size(), 0);
  ForEachNeed(layers, stripe_rows, [&](size_t i, Part need) {
    const uint32_t end = need.first + need.size;
    if (end <= done[i]) return;
    stripes.push_back({i, {done[i], end - done[i]}});
    done[i] = end;
  });
  return stripes;
}

std::vector<uint32_t> RingRows(const std::vector<Layer>& layers, uint32_t stripe_rows) {
  std::vector<uint32_t> rows(layers.size(), 1), done(layers.size(), 0);
  ForEachNeed(layers, stripe_rows, [&](size_t i, Part need) {
    const uint32_t end = std::max(done[i], need.first + need.size);
    rows[i] = std::max({rows[i], end - std::min(need.first, done[i])});
    done[i] = end;
  });
  rows.back() = layers.back().out_height;
  return rows;
}

bool MayCascade(const Layer& layer, const Layer& next) {
  return layer.kind != LayerKind::kAdd && next.kind != LayerKind::kAdd && next.x == layer.y && next.skip != layer.y &&
         layer.out_height > 1 && next.out_height > 1 && layer.out_height == next.height &&
         layer.out_width == next.width && layer.out_channels == next.channels;
}

}  // namespace takt::npu
