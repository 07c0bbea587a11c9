#include "converter/report/profile.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "converter/npu/step_profile.h"
#include "converter/report/plan_report.h"
#include "engine/core/op.h"
#include "schema/plan_generated.h"

namespace takt::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kShownHashBytes = 6;

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

/// `runs`: how often the step runs.
StepProfile ProfileStep(const Plan& plan, const Plan& names, uint32_t index, uint64_t runs) {
  const StepView step = plan.step(index);
  StepProfile profile;
  profile.name = std::string(names.step_origin(index).name);
  if (profile.name.empty()) profile.name = absl::StrCat("step ", index);
  profile.kernel = KernelText(plan, step);
  if (!plan.costs().empty()) profile.cycles = plan.costs()[index] * runs;
  for (const uint16_t id : step.operands()) {
    const TensorView tensor = plan.tensor(id);
    profile.traffic[MemoryOf(plan, tensor)] += tensor.bytes() * runs;
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

/// A layer of a job.
StepProfile ProfileLayer(const npu::StepProfile& layer, const npu::Machine& machine) {
  StepProfile step;
  step.name = layer.name;
  step.kernel = absl::StrCat("npu ", layer.op);
  step.tiling = layer.tile;
  step.cycles = layer.cycles;
  for (uint32_t i = 0; i < machine.memory_count; ++i) {
    const uint64_t bytes = layer.activity.read_bytes[i] + layer.activity.written_bytes[i];
    if (bytes != 0) step.traffic[machine.memories[i].name] = bytes;
  }
  return step;
}

}  // namespace

Profile ProfilePlan(const Plan& plan, const Plan& names, const Requirements& need) {
  Profile profile;
  const std::span<const uint8_t> sha256 = plan.source_sha256();
  profile.source_sha256 =
      absl::BytesToHexString({reinterpret_cast<const char*>(sha256.data()), std::min(sha256.size(), kShownHashBytes)});
  profile.target = std::string(plan.target_name());
  profile.plan_bytes = plan.bytes().size();
  for (uint32_t i = 0; i < plan.arena_count(); ++i) profile.arenas[ArenaName(plan, i)] = plan.arena(i).bytes;
  profile.arenas["runtime"] = need.runtime.bytes;
  const std::vector<uint64_t> runs = MostRuns(plan);
  if (!plan.costs().empty()) {
    profile.cycles = 0;
    for (uint32_t i = 0; i < plan.step_count(); ++i) *profile.cycles += plan.costs()[i] * runs[i];
  }
  for (uint32_t i = 0; i < plan.step_count(); ++i) {
    if (plan.step(i).op != Op::kWait) profile.steps.push_back(ProfileStep(plan, names, i, runs[i]));
  }
  MakeUnique(profile.steps);
  return profile;
}

void AddLayers(const ir::Graph& graph, const npu::Compilation& compilation, const npu::Machine& machine,
               Profile& profile) {
  const std::vector<npu::StepProfile> profiled = npu::ProfileSteps(graph, compilation, machine);
  std::vector<StepProfile> steps;
  int job = 0;
  for (const StepProfile& step : profile.steps) {
    if (!step.kernel.starts_with("job ")) {
      steps.push_back(step);
      continue;
    }
    for (const npu::StepProfile& layer : profiled) {
      if (layer.job == job) steps.push_back(ProfileLayer(layer, machine));
    }
    ++job;
  }
  MakeUnique(steps);
  profile.steps = steps;
}

}  // namespace takt::report
