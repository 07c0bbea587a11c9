// Layers computed stripe by stripe: of what lies between them only the rows in use are kept.
#ifndef TAKT_CONVERTER_NPU_CASCADE_H_
#define TAKT_CONVERTER_NPU_CASCADE_H_

#include <set>
#include <vector>

#include "converter/npu/boxes.h"
#include "converter/npu/layer.h"

namespace takt::npu {

/// Steps [first, last]; only they read what those before the last one make, whose output comes in stripes of so many
/// rows.
struct Cascade {
  size_t first = 0, last = 0;
  uint32_t stripe_rows = 0;
  friend bool operator==(const Cascade&, const Cascade&) = default;
};

/// What lies outside of the feature memory, and what is kept small within it.
struct MemoryPlan {
  std::set<ir::TensorId> spilled;  ///< Roots of views, in the machine's spill memory.
  std::vector<Cascade> cascades;   ///< In the order of steps, apart from each other.
  friend bool operator==(const MemoryPlan&, const MemoryPlan&) = default;
};

/// Rows of the output of layer `layer`, computed at one go.
struct Stripe {
  size_t layer = 0;
  Part rows;
};

/// The order in which a cascade computes, and what it keeps.
struct StripeOrder {
  std::vector<Stripe> stripes;      ///< Per stripe of the last layer's output what is still missing of each.
  std::vector<uint32_t> ring_rows;  ///< Of every layer's output, that must be kept at once; all of the last one's.
};

/// No row is computed twice. A layer's x and skip are outputs of layers before it, or lie outside of the cascade.
StripeOrder OrderStripes(const std::vector<Layer>& layers, uint32_t stripe_rows);

/// The layer as one over rows of an image, as a cascade wants it: an addition's image is a single row otherwise.
Layer ByRows(const ir::Graph& graph, Layer layer);

/// Whether both go over rows of images, and the rows of what `layer` makes are those that `next` reads, if it reads it.
bool MayCascade(const Layer& layer, const Layer& next);

}  // namespace takt::npu

#endif  // TAKT_CONVERTER_NPU_CASCADE_H_
