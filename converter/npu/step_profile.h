// Where the time of a compilation goes: step by step, layers on the NPU and what stays on the host.
#ifndef TAKT_CONVERTER_NPU_STEP_PROFILE_H_
#define TAKT_CONVERTER_NPU_STEP_PROFILE_H_

#include <functional>
#include <string>
#include <vector>

#include "converter/npu/compiler.h"

namespace takt::npu {

/// A layer of a job, or a step of the host; where steps of the host run while a job is in flight, also its Submit and
/// its Wait, which take no cycles beside its layers'.
struct StepProfile {
  std::string name, op;
  int job = -1;             ///< -1: on the host.
  uint64_t start = 0;       ///< Cycle of the network at which its first command starts.
  uint64_t cycles = 0;      ///< From the end of the step before on its side to its own.
  uint64_t hidden = 0;      ///< Of them, those in which the host runs steps: what is left sums to the network's cycles.
  uint64_t begin = 0;       ///< Cycle of the network from which on `cycles` are told; stripes of a cascade as one.
  Activity activity;        ///< None of a step of the host.
  Ticks busy[kPipes] = {};  ///< How long it holds each pipe.
  Ticks moving[kPipes][kMaxMemories] = {};  ///< Of that: moving bytes of each memory.
  Ticks waiting[kPipes][kPipes] = {};       ///< How long each pipe waits for events of every other.
  std::string reason;                       ///< Why it stays on the host; of a plan: not known
  std::string tile;                         ///< "8x4x72 of 276, channels outside"; of a plan: not known
  int cascade = -1;                         ///< Of the memory plan, which it is computed in.
  uint32_t stripes = 0;                     ///< Then: times that it is begun.

  bool host() const { return job < 0; }
  uint64_t exposed() const { return cycles - hidden; }
  /// "host", or the pipe that it holds longest.
  const char* bound_by() const;
  /// As bound_by; of a pipe that moves with the memory that it is busy with longest: "load (flash)".
  std::string BoundText(const Machine& machine) const;
  /// MACs a cycle of those that the array could do.
  double Utilisation(const Machine& machine) const;
};

/// In the order in which they begin.
std::vector<StepProfile> ProfileSteps(const ir::Graph& graph, const Compilation& compilation, const Machine& machine);

/// Runs job `job` again; `on_span` sees each command.
void Replay(const Compilation& compilation, size_t job, const Machine& machine,
            const std::function<void(const Span&)>& on_span);

/// The layer of `job` that the command at byte `position` of its stream belongs to.
size_t LayerAt(const CompiledJob& job, uint32_t position);
/// When the layers of a job, which outlives this object, are done.
class LayerTimes {
 public:
  explicit LayerTimes(const CompiledJob& job) : job_(job), ends_(job.layers.size(), 0) {}

  void Add(const Span& span);
  /// From the end of the layer before to its own; they sum to the job's.
  std::vector<uint64_t> Cycles(const Timing& timing, const Machine& machine) const;

 private:
  const CompiledJob& job_;
  std::vector<Ticks> ends_;
};
/// For each layer of a job the step that it counts to, the job's first being 0: a cascade's stripes are one step.
std::vector<size_t> StepOfLayers(const CompiledJob& job);

/// Cycles of all steps.
uint64_t TotalCycles(const Compilation& compilation);

}  // namespace takt::npu

#endif  // TAKT_CONVERTER_NPU_STEP_PROFILE_H_
