// Layers computed stripe by stripe: of what lies between them only the rows in use are kept.
#ifndef TAKT_CONVERTER_NPU_CASCADE_H_
#define TAKT_CONVERTER_NPU_CASCADE_H_

#include <set>
#include <vector>

#include "converter/npu/boxes.h"
#include "converter/npu/layer.h"

namespace takt::npu {

/// Steps [first, last], each of which reads the one before; the last one's output is made in stripes of so many rows.
struct Cascade {
  size_t first = 0, last = 0;
  uint32_t stripe_rows = 0;
};

/// What lies outside of the feature memory, and what is kept small within it.
struct MemoryPlan {
  std::set<ir::TensorId> spilled;  ///< Roots of views, in the machine's spill memory.
  std::vector<Cascade> cascades;   ///< In the order of steps, apart from each other.
};

/// Rows of the output of layer `layer`, computed at one go.
struct Stripe {
  size_t layer = 0;
  Part rows;
};

/// The order in which a cascade of `layers` computes: per stripe of the last one's output what is still missing of
/// each. No row is computed twice.
std::vector<Stripe> StripesOf(const std::vector<Layer>& layers, uint32_t stripe_rows);

/// Rows of every layer's output that must be kept at once; all of the last one's.
std::vector<uint32_t> RingRows(const std::vector<Layer>& layers, uint32_t stripe_rows);

/// Whether `next` may follow `layer` in a cascade, and `layer` begin one: both go over the rows of images.
bool MayCascade(const Layer& layer, const Layer& next);

}  // namespace takt::npu

#endif  // TAKT_CONVERTER_NPU_CASCADE_H_
