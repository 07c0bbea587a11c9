#include "engine/core/scheduler.h"

namespace takt {
namespace {

bool Overlap(std::span<const std::byte> a, std::span<const std::byte> b) {
  return a.data() < b.data() + b.size() && b.data() < a.data() + a.size();
}

/// What an interpreter owns in memory: arenas in the plan's order, the runtime arena last.
std::span<std::byte> Memory(const Interpreter& net, uint32_t i) {
  return i < net.plan().arena_count() ? net.arena(i) : net.runtime();
}
bool Shareable(const Interpreter& net, uint32_t i) {
  return i < net.plan().arena_count() && net.plan().arena(i).kind == ArenaKind::kActivation;
}

/// Not all that an application gives to Init: what the plan uses.
std::span<Device* const> DevicesOf(const Interpreter& net) {
  return net.devices().first(net.plan().device_count());
}

bool Uses(const Interpreter& net, const Device* device) {
  for (const Device* own : DevicesOf(net)) {
    if (own == device) return true;
  }
  return false;
}

bool ShareDevice(const Interpreter& a, const Interpreter& b) {
  for (const Device* device : DevicesOf(a)) {
    if (Uses(b, device)) return true;
  }
  return false;
}

int InFlightChange(Op op) {
  return op == Op::kSubmit ? 1 : op == Op::kWait ? -1 : 0;
}

/// Jobs of a network that may be in flight at once.
int MostInFlight(const Plan& plan) {
  int now = 0, most = 0;
  for (uint32_t i = 0; i < plan.step_count(); ++i) {
    now += InFlightChange(plan.step(i).op);
    most = now > most ? now : most;
  }
  return most;
}

/// Whether a device keeps all jobs that the tasks may have there, ended ones included, so that none waits for another
/// one to ask for its own.
bool DevicesHold(std::span<const Task> tasks) {
  const Interpreter& last = *tasks.back().net;
  for (const Device* device : DevicesOf(last)) {
    int jobs = 0;
    for (const Task& task : tasks) jobs += Uses(*task.net, device) ? MostInFlight(task.net->plan()) : 0;
    if (jobs > Device::kMaxInFlight) return false;
  }
  return true;
}

/// Nothing is shared but activation arenas within a group, and devices that can tell the jobs apart.
bool MayRunBeside(const Task& a, const Task& b) {
  if (a.net == b.net) return false;
  if (ShareDevice(*a.net, *b.net) && a.net->jobs().Overlaps(b.net->jobs())) return false;
  for (uint32_t i = 0; i <= a.net->plan().arena_count(); ++i) {
    for (uint32_t k = 0; k <= b.net->plan().arena_count(); ++k) {
      if (!Overlap(Memory(*a.net, i), Memory(*b.net, k))) continue;
      if (a.group == 0 || a.group != b.group || !Shareable(*a.net, i) || !Shareable(*b.net, k)) return false;
    }
  }
  return true;
}

/// Whether `a` goes before `b`; both want to run.
bool Before(const Task& a, const Task& b) {
  if (a.priority != b.priority) return a.priority > b.priority;
  if (a.begun != b.begun) return a.begun;
  return !a.begun && a.release_time < b.release_time;
}

bool Wants(const Task& task) {
  return task.begun || task.released.load(std::memory_order_acquire);
}

}  // namespace

Status Scheduler::Init(std::span<Task> tasks, Clock clock) {
  tasks_ = {};
  last_ = nullptr;
  for (size_t i = 0; i < tasks.size(); ++i) {
    const auto index = static_cast<uint32_t>(i);
    if (tasks[i].net == nullptr || !tasks[i].net->initialized())
      return {StatusCode::kInvalidState, Site::kInvokeState, index};
    for (size_t k = 0; k < i; ++k) {
      if (!MayRunBeside(tasks[k], tasks[i])) return {StatusCode::kInvalidArgument, Site::kInitOverlap, index};
    }
    if (!DevicesHold(tasks.first(i + 1))) return {StatusCode::kLimitExceeded, Site::kInitDevice, index};
  }
  for (Task& task : tasks) {
    task.stats = {};
    task.begun = task.waiting = false;
    task.released.store(false, std::memory_order_relaxed);
    task.overrun.store(0, std::memory_order_relaxed);
  }
  tasks_ = tasks;
  clock_ = clock;
  return {};
}

void Scheduler::ReleaseAt(uint32_t index, uint64_t time) {
  Task& task = tasks_[index];
  if (task.released.load(std::memory_order_acquire)) {
    task.overrun.store(task.overrun.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    return;
  }
  task.release_time = time;
  task.released.store(true, std::memory_order_release);
}

/// The task of its group that has to end before `task` can begin.
Task* Scheduler::Blocker(const Task& task) const {
  if (task.begun || task.group == 0) return nullptr;
  for (Task& other : tasks_) {
    if (other.begun && other.group == task.group) return &other;
  }
  return nullptr;
}

Task* Scheduler::MostUrgent() const {
  Task* best = nullptr;
  for (Task& task : tasks_) {
    if (!task.waiting && Wants(task) && (best == nullptr || Before(task, *best))) best = &task;
  }
  return best;
}

void Scheduler::StartRun(Task& task) {
  task.begun_for = task.release_time;
  task.released.store(false, std::memory_order_release);
  task.begun = true;
  if (task.on_begin != nullptr) task.on_begin(task.context, *task.net);
}

void Scheduler::EndRun(Task& task, Status status) {
  const uint64_t response = clock_.Now() - task.begun_for;
  TaskStats& stats = task.stats;
  ++(status.ok() ? stats.completed : stats.failed);
  if (task.deadline != kNoDeadline && (response > task.deadline || !status.ok())) ++stats.missed;
  if (response > stats.worst_response) stats.worst_response = response;
  task.begun = false;
  if (task.on_end != nullptr) task.on_end(task.context, *task.net, status);
}

Turn Scheduler::RunStep() {
  for (Task& task : tasks_) {
    task.waiting = false;
    task.stats.overrun = task.overrun.load(std::memory_order_relaxed);
  }
  bool waiting = false;
  while (Task* urgent = MostUrgent()) {
    Task* blocker = Blocker(*urgent);
    Task& task = blocker != nullptr ? *blocker : *urgent;
    if (task.waiting) {
      urgent->waiting = true;
      continue;
    }
    if (last_ != nullptr && last_ != &task && last_->begun && !last_->waiting) ++last_->stats.preempted;
    Status status;
    if (!task.begun) {
      StartRun(task);
      status = task.net->Begin();
    }
    const auto step = static_cast<uint16_t>(task.net->cursor());
    const Progress progress = status.ok() ? task.net->Step(1) : Progress::kFailed;
    if (progress == Progress::kWaiting) {
      waiting = task.waiting = urgent->waiting = true;
      continue;
    }
    last_ = &task;
    if (progress == Progress::kDone || progress == Progress::kFailed)
      EndRun(task, status.ok() ? task.net->status() : status);
    return {Activity::kRan, static_cast<uint16_t>(&task - tasks_.data()), step};
  }
  return {waiting ? Activity::kWaiting : Activity::kIdle, 0, 0};
}

void Scheduler::RunUntilIdle() {
  while (RunStep().activity != Activity::kIdle) {
  }
}

uint64_t LongestStep(const Plan& plan) {
  const std::span<const uint64_t> costs = plan.costs();
  const uint32_t commit = plan.commit_step();
  uint64_t longest = 0, run = 0;
  int in_flight = 0;
  for (uint32_t i = 0; i < costs.size(); ++i) {
    const uint64_t before = i > commit || in_flight != 0 ? run : 0;
    in_flight += InFlightChange(plan.step(i).op);
    run = costs[i] > UINT64_MAX - before ? UINT64_MAX : before + costs[i];
    longest = run > longest ? run : longest;
  }
  return longest;
}

}  // namespace takt
