// The part of Interpreter that runs: cursor, loops, devices, deadlines.
#include "engine/core/interpreter.h"
#include "schema/plan_generated.h"

namespace takt {

Status Interpreter::Begin() {
  if (plan_ == nullptr) return {StatusCode::kInvalidState, Site::kInvokeState};
  EndRun();
  cancel_.store(false, std::memory_order_relaxed);
  cursor_ = 0;
  loop_depth_ = 0;
  status_ = {};
  running_ = true;
  return {};
}

/// Leaves no job in flight.
void Interpreter::EndRun() {
  running_ = false;
  for (uint32_t i = 0; i < plan_->device_count(); ++i) {
    if (devices_[i] != nullptr) devices_[i]->Cancel();
  }
}

Progress Interpreter::Fail(Status status) {
  status_ = status.AtStep(static_cast<uint16_t>(cursor_));
  EndRun();
  return Progress::kFailed;
}

Progress Interpreter::Step(uint32_t budget) {
  if (!running_) {
    if (status_.ok()) status_ = {StatusCode::kInvalidState, Site::kInvokeState};
    return Progress::kFailed;
  }
  for (uint32_t n = 0; n < budget; ++n) {
    if (cancel_.load(std::memory_order_relaxed)) return Fail({StatusCode::kCancelled, Site::kInvokeCancel});
    const Progress progress = RunStep();
    if (progress != Progress::kMore) return progress;
    if (cursor_ == plan_->step_count()) {
      EndRun();
      return Progress::kDone;
    }
  }
  return Progress::kMore;
}

Status Interpreter::Invoke() {
  TAKT_TRY(Begin());
  for (;;) {
    const Progress progress = Step(UINT32_MAX);
    if (progress == Progress::kDone || progress == Progress::kFailed) return status_;
  }
}

Status Interpreter::Invoke(uint64_t deadline) {
  TAKT_TRY(Begin());
  for (;;) {
    if (const uint64_t now = clock_.Now(); now >= deadline) {
      const uint64_t late = now - deadline;
      Fail({StatusCode::kDeadlineExceeded, Site::kInvokeDeadline, late > UINT32_MAX ? UINT32_MAX : static_cast<uint32_t>(late)});
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
  const uint64_t begin = trace_ != nullptr ? clock_.Now() : 0;
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
      if (p->max_trips() != 0 && Condition(step)) {
        loops_[loop_depth_++] = {at, next + p->body(), 1};
      } else {
        next += p->body();
      }
      break;
    }
    default: {
      Bound bound;
      BindOperands(at, bound);
      binding(at)->run(bound.call);
    }
  }
  if (trace_ != nullptr) trace_->Add(static_cast<uint16_t>(at), begin, clock_.Now());
  cursor_ = next;
  AdvanceLoops();
  return Progress::kMore;
}

/// At the end of a body: its next trip, or the step after it.
void Interpreter::AdvanceLoops() {
  while (loop_depth_ > 0 && cursor_ == loops_[loop_depth_ - 1].end) {
    LoopFrame& loop = loops_[loop_depth_ - 1];
    const StepView step = plan_->step(loop.start);
    if (loop.trips < static_cast<const schema::LoopParams*>(step.params)->max_trips() && Condition(step)) {
      ++loop.trips;
      cursor_ = loop.start + 1;
      return;
    }
    --loop_depth_;
  }
}

Progress Interpreter::RunDevice(const StepView& step) {
  const auto* p = static_cast<const schema::SubmitParams*>(step.params);
  if (step.op == Op::kSubmit) {
    const Status status = RunJob(p->job(), false);
    return status.ok() ? Progress::kMore : Fail(status);
  }
  Status status;
  switch (devices_[p->device()]->Poll(status)) {
    case JobState::kRunning: return Progress::kWaiting;
    case JobState::kDone: return Progress::kMore;
    case JobState::kFailed: break;
  }
  return Fail(status.ok() ? Status(StatusCode::kDeviceFault, Site::kDeviceState, p->job()) : status);
}

}  // namespace takt
