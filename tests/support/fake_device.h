// A device for tests: each job takes a fixed time of a virtual clock, and fills what it writes.
#ifndef TAKT_TESTS_SUPPORT_FAKE_DEVICE_H_
#define TAKT_TESTS_SUPPORT_FAKE_DEVICE_H_

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "engine/hal/device.h"
#include "engine/hal/platform.h"

namespace takt::test {

/// Time that only passes when somebody works or waits.
struct VirtualClock {
  uint64_t ticks = 0;
  Clock clock() {
    return {[](void* self) { return static_cast<VirtualClock*>(self)->ticks; }, this};
  }
};

/// A job copies base 0 to base 1, adding 100 to each byte, when its time is over. Jobs run side by side.
class FakeDevice final : public Device {
 public:
  FakeDevice(VirtualClock& clock, uint64_t job_ticks, const DeviceCaps& caps = {})
      : Device(caps), clock_(clock), job_ticks_(job_ticks) {}

  std::string log;          ///< One letter an event with its job: p(repare) s(ubmit) d(one) f(ailed) c(ancel) r(eset).
  bool fail = false;        ///< The jobs of now on fail at their end.
  bool fail_next = false;   ///< The next job that ends fails.
  bool stuck = false;       ///< Cancel does not work.
  uint64_t poll_ticks = 0;  ///< That a poll takes.
  uint64_t job_work = 0;    ///< Inner iterations of a job.

 private:
  struct Running {
    uint32_t id;
    uint64_t end;
    std::span<std::byte> bases[2];
  };

  Status DoPrepare(const Job& job, uint64_t& work) override {
    work += job_work;
    return Log('p', job.id);
  }
  Status DoSubmit(const Job& job) override {
    running_.push_back({job.id, clock_.ticks + job_ticks_, {job.bases[0], job.bases[1]}});
    busy_ticks_ += job_ticks_;
    return Log('s', job.id);
  }
  JobState DoPoll(uint32_t id, Status& status) override {
    clock_.ticks += poll_ticks;
    return StateOf(id, status);
  }
  JobState StateOf(uint32_t id, Status& status) {
    const auto job = Find(id);
    if (clock_.ticks < job->end) return JobState::kRunning;
    const bool fails = fail || std::exchange(fail_next, false);
    if (fails) {
      status = {StatusCode::kDeviceFault, Site::kDeviceState, 77};
    } else {
      std::ranges::transform(job->bases[0], job->bases[1].begin(),
                             [](std::byte v) { return std::byte(std::to_integer<int>(v) + 100); });
    }
    running_.erase(job);
    (void)Log(fails ? 'f' : 'd', id);
    return fails ? JobState::kFailed : JobState::kDone;
  }
  JobState DoWait(uint32_t id, const WaitLimit& limit, Status& status) override {
    if (limit.cancel == nullptr || !*limit.cancel)
      clock_.ticks = std::max(clock_.ticks, std::min(Find(id)->end, limit.deadline));
    return StateOf(id, status);
  }
  Status DoCancel(uint32_t id) override {
    if (stuck) return {StatusCode::kDeviceFault, Site::kDeviceState};
    running_.erase(Find(id));
    return Log('c', id);
  }
  Status DoReset() override {
    running_.clear();
    busy_ticks_ = 0;
    return Log('r', 0);
  }
  uint64_t DoBusyTicks() const override { return busy_ticks_; }

  std::vector<Running>::iterator Find(uint32_t id) { return std::ranges::find(running_, id, &Running::id); }
  Status Log(char event, uint32_t job) {
    log += event;
    log += std::to_string(job);
    return {};
  }

  VirtualClock& clock_;
  uint64_t job_ticks_;
  uint64_t busy_ticks_ = 0;
  std::vector<Running> running_;
};

}  // namespace takt::test

#endif  // TAKT_TESTS_SUPPORT_FAKE_DEVICE_H_
