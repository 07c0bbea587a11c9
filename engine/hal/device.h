// A device that runs jobs: the public methods check, a port implements the private hooks.
#ifndef TAKT_ENGINE_HAL_DEVICE_H_
#define TAKT_ENGINE_HAL_DEVICE_H_

#include "engine/base/status.h"
#include "engine/hal/job.h"

namespace takt {

/// One job in flight at a time. One thread at a time.
class Device {
 public:
  /// Validates the whole stream against the bases' sizes; called once for each job at Init.
  Status Prepare(const Job& job) { return busy_ ? Busy() : DoPrepare(job); }
  /// Starts a job and returns.
  Status Submit(const Job& job);
  /// State of the job in flight; kDone or kFailed frees the device. kInvalidState in `status` if there is none.
  JobState Poll(Status& status);
  /// Ends the job in flight, as soon as the device can.
  void Cancel();
  bool busy() const { return busy_; }

 protected:
  ~Device() = default;

 private:
  static Status Busy() { return {StatusCode::kInvalidState, Site::kDeviceState}; }
  virtual Status DoPrepare(const Job& job) = 0;
  virtual Status DoSubmit(const Job& job) = 0;
  virtual JobState DoPoll(Status& status) = 0;
  virtual void DoCancel() = 0;

  bool busy_ = false;
};

inline Status Device::Submit(const Job& job) {
  if (busy_) return Busy();
  TAKT_TRY(DoSubmit(job));
  busy_ = true;
  return {};
}

inline JobState Device::Poll(Status& status) {
  if (!busy_) {
    status = Busy();
    return JobState::kFailed;
  }
  const JobState state = DoPoll(status);
  busy_ = state == JobState::kRunning;
  return state;
}

inline void Device::Cancel() {
  if (busy_) DoCancel();
  busy_ = false;
}

}  // namespace takt

#endif  // TAKT_ENGINE_HAL_DEVICE_H_
