#include "converter/report/profile.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "converter/report/plan_report.h"
#include "engine/core/op.h"
#include "schema/plan_generated.h"

namespace takt::report {
namespace {

using Json = nlohmann::ordered_json;

/// "conv2d int8 fp32_rne"
std::string KernelText(const Plan& plan, const StepView& step) {
  std::string text(OpName(step.op));
  if (step.op == Op::kSubmit) return absl::StrCat("job on ", std::string(plan.device_name(step.device())));
  if (!step.inputs.empty())
    absl::StrAppend(&text, " ",
                    schema::EnumNameDataType(static_cast<schema::DataType>(plan.tensor(step.inputs[0]).type)), " ",
                    schema::EnumNameNumerics(static_cast<schema::Numerics>(step.numerics)));
  return text;
}

std::string MemoryOf(const Plan& plan, const TensorView& tensor) {
  return MemoryName(plan, tensor.constant ? plan.constant(tensor.base).memory : plan.arena(tensor.base).memory);
}

StepProfile ProfileStep(const Plan& plan, const Plan& names, uint32_t index) {
  const StepView step = plan.step(index);
  StepProfile profile;
  profile.name = std::string(names.step_origin(index).name);
  if (profile.name.empty()) profile.name = absl::StrCat("step ", index);
  profile.kernel = KernelText(plan, step);
  if (!plan.costs().empty()) profile.cycles = plan.costs()[index];
  for (const uint16_t id : step.operands()) {
    const TensorView tensor = plan.tensor(id);
    profile.traffic[MemoryOf(plan, tensor)] += tensor.bytes();
  }
  for (const uint16_t id : step.outputs) {
    const TensorView tensor = plan.tensor(id);
    absl::StrAppend(&profile.placement, profile.placement.empty() ? "" : " ", ArenaName(plan, tensor.base), "+",
                    tensor.offset);
  }
  return profile;
}

/// Equal names get numbers, so that each finds its counterpart in another profile.
void MakeUnique(std::vector<StepProfile>& steps) {
  std::map<std::string, int> seen;
  for (StepProfile& step : steps) {
    const int count = ++seen[step.name];
    if (count > 1) absl::StrAppend(&step.name, " #", count);
  }
}

/// Collects a job's spans by layer.
struct LayerCosts {
  const npu::CompiledJob& job;
  const npu::Machine& machine;
  npu::Stream stream;
  struct Cost {
    npu::Ticks first = UINT64_MAX, last = 0;
    std::map<std::string, uint64_t> traffic;
  };
  std::vector<Cost> costs;

  void Add(const npu::Span& span) {
    size_t i = costs.size() - 1;
    while (i > 0 && job.layers[i].first_command > span.position) --i;
    Cost& cost = costs[i];
    cost.first = std::min(cost.first, span.start);
    cost.last = std::max(cost.last, span.free);
    if (span.command.op != npu::MicroOp::kCopy) return;
    const npu::Traffic moved = npu::TrafficOf(machine, stream.header, span.command.as<npu::Copy>());
    if (moved.memory >= 0) cost.traffic[machine.memories[moved.memory].name] += moved.bytes;
  }
};

constexpr const char* kLayerKinds[] = {"conv", "depthwise", "pool", "add"};

std::vector<StepProfile> ProfileJob(const ir::Graph& graph, const npu::Compilation& compilation, size_t index,
                                    const npu::Machine& machine) {
  LayerCosts collector{compilation.jobs[index], machine, {}, {}};
  collector.costs.resize(collector.job.layers.size());
  const auto bytes = std::as_bytes(std::span(compilation.device.jobs[index].stream));
  npu::Timing timing;
  const npu::SpanSink sink = {[](void* self, const npu::Span& span) { static_cast<LayerCosts*>(self)->Add(span); },
                              &collector};
  std::vector<StepProfile> steps;
  if (!npu::OpenStream(bytes, collector.stream).ok() || !npu::Evaluate(collector.stream, machine, timing, sink).ok()) {
    return steps;
  }
  for (size_t i = 0; i < collector.costs.size(); ++i) {
    const npu::CompiledLayer& layer = collector.job.layers[i];
    const LayerCosts::Cost& cost = collector.costs[i];
    const npu::Tiling& tile = layer.tiling;
    StepProfile step;
    step.name = graph.nodes[static_cast<size_t>(layer.node)].name;
    step.kernel = absl::StrCat("npu ", kLayerKinds[static_cast<int>(layer.layer.kind)]);
    step.tiling = absl::StrCat(tile.out_height, "x", tile.out_width, "x", tile.out_channels, " of ", tile.in_channels,
                               tile.channels_outer ? ", channels outside" : ", rows outside");
    step.traffic = cost.traffic;
    const npu::Ticks ticks = cost.last > cost.first ? cost.last - cost.first : 0;
    step.cycles = npu::CeilDiv(ticks, uint64_t{1} << machine.tick_shift);
    steps.push_back(step);
  }
  return steps;
}

}  // namespace

Profile ProfilePlan(const Plan& plan, const Plan& names, const Requirements& need) {
  Profile profile;
  profile.target = std::string(plan.target_name());
  profile.plan_bytes = plan.bytes().size();
  for (uint32_t i = 0; i < plan.arena_count(); ++i) profile.arenas[ArenaName(plan, i)] = plan.arena(i).bytes;
  profile.arenas["runtime"] = need.runtime.bytes;
  if (!plan.costs().empty()) {
    profile.cycles = 0;
    for (const uint64_t cost : plan.costs()) *profile.cycles += cost;
  }
  for (uint32_t i = 0; i < plan.step_count(); ++i) {
    if (plan.step(i).op != Op::kWait) profile.steps.push_back(ProfileStep(plan, names, i));
  }
  MakeUnique(profile.steps);
  return profile;
}

void AddLayers(const ir::Graph& graph, const npu::Compilation& compilation, const npu::Machine& machine,
               Profile& profile) {
  std::vector<StepProfile> steps;
  size_t job = 0;
  for (const StepProfile& step : profile.steps) {
    if (!step.kernel.starts_with("job ")) {
      steps.push_back(step);
      continue;
    }
    const std::vector<StepProfile> layers = ProfileJob(graph, compilation, job++, machine);
    steps.insert(steps.end(), layers.begin(), layers.end());
  }
  MakeUnique(steps);
  profile.steps = steps;
}

}  // namespace takt::report
