// Rules of a plan that speak of order and time: control, loops, jobs in flight, overlap, state.
#include "engine/hal/job.h"
#include "engine/plan/plan_rules.h"
#include "engine/plan/plan_validator.h"

namespace takt {
namespace {

/// Calls `visit` with each arena tensor that a step or its job touches, until it returns a failure.
template <typename Visit>
Status ForEachTensor(const Rules& rules, const StepView& s, const Visit& visit) {
  const bool device = s.op == Op::kSubmit || s.op == Op::kWait;
  const auto touched = device ? rules.plan.job(s.job()).bases : s.operands();
  for (const uint16_t t : touched) {
    if (t < rules.arena_tensors) TAKT_TRY(visit(t));
  }
  return {};
}

/// Steps in a control step's body; 0 for other steps.
uint32_t ScopeLength(const StepView& s) {
  if (s.op == Op::kLoop) return static_cast<const schema::LoopParams*>(s.params)->body();
  return s.op == Op::kSkipIf ? static_cast<const schema::SkipIfParams*>(s.params)->count() : 0;
}

struct Scope {
  uint32_t start, end;  ///< The control step; the step after its body.
  bool loop;
};

/// In a loop, a value that is read before it is written comes from the trip before: it lives over the whole loop.
Status LoopLife(const Rules& rules, const Scope& loop, uint16_t t) {
  const LiveView live = rules.plan.live(t);
  if (live.first <= loop.start && live.last + 1u >= loop.end) return {};
  const LiveView block = rules.plan.live(live.root);
  const bool inside = block.first > loop.start && live.last < loop.end;
  return inside && rules.Writes(rules.plan.step(block.first), live.root) ? Status() : Bad(Site::kPlanLoop, t);
}

struct Flight {
  uint16_t job;
  uint32_t written;  ///< Bases, a bit each.
};

/// The jobs in flight at one step.
class JobsInFlight {
 public:
  explicit JobsInFlight(const Rules& rules) : rules_(rules) {}

  bool empty() const { return count_ == 0; }
  uint16_t first() const { return jobs_[0].job; }
  Status Submit(uint16_t job) {
    if (count_ == kMaxJobsInFlight || Find(job) != nullptr) return Bad(Site::kPlanFlight, job);
    const uint32_t written = WrittenBases(rules_.plan, job);
    const auto bases = rules_.plan.job(job).bases;
    for (uint32_t i = 0; i < bases.size(); ++i) TAKT_TRY(Touch(bases[i], (written >> i & 1) != 0));
    jobs_[count_++] = {job, written};
    return {};
  }
  Status Wait(uint16_t job) {
    Flight* flight = Find(job);
    if (flight == nullptr) return Bad(Site::kPlanFlight, job);
    *flight = jobs_[--count_];
    return {};
  }
  /// What a job writes, nobody else touches; what it reads, nobody writes.
  Status Touch(uint16_t t, bool write) const {
    for (uint32_t k = 0; k < count_; ++k) {
      const auto bases = rules_.plan.job(jobs_[k].job).bases;
      for (uint32_t i = 0; i < bases.size(); ++i) {
        if ((write || (jobs_[k].written >> i & 1) != 0) && rules_.Overlaps(bases[i], t)) {
          return Bad(Site::kPlanFlight, jobs_[k].job);
        }
      }
    }
    return {};
  }

 private:
  Flight* Find(uint16_t job) {
    for (uint32_t k = 0; k < count_; ++k) {
      if (jobs_[k].job == job) return &jobs_[k];
    }
    return nullptr;
  }

