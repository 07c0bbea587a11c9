// The part of Interpreter that runs: cursor, loops, devices, deadlines.
#include "engine/core/interpreter.h"
#include "engine/plan/plan_rules.h"
#include "schema/plan_generated.h"

namespace takt {

Status Interpreter::Begin() {
  if (plan_ == nullptr) return {StatusCode::kInvalidState, Site::kInvokeState};
  Drop();
  if (poison_ != kNoTensor) return {StatusCode::kInvalidState, Site::kInvokePoisoned, poison_};
  cursor_ = 0;
  loop_depth_ = 0;
  status_ = {};
  wait_ = {};
  awaits_room_ = false;
  running_ = true;
  return {};
}

/// When a device that is asked now has taken too long.
uint64_t Interpreter::GivesUpAt() const {
  const uint64_t at = platform_.clock.Now() + patience_;
  return at < patience_ ? kNoDeadline : at;
}

/// Ends a run that is under way: no job stays in flight, unless a device that cannot cancel has hung, and a state that
/// the run updates in place is a state no more.
void Interpreter::Drop() {
  if (!running_) return;
  running_ = false;
  for (uint32_t i = 0; jobs_in_flight_ != 0 && i < plan_->device_count(); ++i) {
    const Status stopped = devices_[i]->Stop(jobs_, platform_.clock, GivesUpAt());
    if (!stopped.ok() && platform_.panic != nullptr) platform_.panic(platform_.context, stopped);
  }
  jobs_in_flight_ = 0;
  for (uint32_t i = 0; cursor_ != 0 && i < plan_->state_count(); ++i) {
    if (plan_->state(i).shadow == kNoTensor) poison_ = static_cast<uint16_t>(i);
  }
}

Progress Interpreter::Fail(Status status) {
  Drop();
  status_ = status.AtStep(static_cast<uint16_t>(cursor_));
  return Progress::kFailed;
}

Progress Interpreter::Step(uint32_t budget) {
  if (!running_) {
    if (status_.ok()) status_ = {StatusCode::kInvalidState, Site::kInvokeState};
    return Progress::kFailed;
  }
  for (uint32_t n = 0; n < budget; ++n) {
    if (cancel_.load(std::memory_order_relaxed)) {
      ClearCancel();
      return Fail({StatusCode::kCancelled, Site::kInvokeCancel});
    }
    do {
      if (const Progress progress = RunStep(); progress != Progress::kMore) return progress;
    } while (cursor_ > commit_ && cursor_ < plan_->step_count());
    if (cursor_ == plan_->step_count()) {
      running_ = false;
      return Progress::kDone;
    }
  }
  return Progress::kMore;
}

Status Interpreter::Invoke(uint64_t deadline) {
  TAKT_TRY(Begin());
  wait_ = {deadline, &cancel_};
  for (;;) {
    if (deadline != kNoDeadline && platform_.clock.Now() >= deadline) {
      Drop();
      const uint64_t late = platform_.clock.Now() - deadline;
      Fail({StatusCode::kDeadlineExceeded, Site::kInvokeDeadline,
            late > UINT32_MAX ? UINT32_MAX : static_cast<uint32_t>(late)});
      return status_;
    }
    const Progress progress = Step(1);
    if (progress == Progress::kDone || progress == Progress::kFailed) return status_;
  }
}

bool Interpreter::Condition(const StepView& step) const {
  return static_cast<uint8_t>(tensor(step.inputs[0])[0]) != 0;
}

Progress Interpreter::RunStep() {
  const uint32_t at = cursor_;
  const uint64_t begin = trace_ != nullptr ? platform_.clock.Now() : 0;
  const StepView step = plan_->step(at);
  uint32_t next = at + 1;
  switch (step.op) {
    case Op::kSubmit:
    case Op::kWait:
      if (const Progress progress = RunDevice(step); progress != Progress::kMore) return progress;
      break;
    case Op::kSkipIf:
      if (!Condition(step)) next += static_cast<const schema::SkipIfParams*>(step.params)->count();
      break;
    case Op::kLoop: {
      const auto* p = static_cast<const schema::LoopParams*>(step.params);
      loops_[loop_depth_++] = {at, next + p->body(), 0};
      next += p->body();
      break;
    }
    default: {
      Bound bound;
      BindOperands(at, bound);
      binding(at)->run(bound.call);
    }
  }
  if (trace_ != nullptr) trace_->Add(static_cast<uint16_t>(at), begin, platform_.clock.Now());
  cursor_ = next;
  return AdvanceLoops();
}

/// At the end of a body, where a loop begins too: its next trip, or the step after it.
Progress Interpreter::AdvanceLoops() {
  while (loop_depth_ > 0 && cursor_ == loops_[loop_depth_ - 1].end) {
    LoopFrame& loop = loops_[loop_depth_ - 1];
    const StepView step = plan_->step(loop.start);
    if (Condition(step)) {
      const uint32_t most = static_cast<const schema::LoopParams*>(step.params)->max_trips();
      if (loop.trips == most) {
        Drop();
        cursor_ = loop.start;
        return Fail({StatusCode::kLimitExceeded, Site::kInvokeTrips, most});
      }
      ++loop.trips;
      cursor_ = loop.start + 1;
      break;
    }
    --loop_depth_;
  }
  return Progress::kMore;
}

/// Prepares the job where there is `work` to count, else submits it.
Status Interpreter::RunJob(uint16_t id, uint64_t* work) {
  const JobView view = plan_->job(id);
  std::span<std::byte> bases[kMaxJobBases];
  for (size_t i = 0; i < view.bases.size(); ++i) bases[i] = tensor(view.bases[i]);
  const Job job{
      jobs_.first + id, plan_->constant(view.stream).bytes, {bases, view.bases.size()}, ~WrittenBases(*plan_, id)};
  Device& device = *devices_[view.device];
  if (work != nullptr) return device.Prepare(job, *work);
  if (!device.caps().coherent) MaintainCaches(id, false);
  TAKT_TRY(device.Submit(job));
  give_up_ = GivesUpAt();
  ++jobs_in_flight_;
  return {};
}

Status Interpreter::PrepareJobs() {
  if (plan_ == nullptr) return {StatusCode::kInvalidState, Site::kInvokeState};
  uint64_t work = 0;  // Init has found that it is not too much.
  for (uint32_t i = 0; i < plan_->step_count(); ++i) {
    const StepView step = plan_->step(i);
    if (step.op == Op::kSubmit) TAKT_TRY(RunJob(step.job(), &work).AtStep(static_cast<uint16_t>(i)));
  }
  return {};
}

/// Before a job of all ranges, so that no dirty line falls onto the device's results; after it of what it wrote.
void Interpreter::MaintainCaches(uint16_t job, bool after) const {
  const auto maintain = after ? platform_.cache_invalidate : platform_.cache_clean;
  const JobView view = plan_->job(job);
  if (after) Barrier();
  for (uint32_t k = 0; maintain != nullptr && k < view.range_count; ++k) {
    const JobRangeView r = plan_->job_range(job, k);
    if (r.write || !after) maintain(platform_.context, tensor(view.bases[r.base]).subspan(r.offset, r.bytes));
  }
  if (!after) Barrier();
}

/// The device runs jobs of other plans.
Progress Interpreter::AwaitRoom(uint16_t job) {
  if (platform_.most_job_ticks == 0) return Progress::kWaiting;  // What others' jobs take is not known.
  if (!awaits_room_) give_up_ = GivesUpAt();
  awaits_room_ = true;
  if (platform_.clock.Now() < give_up_) return Progress::kWaiting;
  return Fail({StatusCode::kDeviceFault, Site::kDeviceState, job});
}

Progress Interpreter::RunDevice(const StepView& step) {
  const uint16_t job = step.job();
  Device& device = *devices_[step.device()];
  Status status;
  if (step.op == Op::kSubmit) {
    if (!device.HasRoom(jobs_)) return AwaitRoom(job);
    awaits_room_ = false;
    status = RunJob(job, nullptr);
    return status.ok() ? Progress::kMore : Fail(status);
  }
  const WaitLimit limit{wait_.deadline < give_up_ ? wait_.deadline : give_up_, wait_.cancel};
  const uint32_t id = jobs_.first + job;
  const JobState state = wait_.cancel != nullptr ? device.Wait(id, limit, status) : device.Poll(id, status);
  if (state != JobState::kDone) {
    const bool running = state == JobState::kRunning;
    if (running && platform_.clock.Now() < give_up_) return Progress::kWaiting;
    const Site site = running ? Site::kInvokeDeadline : Site::kDeviceState;
    return Fail(status.ok() ? Status(StatusCode::kDeviceFault, site, job) : status);
  }
  --jobs_in_flight_;
  if (!device.caps().coherent) MaintainCaches(job, true);
  return Progress::kMore;
}

}  // namespace takt
