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

  /// The least that cascades alone can do with.
  int64_t LeastBytes() const;
  /// The cheapest cascades for a limit, where a byte beyond it costs, during each step, `price` quarters of the time
  /// that it takes from the spill memory. One that keeps more than the limit is none if there is a spill memory.
  std::vector<Cascade> FindCascades(int64_t limit, uint32_t price) const;
  /// Of a byte, if fitting comes first, and the cost of cascades second.
  static constexpr uint32_t kAnyPrice = UINT32_MAX;
  /// Moves tensors to the spill memory until the rest fits: of those that live at the peak one that fewest steps touch,
  /// then the smallest that suffices, else the largest; ties by number. False if nothing is left to move.
  bool Spill(int64_t limit, MemoryPlan& plan) const;

 private:
  struct Block {
    ir::TensorId root = ir::kNoTensor;
    int64_t bytes = 0;
    int32_t first = 0, last = 0;
    uint32_t uses = 0;   ///< Steps that touch it.
    bool inner = false;  ///< One layer writes it, all that read it are layers that go over its rows.

    bool InnerOf(const Cascade& c) const {
      return inner && first >= static_cast<int32_t>(c.first) && last <= static_cast<int32_t>(c.last);
    }
  };
  struct Candidate {
    Cascade cascade;
    std::vector<uint32_t> ring_rows;
    int64_t load = 0;   ///< Bytes that live during its steps.
    int64_t kept = 0;   ///< Those between its steps.
    uint64_t cost = 0;  ///< Ticks of reading weights again and of waiting for stripes.

    uint64_t steps() const { return cascade.last - cascade.first + 1; }
  };
  void Touch(ir::TensorId id, int32_t step);
  bool IsInner(const Block& block) const;
  bool can_spill() const { return machine_.spill_memory != machine_.feature_memory; }
  void FindJobs();
  void FindCandidates();
  void AddCandidates(size_t first, const std::vector<Layer>& layers);
  uint64_t Cost(const std::vector<Layer>& layers, const std::vector<Stripe>& stripes) const;
  const Candidate& CandidateOf(const Cascade& cascade) const;
  /// The blocks as a cascade leaves them: those that its steps touch live during all of them.
  void Apply(const Candidate& candidate, std::vector<Block>& blocks) const;
  std::vector<int64_t> Loads(const std::vector<Block>& blocks) const;

  const ir::Graph& graph_;
  const std::vector<backend::StepSpec>& steps_;
  const Machine& machine_;
  std::vector<std::optional<Layer>> layers_;        ///< By rows.
  std::vector<Block> blocks_;                       ///< By root.
  std::vector<std::vector<Candidate>> candidates_;  ///< By first step.
};

}  // namespace takt::npu

#endif  // TAKT_CONVERTER_NPU_MEMORY_SEARCH_H_
