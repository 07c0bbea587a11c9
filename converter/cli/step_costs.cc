#include "converter/cli/step_costs.h"

#include <algorithm>
#include <cstdio>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "converter/backend/step_call.h"
#include "converter/cli/files.h"
#include "converter/cli/subject.h"
#include "engine/core/scheduler.h"

namespace takt::cli {
namespace {

using Measured = std::map<std::string, std::vector<backend::MeasuredStep>>;  // By kernel.

constexpr uint64_t kNanosecondsHz = 1000000000;

/// Inner iterations of a step, as the engine counts them at Init.
uint64_t WorkOf(const Plan& plan, const StepView& step, const Kernel& kernel) {
  const std::vector<TensorRef> refs = OperandRefs(plan, step);
  KernelCall call;
  call.step_params = step.params;
  call.inputs = std::span(refs).first(step.inputs.size());
  call.outputs = std::span(refs).subspan(step.inputs.size(), step.outputs.size());
  uint64_t work = 1;
  return kernel.check(call, work).ok() ? work : 1;
}

void MeasureFile(const std::string& file, const std::vector<uint8_t>& bytes, const MeasureOptions& options,
                 Measured& measured) {
  const PlanFile plan_file(file, bytes);
  const Plan& plan = plan_file.plan();
  if (plan.device_count() != 0)
    throw InputError(absl::StrCat(file, ": is for the ", std::string(plan.target_name()),
                                  ", whose machine states the costs of its host; calibrate with --target host"));
  std::vector<std::vector<uint64_t>> times = MeasureSteps(file, bytes, options, options.iterations);
  const KernelTable kernels = PortKernels(options.port);
  for (uint32_t i = 0; i < plan.step_count(); ++i) {
    const KernelKey key = KeyOf(plan, plan.step(i));
    const auto row = std::find_if(kernels.begin(), kernels.end(), [&](const Kernel* k) { return k->key == key; });
    if (row == kernels.end() || times[i].empty()) continue;  // Control steps, and what no run came to.
    std::sort(times[i].begin(), times[i].end());
    measured[backend::KeyText(key)].push_back({WorkOf(plan, plan.step(i), **row), Percentile(times[i], 500)});
  }
}

backend::StepCosts Fit(const Measured& measured) {
  uint64_t least = UINT64_MAX;
  for (const auto& [kernel, steps] : measured)
    for (const backend::MeasuredStep& step : steps) least = std::min(least, step.ticks);
  backend::StepCosts costs;
  costs.clock_hz = kNanosecondsHz;
  for (const auto& [kernel, steps] : measured) costs.kernels[kernel] = backend::FitCost(steps, least);
  return costs;
}

/// The model cut into short steps, which tell what a kernel takes beside its work; nothing if it cannot be cut.
std::vector<uint8_t> InParts(ModelOptions model, const std::string& port, const Measured& measured) {
  backend::StepCosts costs;
  costs.clock_hz = kNanosecondsHz;
  for (const auto& [kernel, steps] : measured) costs.kernels[kernel] = backend::FitCost({&steps[0], 1}, 0);
  for (const Kernel* kernel : PortKernels(port))  // Parts may run on copies, which the whole model need not have.
    if (kernel->key.op == Op::kCopy) costs.kernels.try_emplace(backend::KeyText(kernel->key));
  model.convert.costs = costs;
  const PlanFile whole(model.file, ConvertModel(model).made.plan);
  const uint64_t longest_us = LongestStep(whole.plan()) / 1000;
  for (const uint64_t share : {16, 8, 4, 2}) {
    model.convert.max_step_us = std::max<uint64_t>(1, longest_us / share);
    Conversion made = ConvertModel(model).made;
    if (made.diagnostics.ok()) return std::move(made.plan);
  }
  return {};
}

}  // namespace

backend::StepCosts LoadStepCosts(const std::string& path, const std::string& target) {
  const std::vector<uint8_t> bytes = ReadFile(path);
  std::string problem;
  const auto costs = backend::ParseStepCosts(std::string(bytes.begin(), bytes.end()), problem);
  if (!costs)
    throw InputError(absl::StrCat(path, ": is no file of step costs: ", problem,
                                  "; takt bench MODEL --write-costs FILE writes one"));
  if (costs->target != target)
    throw InputError(absl::StrCat(path, ": has the costs of target ", costs->target, ", not of ", target));
  return *costs;
}

void Calibrate(const std::vector<std::string>& files, const ModelOptions& model, const MeasureOptions& measure,
               const std::string& path) {
  if (model.convert.target != "host") throw InputError("--write-costs measures this host; leave --target out");
  Measured measured;
  std::vector<ModelOptions> models;
  for (const std::string& file : files) {
    ModelOptions options = model;
    options.file = file;
    MeasureFile(file, LoadPlan(options), measure, measured);
    if (!IsPlan(ReadFile(file))) models.push_back(options);
  }
  const Measured whole = measured;
  for (const ModelOptions& options : models) {
    const std::vector<uint8_t> parts = InParts(options, measure.port, whole);
    if (!parts.empty()) MeasureFile(options.file, parts, measure, measured);
  }
  backend::StepCosts costs = Fit(measured);
  costs.target = model.convert.target;
  costs.measured_on = absl::StrCat("port ", measure.port, "; ", HostText());
  WriteFiles({TextFile(path, backend::StepCostsText(costs))});
  std::printf("%-60s %6s %10s %14s %9s\n", "kernel", "steps", "ns/step", "ns/work", "tightness");
  for (const auto& [kernel, cost] : costs.kernels)
    std::printf("%s",
                absl::StrFormat("%-60s %6d %10d %14.4f %9.2f\n", kernel, cost.calibrated_steps, cost.ticks_per_step,
                                static_cast<double>(cost.ticks_per_million) / 1e6, cost.tightness)
                    .c_str());
}

}  // namespace takt::cli
