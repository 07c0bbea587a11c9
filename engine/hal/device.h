// A device that runs jobs: the public methods check, a port implements the private hooks.
#ifndef TAKT_ENGINE_HAL_DEVICE_H_
#define TAKT_ENGINE_HAL_DEVICE_H_

#include <atomic>

#include "engine/base/status.h"
#include "engine/hal/job.h"
#include "engine/hal/platform.h"

namespace takt {

/// What a device can do; constant for its life.
struct DeviceCaps {
  uint8_t queue_depth = 1;  ///< Jobs that have not ended at once, 1 to kMaxJobsInFlight.
  bool can_cancel = true;   ///< Jobs in flight can be ended early.
  bool coherent = true;     ///< Sees the core's caches; otherwise the engine cleans and invalidates around each job.
  uint16_t base_alignment = 1;  ///< Of every base address.
};

/// Since construction or Reset.
struct DeviceCounters {
  uint32_t submitted = 0, done = 0, failed = 0, cancelled = 0;
  uint64_t busy_ticks = 0;  ///< In which a job ran, by the device's own clock; 0 if it has none.
};

/// Until when Wait may block.
struct WaitLimit {
  uint64_t deadline = UINT64_MAX;             ///< Ticks of the platform's clock.
  const std::atomic<bool>* cancel = nullptr;  ///< Stops the wait once it is true.
};

/// One thread at a time. Jobs are known by `Job::id`; several plans may use a device, each with ids of its own. A job
/// is in flight from Submit until its owner has learnt from Poll or Wait that it ended. What the interpreter calls is
/// virtual only so that a program without devices links none of it, and inline, as a key function would want RTTI of
/// the engine: a port implements the private hooks.
class Device {
 public:
  static constexpr uint32_t kMaxJobs = 1024;  ///< That it keeps prepared, of all plans; ids are below it.
  static constexpr int kMaxInFlight = 2 * kMaxJobsInFlight;  ///< In flight, of all plans.

  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  const DeviceCaps& caps() const { return caps_; }

  /// Validates the whole stream against the bases' sizes, and adds its inner iterations to `work`, saturating; called
  /// at Init for each step that submits the job, with nothing in flight. kMisaligned (kDeviceBase; detail: base) if a
  /// base breaks the caps, kLimitExceeded if the id is kMaxJobs or more. A job that is refused is not prepared any
  /// more.
  virtual Status Prepare(const Job& job, uint64_t& work) { return CheckedPrepare(job, work); }
  /// Whether `plan` may submit a job now: the queue has room, and no other plan's job still runs, so that a plan waits
  /// for none but the job under way, and the more urgent of two that wait goes next. Asks for the state of those jobs.
  virtual bool HasRoom(JobRange plan) { return AskForRoom(plan); }
  /// Starts a job and returns. kInvalidState if it was not prepared since Reset, is in flight already, or the queue is
  /// full.
  virtual Status Submit(const Job& job) { return CheckedSubmit(job); }
  /// State of a job in flight; kDone and kFailed take it off the queue. A job that is not in flight is kFailed with
  /// kInvalidState in `status`.
  JobState Poll(uint32_t job, Status& status) { return AskFor(job, nullptr, status); }
  /// As Poll, but may block until the job ends or `limit` is reached.
  JobState Wait(uint32_t job, const WaitLimit& limit, Status& status) { return AskFor(job, &limit, status); }
  /// Ends a job in flight at once; its outputs are undefined, other jobs go on. kUnsupported if the caps do not have
  /// it.
  Status Cancel(uint32_t job);
  /// Leaves none of these in flight: cancels them, or waits for their end where the device cannot. kDeviceFault
  /// (detail: job) if one still runs at `give_up`, in ticks of `clock`.
  virtual Status Stop(JobRange jobs, const Clock& clock, uint64_t give_up) { return StopAll(jobs, clock, give_up); }
  /// Back to the state after power-up, whatever is in flight; jobs have to be prepared again.
  Status Reset();
  bool busy() const { return count_ != 0; }
  DeviceCounters counters() const;

 protected:
  explicit Device(const DeviceCaps& caps) : caps_(caps) {}
  ~Device() = default;

 private:
  virtual Status DoPrepare(const Job& job, uint64_t& work) = 0;
  virtual Status DoSubmit(const Job& job) = 0;
  virtual JobState DoPoll(uint32_t job, Status& status) = 0;
  /// May return kRunning early; the caller asks again.
  virtual JobState DoWait(uint32_t job, const WaitLimit&, Status& status) { return DoPoll(job, status); }
  /// Returns when the job touches no memory any more. Called only for one that has not ended, if caps().can_cancel.
  virtual Status DoCancel(uint32_t job) = 0;
  virtual Status DoReset() = 0;
  virtual uint64_t DoBusyTicks() const { return 0; }

  struct Slot {
    uint32_t job = 0;
    JobState state = JobState::kRunning;
    Status status;
  };

  Slot* Find(uint32_t job);
  JobState Ask(Slot& slot, const WaitLimit* limit);
  JobState Ask(uint32_t job, const WaitLimit* limit, Status& status);  ///< Polls without a limit.
  virtual JobState AskFor(uint32_t job, const WaitLimit* limit, Status& status) { return Ask(job, limit, status); }
  Status CheckedPrepare(const Job& job, uint64_t& work);
  bool AskForRoom(JobRange plan);
  Status CheckedSubmit(const Job& job);
  Status StopAll(JobRange jobs, const Clock& clock, uint64_t give_up);

  const DeviceCaps caps_;
  DeviceCounters counters_;
  Slot in_flight_[kMaxInFlight];
  uint8_t count_ = 0;
  uint8_t running_ = 0;                  ///< Of those in flight.
  uint8_t prepared_[kMaxJobs / 8] = {};  ///< A bit a job.
};

}  // namespace takt

#endif  // TAKT_ENGINE_HAL_DEVICE_H_
