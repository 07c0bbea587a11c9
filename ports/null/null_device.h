// The smallest device: accepts every job, does nothing, is done at once. Clone it to start a port (README.md).
#ifndef TAKT_PORTS_NULL_NULL_DEVICE_H_
#define TAKT_PORTS_NULL_NULL_DEVICE_H_

#include "engine/hal/device.h"

namespace takt {

class NullDevice final : public Device {
 public:
  NullDevice() : Device({.queue_depth = 1, .can_cancel = true, .coherent = true, .base_alignment = 1}) {}

 private:
  /// Check every command against the bases' sizes here: nothing is checked after it.
  Status DoPrepare(const Job&, uint64_t&) override { return {}; }
  /// Start the hardware and return.
  Status DoSubmit(const Job&) override { return {}; }
  /// Read the hardware's state; kFailed with the fault in `status`.
  JobState DoPoll(uint32_t, Status&) override { return JobState::kDone; }
  /// Return when the job touches no memory any more.
  Status DoCancel(uint32_t) override { return {}; }
  Status DoReset() override { return {}; }
};

}  // namespace takt

#endif  // TAKT_PORTS_NULL_NULL_DEVICE_H_
