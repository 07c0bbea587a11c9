// When steps begin: those of the host one after the other, jobs beside them.
#ifndef TAKT_CONVERTER_NPU_STEP_TIMES_H_
#define TAKT_CONVERTER_NPU_STEP_TIMES_H_

#include <vector>

#include "converter/npu/compiler.h"

namespace takt::npu {

inline bool IsDeviceStep(const backend::StepSpec& step) {
  return step.op == Op::kSubmit || step.op == Op::kWait;
}
/// Index of a Submit's or a Wait's job.
size_t JobOf(const backend::StepSpec& step);
/// Makes a step one of that job, on the only device.
void SetJob(backend::StepSpec& step, size_t job);

/// In cycles of the network.
struct JobTime {
  size_t submit = 0, wait = 0;  ///< Steps.
  uint64_t start = 0, end = 0;

  /// Whether steps of the host lie between.
  bool apart() const { return wait != submit + 1; }
};

class StepTimes {
 public:
  StepTimes(const Compilation& compilation, const Machine& machine);

  uint64_t start(size_t step) const { return starts_[step]; }
  const JobTime& job(size_t job) const { return jobs_[job]; }
  /// In which the host runs steps, from `begin` to before `end`.
  uint64_t HostCycles(uint64_t begin, uint64_t end) const { return HostBefore(end) - HostBefore(begin); }

 private:
  uint64_t HostBefore(uint64_t cycle) const;

  std::vector<uint64_t> starts_, host_before_;  ///< Of each step, and of the end.
  std::vector<JobTime> jobs_;
};

}  // namespace takt::npu

#endif  // TAKT_CONVERTER_NPU_STEP_TIMES_H_
