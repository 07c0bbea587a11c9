// Which tensors leave the feature memory, and which layers become cascades, so that the others fit.
#ifndef TAKT_CONVERTER_NPU_MEMORY_SEARCH_H_
#define TAKT_CONVERTER_NPU_MEMORY_SEARCH_H_

#include <optional>
#include <vector>

#include "converter/npu/cascade.h"

namespace takt::npu {

/// Works on the steps before they are compiled: a tensor lives from the first to the last step that touches it, one
/// that a job shares with other steps over all of that job. What a compilation then needs is known only after it.
class MemorySearch {
 public:
  MemorySearch(const ir::Graph& graph, const std::vector<backend::StepSpec>& steps, const Machine& machine);

  /// Makes cascades as long as one of them lowers what goes beyond `limit`: each time the one that costs least for a
  /// byte and step saved, in place of those that it overlaps. Ties by the first step, then fewer steps, then more rows.
  /// Whether all fits now.
  bool AddCascades(int64_t limit, MemoryPlan& plan) const;
  /// Moves tensors to the spill memory until the rest fits: of those that live at the peak one that fewest steps touch,
  /// then the smallest that suffices, else the largest; ties by number. False if nothing is left to move.
  bool Spill(int64_t limit, MemoryPlan& plan) const;

 private:
  struct Block {
    ir::TensorId root = ir::kNoTensor;
    int64_t bytes = 0;
    int32_t first = 0, last = 0;
    uint32_t uses = 0;   ///< Steps that touch it.
    bool inner = false;  ///< Written by one step, read by the next, touched by no other.
  };
  struct Candidate {
    Cascade cascade;
    uint64_t cost = 0;  ///< Ticks of reading weights again and of waiting for stripes.
  };
  void Touch(ir::TensorId id, int32_t step);
  void FindJobs();
  void FindCandidates();
  void AddCandidates(size_t first, size_t last);
  std::vector<Layer> LayersOf(const Cascade& cascade) const;
  uint64_t Cost(const Cascade& cascade) const;
  std::vector<Block> BlocksOf(const MemoryPlan& plan) const;
  std::vector<int64_t> Loads(const MemoryPlan& plan) const;
  /// Bytes above the limit, summed over steps.
  int64_t Beyond(int64_t limit, const MemoryPlan& plan) const;

  const ir::Graph& graph_;
  const std::vector<backend::StepSpec>& steps_;
  const Machine& machine_;
  std::vector<std::optional<Layer>> layers_;
  std::vector<Block> blocks_;  ///< By root.
  std::vector<Candidate> candidates_;
};

}  // namespace takt::npu

#endif  // TAKT_CONVERTER_NPU_MEMORY_SEARCH_H_
