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
  uint8_t queue_depth = 1;  ///< Jobs in flight at once, 1 to kMaxJobsInFlight.
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

/// One thread at a time. Jobs are known by `Job::id`.
class Device {
 public:
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  const DeviceCaps& caps() const { return caps_; }

  /// Validates the whole stream against the bases' sizes, and adds its inner iterations to `work`, saturating; called
  /// at Init for each step that submits the job, with nothing in flight. kMisaligned (kDeviceBase; detail: base) if a
  /// base breaks the caps.
  Status Prepare(const Job& job, uint64_t& work);
  /// Starts a job and returns. kInvalidState if the queue is full or the job in flight already.
  Status Submit(const Job& job);
  /// State of a job in flight; kDone and kFailed take it off the queue. A job that is not in flight is kFailed with
  /// kInvalidState in `status`.
  JobState Poll(uint16_t job, Status& status);
  /// As Poll, but may block until the job ends or `limit` is reached.
  JobState Wait(uint16_t job, const WaitLimit& limit, Status& status);
  /// Ends all jobs in flight at once; their outputs are undefined. kUnsupported if the caps do not have it.
  Status Cancel();
  /// Leaves nothing in flight: cancels, or waits for the jobs' end where the device cannot. kDeviceFault (detail: job)
  /// if one still runs at `give_up`, in ticks of `clock`.
  Status Stop(const Clock& clock, uint64_t give_up);
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
  virtual JobState DoPoll(uint16_t job, Status& status) = 0;
  /// May return kRunning early; the caller asks again.
  virtual JobState DoWait(uint16_t job, const WaitLimit&, Status& status) { return DoPoll(job, status); }
  /// Returns when no job touches memory any more. Called only if caps().can_cancel.
  virtual Status DoCancel() = 0;
  virtual Status DoReset() = 0;
  virtual uint64_t DoBusyTicks() const { return 0; }

  int Find(uint16_t job) const;
  JobState Retire(int slot, JobState state);

  const DeviceCaps caps_;
  DeviceCounters counters_;
  uint16_t in_flight_[kMaxJobsInFlight] = {};
  uint8_t count_ = 0;
};

}  // namespace takt

#endif  // TAKT_ENGINE_HAL_DEVICE_H_
