#include "converter/backend/convert.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "absl/strings/str_join.h"
#include "converter/backend/control.h"
#include "converter/backend/plan_writer.h"
#include "converter/backend/scratch.h"
#include "converter/backend/step_builder.h"
#include "converter/backend/step_call.h"
#include "converter/backend/step_split.h"
#include "converter/backend/target.h"
#include "converter/frontend/tflite_importer.h"
#include "converter/memory/arenas.h"
#include "converter/memory/checker.h"
#include "converter/memory/liveness.h"
#include "converter/memory/planner.h"
#include "converter/memory/schedule.h"
#include "converter/npu/feature_memory.h"
#include "converter/npu/memory_need.h"
#include "converter/npu/overlap.h"
#include "converter/passes/evaluate.h"
#include "converter/passes/pass.h"
#include "engine/plan/plan.h"
#include "ports/reference/kernels.h"

namespace takt {
namespace {

ModelLocation WholeModel(const std::string& name) {
  ModelLocation where;
  where.model = name;
  return where;
}

/// The plan must open with the engine's own checks.
void SelfCheck(Conversion& result, const std::string& name) {
  static_assert(__STDCPP_DEFAULT_NEW_ALIGNMENT__ >= 16);  // What Open wants of a vector's bytes.
  Plan plan;
  const Status status = plan.Open(std::span<const uint8_t>(result.plan));
  if (status.ok()) return;
  result.diagnostics.Error(WholeModel(name), "internal error: the engine refuses the plan (site " +
                                                 std::to_string(static_cast<int>(status.site())) + ", detail " +
                                                 std::to_string(status.detail()) + "); please report the model");
}

/// Whatever is thrown below (memory runs out, a rule is broken that no check names) becomes an error.
template <typename Stages>
void Guard(Conversion& result, const std::string& name, const Stages& stages) {
  try {
    stages();
  } catch (const std::exception& e) {
    result.diagnostics.Error(WholeModel(name),
                             std::string("internal error: ") + e.what() + "; please report the model");
  }
  if (!result.diagnostics.ok()) result.plan.clear();
}

uint64_t ClockOf(const ConvertOptions& options) {
  return options.machine ? options.machine->clock_hz : options.costs ? options.costs->clock_hz : 0;
}

uint64_t MaxStepTicks(const ConvertOptions& options) {
  const uint64_t us = options.max_step_us, hz = ClockOf(options);
  return us == 0 || us > UINT64_MAX / hz ? UINT64_MAX : us * hz / 1000000;
}

/// Cost of a step of a CPU whose kernels were measured. One that was not is an error.
uint64_t CalibratedCost(Conversion& result, const backend::StepSpec& step, const backend::StepCosts& costs) {
  if (step.op < kFirstKernelOp) return costs.Control();
  uint64_t work = 1;
  const std::string key = backend::KeyText(backend::KeyOf(result.graph, step));
  const auto cost = costs.kernels.find(key);
  if (backend::CheckStep(result.graph, step, work).ok() && cost != costs.kernels.end()) return cost->second.Of(work);
  const ir::Node& node = result.graph.nodes[static_cast<size_t>(step.node)];
  result.diagnostics.Error({result.graph.name, node.sources.empty() ? -1 : node.sources[0], node.name, ""},
                           "the costs have no kernel \"" + key +
                               "\"; measure this model too (takt bench MODEL ... --write-costs FILE), or add its line");
  return 0;
}

/// Gives the steps of the host their costs; cuts what takes longer than it may. The commit of states runs as one step.
void CostSteps(Conversion& result, std::vector<backend::StepSpec>& steps, const std::vector<backend::StepSpec>& commits,
               const ConvertOptions& options) {
  if (!options.machine && !options.costs) return;
  const backend::StepCost cost = [&](const backend::StepSpec& step) {
    return options.machine ? npu::HostCycles(result.graph, step, *options.machine)
                           : CalibratedCost(result, step, *options.costs);
  };
  std::vector<uint64_t>& costs = result.npu.device.costs;
  if (!options.machine)
    for (const backend::StepSpec& step : steps) costs.push_back(cost(step));
  result.npu.device.clock_hz = ClockOf(options);
  const backend::StepBound bound{MaxStepTicks(options), ClockOf(options)};
  if (result.diagnostics.ok())
    backend::SplitSteps(result.graph, steps, costs, bound, cost, reference::AllKernels(), result.diagnostics);
  if (options.machine) {
    result.npu.steps = steps;
    result.npu.steps.insert(result.npu.steps.end(), commits.begin(), commits.end());
  }
  uint64_t commit = 0;
  for (const backend::StepSpec& step : commits) commit += costs.emplace_back(cost(step));
  if (commit > bound.ticks)
    result.diagnostics.Error(WholeModel(result.graph.name),
                             "the copies of next states, which run as one step, take " +
                                 std::to_string(static_cast<uint64_t>(bound.Microseconds(commit))) +
                                 " us, and --max-step-us allows " + std::to_string(options.max_step_us) +
                                 ": use --state-in-place or a longer bound");
}

/// Places tensors, writes the plan of all steps and checks that the memories of its machine, if any, hold it.
void PlaceAndWrite(Conversion& result, const std::vector<backend::StepSpec>& steps, std::span<const uint8_t> model,
                   const Target& target, uint64_t work, bool debug, const npu::Machine* machine) {
  const memory::Liveness liveness = memory::ComputeLiveness(result.graph, steps);
  const memory::ArenaPlacement placed = memory::PlaceInArenas(liveness, result.npu.device.second);
  std::string wrong = memory::CheckPlacement(liveness.buffers, placed.all, memory::kArenaAlignment);
  if (wrong.empty()) wrong = memory::CheckSharing(result.graph, steps, liveness, placed.all);
  if (!wrong.empty()) {
    result.diagnostics.Error(WholeModel(result.graph.name), "internal error of memory planning: " + wrong);
    return;
  }
  result.plan = backend::WritePlan(
      {result.graph, steps, liveness, placed.all, model, target, work, debug, result.npu.device, placed.arenas},
      result.diagnostics);
  if (machine) {
    npu::MemoryNeeds needs = npu::NeedsOf(result.graph, steps, result.npu, liveness, placed, *machine);
    needs[machine->constant_memory].plan = static_cast<int64_t>(result.plan.size());
    npu::CheckMemories(needs, *machine, result.diagnostics);
  }
  if (result.diagnostics.ok()) SelfCheck(result, result.graph.name);
}

/// From an imported graph to plan bytes; `result` holds the graph and the importer's findings.
void RunStages(Conversion& result, std::span<const uint8_t> model, const ConvertOptions& options) {
  const std::string& name = result.graph.name;
  Target npu_target = {};
  if (options.machine)
    npu_target = {options.machine->name, options.machine->memories[options.machine->feature_memory].name};
  const Target* target = options.machine ? &npu_target : FindTarget(options.target);
  if (target == nullptr) {
    result.diagnostics.Error(WholeModel(name),
                             "no target '" + options.target + "'; there are: " + absl::StrJoin(TargetNames(), ", "));
    return;
  }
  if (options.on_stage) options.on_stage("import", result.graph);
  passes::PassContext context{options.numerics, result.diagnostics};
  context.max_trips = options.max_trips;
  if (options.calibration) {
    context.quantize = [&](ir::Graph& graph) {
      const auto samples = options.calibration->open(graph, result.diagnostics);
      if (samples) result.accuracy = quant::Quantize(graph, *samples, options.calibration->options, result.diagnostics);
    };
  }
  passes::RunPasses(result.graph, context, options.keep_tensors, options.on_stage);
  if (!result.diagnostics.ok()) return;

  backend::FlattenControl(result.graph, result.diagnostics);
  if (!result.diagnostics.ok()) return;
  auto steps = backend::LowerGraph(result.graph, options.numerics, result.diagnostics);
  if (!result.diagnostics.ok()) return;
  if (options.state_in_place) backend::UpdateStatesInPlace(result.graph, steps, result.diagnostics);
  const std::vector<backend::StepSpec> commits = backend::LowerStates(result.graph);
  std::vector<backend::StepSpec> all = steps;
  all.insert(all.end(), commits.begin(), commits.end());
  backend::CheckSteps(result.graph, all, reference::AllKernels(), result.diagnostics);
  if (!result.diagnostics.ok()) return;
  backend::AddScratch(result.graph, steps, reference::AllKernels());
  if (options.on_stage) options.on_stage("lower", result.graph);
  steps = memory::ScheduleSteps(result.graph, std::move(steps));
  std::optional<npu::Machine> machine = options.machine;
  if (machine) {
    result.npu = npu::CompileToFit(result.graph, steps, commits, *machine, result.diagnostics, MaxStepTicks(options));
    if (!result.diagnostics.ok()) return;
    npu_target.memory = options.machine->memories[machine->feature_memory].name;
    steps = result.npu.steps;
  }
  CostSteps(result, steps, commits, options);
  steps.insert(steps.end(), commits.begin(), commits.end());
  if (machine && result.diagnostics.ok()) {
    npu::OverlapJobs(result.graph, *machine, commits.size(), MaxStepTicks(options), result.npu, result.diagnostics);
    steps = result.npu.steps;
  }
  uint64_t work = backend::CheckSteps(result.graph, steps, reference::AllKernels(), result.diagnostics);
  for (const backend::JobSpec& job : result.npu.device.jobs) work += std::min(job.work, UINT64_MAX - work);
  if (!result.diagnostics.ok()) return;
  PlaceAndWrite(result, steps, model, *target, work, options.debug, machine ? &*machine : nullptr);
}

/// `import` gives a graph, or nothing after an error.
template <typename Import>
Conversion Convert(const std::string& name, std::span<const uint8_t> model, const ConvertOptions& options,
                   const Import& import) {
  Conversion result;
  Guard(result, name, [&] {
    std::optional<ir::Graph> graph = import(result.diagnostics);
    if (!graph || !result.diagnostics.ok()) return;
    result.graph = std::move(*graph);
    RunStages(result, model, options);
  });
  return result;
}

}  // namespace

Conversion ConvertGraph(ir::Graph graph, std::span<const uint8_t> model, const ConvertOptions& options) {
  Conversion result;
  result.graph = std::move(graph);
  Guard(result, result.graph.name, [&] { RunStages(result, model, options); });
  return result;
}

Conversion ConvertTflite(std::span<const uint8_t> model, const std::string& model_name, const ConvertOptions& options) {
  return Convert(model_name, model, options, [&](Diagnostics& diagnostics) {
    return frontend::ImportTflite(model, model_name, diagnostics, {options.shapes, options.signature});
  });
}

Conversion ConvertOnnx(std::span<const uint8_t> model, const std::string& model_name, const frontend::OnnxOptions& onnx,
                       const ConvertOptions& options) {
  frontend::OnnxOptions with_evaluation = onnx;
  with_evaluation.evaluate = [&](ir::Graph graph) { return passes::Evaluate(std::move(graph), options.numerics); };
  return Convert(model_name, model, options, [&](Diagnostics& diagnostics) {
    return frontend::ImportOnnx(model, model_name, with_evaluation, diagnostics);
  });
}

}  // namespace takt
