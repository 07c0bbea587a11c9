#include "engine/hal/device.h"

namespace takt {
namespace {

constexpr Status NotNow(uint32_t detail) {
  return {StatusCode::kInvalidState, Site::kDeviceState, detail};
}

}  // namespace

/// Place in the queue; -1: not in flight.
int Device::Find(uint16_t job) const {
  for (int i = 0; i < count_; ++i) {
    if (in_flight_[i] == job) return i;
  }
  return -1;
}

JobState Device::Retire(int slot, JobState state) {
  if (state == JobState::kRunning) return state;
  ++(state == JobState::kDone ? counters_.done : counters_.failed);
  --count_;
  for (int i = slot; i < count_; ++i) in_flight_[i] = in_flight_[i + 1];
  return state;
}

Status Device::Prepare(const Job& job, uint64_t& work) {
  if (busy()) return NotNow(job.id);
  for (uint32_t i = 0; i < job.bases.size(); ++i) {
    if (reinterpret_cast<uintptr_t>(job.bases[i].data()) % caps_.base_alignment != 0) {
      return {StatusCode::kMisaligned, Site::kDeviceBase, i};
    }
  }
  return DoPrepare(job, work);
}

Status Device::Submit(const Job& job) {
  if (count_ >= caps_.queue_depth || count_ >= kMaxJobsInFlight || Find(job.id) >= 0) return NotNow(job.id);
  TAKT_TRY(DoSubmit(job));
  in_flight_[count_++] = job.id;
  ++counters_.submitted;
  return {};
}

JobState Device::Poll(uint16_t job, Status& status) {
  const int slot = Find(job);
  if (slot < 0) {
    status = NotNow(job);
    return JobState::kFailed;
  }
  return Retire(slot, DoPoll(job, status));
}

JobState Device::Wait(uint16_t job, const WaitLimit& limit, Status& status) {
  const int slot = Find(job);
  if (slot < 0) {
    status = NotNow(job);
    return JobState::kFailed;
  }
  return Retire(slot, DoWait(job, limit, status));
}

Status Device::Cancel() {
  if (!caps_.can_cancel) return {StatusCode::kUnsupported, Site::kDeviceState};
  if (!busy()) return {};
  TAKT_TRY(DoCancel());
  counters_.cancelled += count_;
  count_ = 0;
  return {};
}

Status Device::Stop(const Clock& clock, uint64_t give_up) {
  if (caps_.can_cancel) return Cancel();
  Status ignored;
  while (busy() && clock.Now() < give_up) (void)Wait(in_flight_[0], {give_up, nullptr}, ignored);
  return busy() ? Status(StatusCode::kDeviceFault, Site::kDeviceState, in_flight_[0]) : Status();
}

Status Device::Reset() {
  TAKT_TRY(DoReset());
  count_ = 0;
  counters_ = {};
  return {};
}

DeviceCounters Device::counters() const {
  DeviceCounters all = counters_;
  all.busy_ticks = DoBusyTicks();
  return all;
}

}  // namespace takt
