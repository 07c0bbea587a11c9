// One job of consecutive steps: where its tensors lie, and its stream.
#ifndef TAKT_CONVERTER_NPU_JOB_BUILDER_H_
#define TAKT_CONVERTER_NPU_JOB_BUILDER_H_

#include <map>
#include <string>
#include <vector>

#include "converter/npu/compiler.h"

namespace takt::npu {

/// Of a job's own tensors in its workspaces.
inline constexpr int64_t kWorkspaceAlignment = 16;

/// Parts of layers in the order in which one job runs them; their steps follow each other.
struct Group {
  std::vector<CompiledLayer> layers;

  size_t first_step() const { return layers.front().step; }
  size_t end_step() const { return layers.back().step + 1; }
};

class JobBuilder {
 public:
  JobBuilder(ir::Graph& graph, const std::vector<backend::StepSpec>& steps, const Machine& machine,
             const MemoryPlan& memory, Group group)
      : graph_(graph), steps_(steps), machine_(machine), memory_(memory), group_(std::move(group)) {}

  /// Whether the job's base table holds the tensors that it shares with other steps.
  bool FitsBases();
  /// Empty, or what is wrong with the compiler. Once.
  std::string Build();

  bool too_long = false;  ///< The stream has more commands than a device takes; that is no fault of the compiler.
  backend::JobSpec spec;
  CompiledJob report;
  std::vector<uint64_t> cycles;               ///< Of each layer in turn.
  std::vector<ir::TensorId> inputs, outputs;  ///< Of the Submit and Wait steps: what must stay in memory meanwhile.
  std::vector<ir::TensorId> spilled;          ///< The job's own tensors in the machine's spill memory.

 private:
  struct Use {
    int32_t first, last;
    bool written = false, outside = false;
  };
  void FindUses();
  void PlaceIntermediates();
  ir::TensorId OwnTensor(const std::string& name, int64_t bytes);
  Image Place(ir::TensorId id) const;
  std::string Prove();

  ir::Graph& graph_;
  const std::vector<backend::StepSpec>& steps_;
  const Machine& machine_;
  const MemoryPlan& memory_;
  Group group_;
  std::map<ir::TensorId, Use> uses_;           ///< By root.
  std::map<ir::TensorId, Address> addresses_;  ///< By root.
  std::map<ir::TensorId, uint32_t> rings_;     ///< Rows of tensors that keep only some, by root.
  int64_t own_bytes_[2] = {};                  ///< Of the workspaces in the feature and in the spill memory.
};

}  // namespace takt::npu

#endif  // TAKT_CONVERTER_NPU_JOB_BUILDER_H_