  const Rules& rules_;
  Flight jobs_[kMaxJobsInFlight];
  uint32_t count_ = 0;
};

Status StepInFlight(const StepView& s, JobsInFlight& jobs) {
  if (s.op == Op::kSubmit) return jobs.Submit(s.job());
  if (s.op == Op::kWait) return jobs.Wait(s.job());
  if (jobs.empty()) return {};
  const auto operands = s.operands();
  for (size_t k = 0; k < operands.size(); ++k) TAKT_TRY(jobs.Touch(operands[k], k >= s.inputs.size()));
  return {};
}

}  // namespace

bool Rules::Overlaps(uint32_t a, uint32_t b) const {
  if (a >= arena_tensors || b >= arena_tensors) return false;
  const TensorView x = plan.tensor(a);
  const TensorView y = plan.tensor(b);
  return x.base == y.base && x.offset < uint64_t{y.offset} + y.extent() && y.offset < uint64_t{x.offset} + x.extent();
}

uint32_t WrittenBases(const Plan& plan, uint16_t job) {
  uint32_t written = 0;
  for (uint32_t k = 0; k < plan.job(job).range_count; ++k) {
    const JobRangeView r = plan.job_range(job, k);
    if (r.write) written |= uint32_t{1} << r.base;
  }
  return written;
}

bool Rules::Writes(const StepView& s, uint16_t tensor_root) const {
  if (s.op == Op::kSubmit || s.op == Op::kWait) {
    const uint32_t written = WrittenBases(plan, s.job());
    const auto bases = plan.job(s.job()).bases;
    for (uint32_t i = 0; i < bases.size(); ++i) {
      if ((written >> i & 1) != 0 && plan.live(bases[i]).root == tensor_root) return true;
    }
    return false;
  }
  for (const uint16_t t : s.operands().subspan(s.inputs.size())) {
    if (plan.live(t).root == tensor_root) return true;
  }
  return false;
}

Status Rules::Control() const {
  Scope scopes[kMaxControlDepth];
  int depth = 0;
  const uint32_t commit = plan.commit_step();
  for (uint32_t i = 0; i < steps; ++i) {
    const auto at = static_cast<uint16_t>(i);
    while (depth > 0 && scopes[depth - 1].end == i) --depth;
    const StepView s = plan.step(i);
    if (s.op == Op::kSkipIf || s.op == Op::kLoop) {
      const uint32_t end = i + 1 + ScopeLength(s);
      const TensorView condition = plan.tensor(s.inputs[0]);
      if (end == i + 1 || depth == kMaxControlDepth || end > (depth > 0 ? scopes[depth - 1].end : commit) ||
          condition.type != DataType::kBool || plan.tensor_bytes(s.inputs[0]) != 1) {
        return Bad(Site::kPlanControl).AtStep(at);
      }
      scopes[depth++] = {i, end, s.op == Op::kLoop};
    }
    for (int k = 0; k < depth; ++k) {
      if (!scopes[k].loop) continue;
      TAKT_TRY(ForEachTensor(*this, s, [&](uint16_t t) { return LoopLife(*this, scopes[k], t); }).AtStep(at));
    }
  }
  return {};
}

/// A job runs from its Submit to its Wait, both in one scope; its tensors live as long (JobStep sees both ends).
Status Rules::Flights() const {
  JobsInFlight jobs(*this);
  uint32_t ends[kMaxControlDepth];
  int depth = 0;
  for (uint32_t i = 0; i < steps; ++i) {
    const StepView s = plan.step(i);
    const uint32_t length = ScopeLength(s);
    const bool leaves = depth > 0 && ends[depth - 1] == i;
    while (depth > 0 && ends[depth - 1] == i) --depth;
    if ((leaves || length != 0) && !jobs.empty())
      return Bad(Site::kPlanFlight, jobs.first()).AtStep(static_cast<uint16_t>(i));
    if (length != 0) ends[depth++] = i + 1 + length;
    TAKT_TRY(StepInFlight(s, jobs).AtStep(static_cast<uint16_t>(i)));
  }
  return jobs.empty() ? Status() : Bad(Site::kPlanFlight, jobs.first());
}

/// Tensors come by first use, so a sweep that keeps the live ones sees each pair that is live together.
Status Rules::Overlap() const {
  uint16_t active[kMaxLive];
  uint32_t count = 0;
  for (uint32_t t = 0; t < arena_tensors; ++t) {
    const LiveView live = plan.live(t);
    uint32_t kept = 0;
    for (uint32_t k = 0; k < count; ++k) {
      const LiveView other = plan.live(active[k]);
      if (other.last < live.first) continue;
      if (other.root != live.root && Overlaps(active[k], t)) return Bad(Site::kPlanOverlap, t);
      active[kept++] = active[k];
    }
    if (kept == kMaxLive) return Bad(Site::kPlanTooManyLive, t);
    active[kept++] = static_cast<uint16_t>(t);
    count = kept;
  }
  return {};
}

/// A state keeps its memory from one invocation to the next. With a shadow, only its commit writes it.
Status Rules::States() const {
  const uint32_t commit = plan.commit_step();
  for (uint32_t i = 0; i < plan.state_count(); ++i) {
    const StateView s = plan.state(i);
    if (!Dense(s.tensor)) return Bad(Site::kPlanState, i);
    const LiveView live = plan.live(s.tensor);
    if (live.first != 0 || live.last + 1u != steps) return Bad(Site::kPlanState, i);
    if (s.initial != kNoTensor) {
      const bool constant = s.initial < tensors && plan.tensor(s.initial).constant;
      if (!constant || plan.tensor_bytes(s.initial) != plan.tensor_bytes(s.tensor) ||
          plan.tensor(s.initial).strides != nullptr)
        return Bad(Site::kPlanState, i);
    }
    if (s.shadow == kNoTensor) continue;
    if (!Dense(s.shadow) || plan.tensor_bytes(s.shadow) != plan.tensor_bytes(s.tensor) ||
        plan.live(s.shadow).root == live.root) {
      return Bad(Site::kPlanState, i);
    }
    bool committed = false;
    for (uint32_t k = commit; k < steps; ++k) committed = committed || plan.step(k).outputs[0] == s.tensor;
    for (uint32_t k = 0; k < commit; ++k) committed = committed && !Writes(plan.step(k), live.root);
    if (!committed) return Bad(Site::kPlanState, i);
  }
  return {};
}

}  // namespace takt
