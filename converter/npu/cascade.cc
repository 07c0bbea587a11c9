#include "converter/npu/cascade.h"

#include <algorithm>

namespace takt::npu {
namespace {

Part RowsRead(const Layer& l, Part out) {
  uint32_t pad = 0;
  return InputOf(out, l.stride_h, l.kernel_h, l.dilation_h, l.pad_top, l.height, pad);
}

/// Layer `reader` of a cascade reads the output of another, as x or as skip.
struct Read {
  size_t reader;
  bool skip;
};

/// What the layers of a cascade have computed so far, and what they do next.
class Walk {
 public:
  explicit Walk(const std::vector<Layer>& layers)
      : layers_(layers), reads_(layers.size()), done_(layers.size(), 0), order_{{}, std::vector(layers.size(), 1u)} {
    for (size_t i = 0; i < layers.size(); ++i) {
      for (size_t reader = i + 1; reader < layers.size(); ++reader) {
        if (layers[reader].x == layers[i].y) reads_[i].push_back({reader, false});
        if (layers[reader].skip == layers[i].y) reads_[i].push_back({reader, true});
      }
    }
  }

  /// The last layer's rows up to `end`, and what all others need for it. Their readers come first here, so that it is
  /// known which rows those compute; rows that wait for a reader are kept as well.
  void ComputeTo(uint32_t end) {
    std::vector<uint32_t> ends(layers_.size());
    ends.back() = end;
    for (size_t i = layers_.size() - 1; i-- > 0;) {
      uint32_t first = done_[i];
      ends[i] = done_[i];
      for (const Read& read : reads_[i]) {
        const Layer& reader = layers_[read.reader];
        const uint32_t from = done_[read.reader], rows = ends[read.reader] - from;
        if (from == reader.out_height) continue;
        Part in = {from, std::max(rows, 1u)};
        if (!read.skip) in = RowsRead(reader, in);
        first = std::min(first, in.first);
        if (rows != 0) ends[i] = std::max(ends[i], in.first + in.size);
      }
      order_.ring_rows[i] = std::max(order_.ring_rows[i], ends[i] - first);
    }
    for (size_t i = 0; i < layers_.size(); ++i) {
      if (ends[i] != done_[i]) order_.stripes.push_back({i, {done_[i], ends[i] - done_[i]}});
    }
    done_ = std::move(ends);
  }

  StripeOrder Finish() {
    order_.ring_rows.back() = layers_.back().out_height;
    return std::move(order_);
  }

 private:
  const std::vector<Layer>& layers_;
  std::vector<std::vector<Read>> reads_;  ///< Of each layer's output.
  std::vector<uint32_t> done_;            ///< Rows of each layer's output.
  StripeOrder order_;
};

}  // namespace

StripeOrder OrderStripes(const std::vector<Layer>& layers, uint32_t stripe_rows) {
  Walk walk(layers);
  const uint32_t height = layers.back().out_height;
  for (uint32_t row = 0; row < height; row += std::min(stripe_rows, height - row))
    walk.ComputeTo(row + std::min(stripe_rows, height - row));
  return walk.Finish();
}

Layer ByRows(const ir::Graph& graph, Layer layer) {
  const ir::Tensor& y = graph.tensor(layer.y);
  if (layer.kind != LayerKind::kAdd || y.dims.size() != 4 || y.dims[0] != 1) return layer;
  layer.height = layer.out_height = static_cast<uint32_t>(y.dims[1]);
  layer.width = layer.out_width = static_cast<uint32_t>(y.dims[2] * y.dims[3]);
  return layer;
}

bool MayCascade(const Layer& layer, const Layer& next) {
  if (layer.kind == LayerKind::kMove || next.kind == LayerKind::kMove) return false;
  const uint64_t row = uint64_t{layer.out_width} * layer.out_channels;
  const bool x = layer.out_height == next.height && row == uint64_t{next.width} * next.channels;
  const bool skip = layer.out_height == next.out_height && row == uint64_t{next.out_width} * next.out_channels;
  return layer.out_height > 1 && next.out_height > 1 && (next.x != layer.y || x) && (next.skip != layer.y || skip);
}

}  // namespace takt::npu
