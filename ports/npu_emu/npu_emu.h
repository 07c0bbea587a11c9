// The emulated NPU as a device: runs the jobs that converter/npu made, bit-exactly, and knows when they end.
#ifndef TAKT_PORTS_NPU_EMU_NPU_EMU_H_
#define TAKT_PORTS_NPU_EMU_NPU_EMU_H_

#include "engine/hal/device.h"
#include "engine/hal/platform.h"
#include "ports/npu_emu/executor.h"
#include "ports/npu_emu/fault.h"
#include "ports/npu_emu/model/timing.h"

namespace takt::npu {

/// A virtual clock in cycles of the machine: stands still but for what devices and the application add.
class VirtualClock {
 public:
  uint64_t now() const { return now_; }
  void AdvanceTo(uint64_t cycles) { now_ = cycles > now_ ? cycles : now_; }
  /// For Platform::clock; this object must outlive it.
  Clock clock() {
    return {[](void* self) { return static_cast<VirtualClock*>(self)->now_; }, this};
  }

 private:
  uint64_t now_ = 0;
};

/// One job runs at a time, up to kMaxJobsInFlight queue up. A job computes at Submit; it is done, and its outputs may
/// be used, when the clock reaches its end. Wait moves the clock there; each Poll moves it on by a microsecond.
class NpuEmu final : public Device {
 public:
  /// Bytes that Init wants, 64-aligned.
  static uint32_t WorkspaceBytes(const Machine& machine);

  NpuEmu() : Device({.queue_depth = kMaxJobsInFlight, .can_cancel = true, .coherent = true, .base_alignment = 4}) {}

  /// Takes the machine of a plan (Plan::machine()). `workspace` and `clock` must outlive this object. kMalformedPlan at
  /// kNpuMachine, kArenaTooSmall or kMisaligned at kNpuWorkspace.
  Status Init(std::span<const uint8_t> machine, std::span<std::byte> workspace, VirtualClock& clock);

  /// Strikes the next job that is submitted, or one after it (Fault::skip). A second call replaces the first.
  void Inject(const Fault& fault) { next_ = fault; }

  const Machine& machine() const { return machine_; }
  /// Cycles of a prepared job.
  uint64_t cycles(uint32_t job) const { return job < kMaxJobs ? cycles_[job] : 0; }

 private:
  Status DoPrepare(const Job& job, uint64_t& work) override;
  Status DoSubmit(const Job& job) override;
  JobState DoPoll(uint32_t job, Status& status) override;
  JobState DoWait(uint32_t job, const WaitLimit& limit, Status& status) override;
  Status DoCancel(uint32_t job) override;
  Status DoReset() override;
  uint64_t DoBusyTicks() const override { return busy_cycles_; }
  JobState StateOf(uint32_t job, Status& status) const;

  Machine machine_;
  std::span<std::byte> workspace_;
  VirtualClock* clock_ = nullptr;
  uint64_t cycles_[kMaxJobs] = {};
  uint64_t ends_[kMaxJobs] = {};
  uint64_t free_at_ = 0;
  uint64_t busy_cycles_ = 0;
  Fault next_;                           ///< Injected.
  Fault fault_;                          ///< Of the job that is being submitted.
  FaultKind struck_ = FaultKind::kNone;  ///< What the job `struck_job_` suffers from.
  uint32_t struck_job_ = 0;
  uint32_t struck_at_ = 0;  ///< Byte offset of the command.
  bool lost_ = false;       ///< Until Reset, by a kReset.
};

}  // namespace takt::npu

#endif  // TAKT_PORTS_NPU_EMU_NPU_EMU_H_
