#include "engine/hal/device.h"

#include <algorithm>
#include <iterator>

namespace takt {
namespace {

constexpr Status NotNow(uint32_t detail) {
  return {StatusCode::kInvalidState, Site::kDeviceState, detail};
}

}  // namespace

Device::Slot* Device::Find(uint32_t job) {
  for (int i = 0; i < count_; ++i) {
    if (in_flight_[i].job == job) return &in_flight_[i];
  }
  return nullptr;
}

/// Asks the port, unless the job is known to have ended.
JobState Device::Ask(Slot& slot, const WaitLimit* limit) {
  if (slot.state != JobState::kRunning) return slot.state;
  slot.state = limit != nullptr ? DoWait(slot.job, *limit, slot.status) : DoPoll(slot.job, slot.status);
  if (slot.state == JobState::kRunning) return slot.state;
  --running_;
  ++(slot.state == JobState::kDone ? counters_.done : counters_.failed);
  return slot.state;
}

JobState Device::Ask(uint32_t job, const WaitLimit* limit, Status& status) {
  Slot* slot = Find(job);
  if (slot == nullptr) {
    status = NotNow(job);
    return JobState::kFailed;
  }
  const JobState state = Ask(*slot, limit);
  status = slot->status;
  if (state != JobState::kRunning) *slot = in_flight_[--count_];
  return state;
}

Status Device::CheckedPrepare(const Job& job, uint64_t& work) {
  if (busy()) return NotNow(job.id);
  if (job.id >= kMaxJobs) return {StatusCode::kLimitExceeded, Site::kDeviceState, job.id};
  uint8_t& prepared = prepared_[job.id / 8];
  const auto bit = static_cast<uint8_t>(1 << job.id % 8);
  prepared &= static_cast<uint8_t>(~bit);
  for (uint32_t i = 0; i < job.bases.size(); ++i) {
    if (reinterpret_cast<uintptr_t>(job.bases[i].data()) % caps_.base_alignment != 0) {
      return {StatusCode::kMisaligned, Site::kDeviceBase, i};
    }
  }
  TAKT_TRY(DoPrepare(job, work));
  prepared |= bit;
  return {};
}

bool Device::AskForRoom(JobRange plan) {
  bool others = false;
  for (int i = 0; i < count_; ++i) {
    const bool own = plan.Has(in_flight_[i].job);
    if (own && running_ < caps_.queue_depth) continue;
    others = (Ask(in_flight_[i], nullptr) == JobState::kRunning && !own) || others;
  }
  return !others && running_ < caps_.queue_depth && count_ < kMaxInFlight;
}

Status Device::CheckedSubmit(const Job& job) {
  const bool prepared = job.id < kMaxJobs && (prepared_[job.id / 8] >> job.id % 8 & 1) != 0;
  const bool room = running_ < caps_.queue_depth && count_ < kMaxInFlight;
  if (!prepared || !room || Find(job.id) != nullptr) return NotNow(job.id);
  TAKT_TRY(DoSubmit(job));
  in_flight_[count_++] = {job.id, JobState::kRunning, {}};
  ++running_;
  ++counters_.submitted;
  return {};
}

Status Device::Cancel(uint32_t job) {
  if (!caps_.can_cancel) return {StatusCode::kUnsupported, Site::kDeviceState, job};
  return StopAll({job, 1}, {}, 0);
}

Status Device::StopAll(JobRange jobs, const Clock& clock, uint64_t give_up) {
  for (int i = count_ - 1; i >= 0; --i) {
    Slot& slot = in_flight_[i];
    if (!jobs.Has(slot.job)) continue;
    if (caps_.can_cancel && slot.state == JobState::kRunning) {
      TAKT_TRY(DoCancel(slot.job));
      ++counters_.cancelled;
      --running_;
    } else {
      const WaitLimit limit{give_up, nullptr};
      while (Ask(slot, &limit) == JobState::kRunning) {
        if (clock.Now() >= give_up) return {StatusCode::kDeviceFault, Site::kDeviceState, slot.job};
      }
    }
    slot = in_flight_[--count_];
  }
  return {};
}

Status Device::Reset() {
  TAKT_TRY(DoReset());
  std::fill(std::begin(prepared_), std::end(prepared_), uint8_t{0});
  count_ = running_ = 0;
  counters_ = {};
  return {};
}

DeviceCounters Device::counters() const {
  DeviceCounters all = counters_;
  all.busy_ticks = DoBusyTicks();
  return all;
}

}  // namespace takt
