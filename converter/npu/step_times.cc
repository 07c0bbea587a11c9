#include "converter/npu/step_times.h"

#include <algorithm>
#include <cstring>

#include "schema/plan_generated.h"

namespace takt::npu {

size_t JobOf(const backend::StepSpec& step) {
  schema::SubmitParams params;
  std::memcpy(&params, step.params.data(), sizeof(params));
  return params.job();
}

void SetJob(backend::StepSpec& step, size_t job) {
  const schema::SubmitParams params(0, static_cast<uint16_t>(job));
  step.params.resize(sizeof(params));
  std::memcpy(step.params.data(), &params, sizeof(params));
}

StepTimes::StepTimes(const Compilation& c, const Machine& machine) : jobs_(c.jobs.size()) {
  uint64_t now = 0, host = 0, free = 0;
  for (size_t s = 0; s < c.steps.size(); ++s) {
    starts_.push_back(now);
    host_before_.push_back(host);
    const bool waits = c.steps[s].op == Op::kWait;
    if (c.steps[s].op == Op::kSubmit) {
      JobTime& job = jobs_[JobOf(c.steps[s])];
      job.submit = s;
      job.start = std::max(now, free);
      job.end = free = job.start + c.jobs[JobOf(c.steps[s])].timing.Cycles(machine);
    }
    if (waits) jobs_[JobOf(c.steps[s])].wait = s;
    now += c.device.costs[s];
    host += waits ? 0 : c.device.costs[s];
  }
  starts_.push_back(now);
  host_before_.push_back(host);
}

uint64_t StepTimes::HostBefore(uint64_t cycle) const {
  const auto after = std::ranges::upper_bound(starts_, cycle);
  const auto step = static_cast<size_t>(after - starts_.begin()) - 1;
  const uint64_t most = step + 1 < starts_.size() ? host_before_[step + 1] : host_before_[step];
  return std::min(most, host_before_[step] + (cycle - starts_[step]));
}

}  // namespace takt::npu
