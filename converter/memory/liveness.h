// Which arena tensors share memory (views, in-place steps), and in which steps each shared block must stay.
#ifndef TAKT_CONVERTER_MEMORY_LIVENESS_H_
#define TAKT_CONVERTER_MEMORY_LIVENESS_H_

#include <vector>

#include "converter/backend/step_builder.h"
#include "converter/ir/graph.h"
#include "converter/memory/planner.h"

namespace takt::memory {

/// Bytes at which blocks of every arena start.
inline constexpr int64_t kArenaAlignment = 16;

/// `tensors`: arena tensors by (first use, id), each with its own interval and the block it lies in. States and their
/// views have an arena of their own, in which they stand one after another.
struct Liveness {
  struct Entry {
    ir::TensorId tensor = ir::kNoTensor;
    int32_t first = 0;
    int32_t last = 0;
    bool state = false;
    size_t buffer = 0;   ///< The block, unless `state`.
    int64_t offset = 0;  ///< Within the block, or in the arena of states.
    ir::TensorId root = ir::kNoTensor;
  };
  std::vector<Entry> tensors;
  std::vector<Buffer> buffers;
  int64_t state_bytes = 0;
};

/// Inputs whose memory output 0 of `step` may take over, if they die there.
std::vector<ir::TensorId> InPlaceInputs(const ir::Graph& graph, const backend::StepSpec& step);

Liveness ComputeLiveness(const ir::Graph& graph, const std::vector<backend::StepSpec>& steps);

}  // namespace takt::memory

#endif  // TAKT_CONVERTER_MEMORY_LIVENESS_H_
