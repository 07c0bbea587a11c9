// From lowered steps to steps that submit jobs: partitions, cuts into tiles, places intermediate tensors, writes
// streams.
#ifndef TAKT_CONVERTER_NPU_COMPILER_H_
#define TAKT_CONVERTER_NPU_COMPILER_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "converter/backend/job_spec.h"
#include "converter/backend/step_builder.h"
#include "converter/base/diagnostics.h"
#include "converter/npu/cascade.h"
#include "converter/npu/tiling_cache.h"
#include "ports/npu_emu/model/timing.h"

namespace takt::npu {

inline constexpr const char* kDeviceName = "npu_emu";

/// One layer of a job, or some of its rows or tiles: which step it was and where its commands begin in the stream.
struct CompiledLayer {
  int node = -1;
  size_t step = 0;
  Layer layer;
  Tiling tiling;
  LayerPart part;
  uint32_t first_command = 0;
  int cascade = -1;          ///< In the memory plan.
  uint32_t ring_rows = 0;    ///< Of the output, that are kept; 0: all.
  bool reads_stored = true;  ///< Otherwise its input was there when its first rows were computed.

  bool whole() const { return part.tiles.size == TileCount(layer, tiling) && part.rows.size == layer.out_height; }
};

struct CompiledJob {
  std::vector<CompiledLayer> layers;
  int peak_node = -1;  ///< Of the layer at which most bytes of the workspace are in use.
  Timing timing;
};

struct Compilation {
  std::vector<backend::StepSpec> steps;
  std::map<std::pair<int, Op>, std::string> host_reasons;  ///< Why a node's steps of an op stay on the host.
  backend::DevicePart device;
  std::vector<CompiledJob> jobs;
};

/// Replaces runs of steps that the NPU can run by Submit and Wait. What stays on the host is named with its reason and
/// its cost. Jobs longer than `max_step_cycles` are split between layers, a layer between tiles, which are chosen short
/// enough where they can be; what stays longer is an error; a cascade is not split. `tilings` are those of earlier
/// compilations for the machine and bound. The same input gives the same output.
Compilation Compile(ir::Graph& graph, const std::vector<backend::StepSpec>& steps, const Machine& machine,
                    Diagnostics& diagnostics, uint64_t max_step_cycles, const MemoryPlan& memory, TilingCache& tilings);
Compilation Compile(ir::Graph& graph, const std::vector<backend::StepSpec>& steps, const Machine& machine,
                    Diagnostics& diagnostics, uint64_t max_step_cycles = UINT64_MAX);

/// Cycles of a step on the machine's host: a fixed part, one for each element of its largest operand that is no
/// constant, one for each inner iteration that its op's rule counts.
uint64_t HostCycles(const ir::Graph& graph, const backend::StepSpec& step, const Machine& machine);

}  // namespace takt::npu

#endif  // TAKT_CONVERTER_NPU_COMPILER_H_
