// Several networks on one core: priorities, cooperative, no heap.
//
// Between two steps the most urgent task goes on, so that a task waits for a less urgent one at most as long as that
// one's longest step (LongestStep). Networks of one group share arenas: once one of them has begun, no other begins
// until it has ended; while a more urgent one waits for it, it runs with that one's urgency.
//
// Networks may share a device. It runs jobs of one network at a time: a network that wants to submit one waits for
// those that another has there, and of several that wait the most urgent goes next. A job that fails, is cancelled or
// is late ends its own network's run only. Device::Reset ends all: then PrepareJobs of each network, best in on_end of
// the one that failed; runs that lost a job fail, too.
#ifndef TAKT_ENGINE_CORE_SCHEDULER_H_
#define TAKT_ENGINE_CORE_SCHEDULER_H_

#include <atomic>
#include <cstdint>
#include <span>

#include "engine/core/interpreter.h"

namespace takt {

/// How a task's runs went; ticks of the scheduler's clock.
struct TaskStats {
  uint32_t completed = 0;
  uint32_t failed = 0;
  uint32_t missed = 0;          ///< Ended after the deadline; a failed run with a deadline counts, too.
  uint32_t overrun = 0;         ///< Releases that came before the last run had begun; nothing ran for them.
  uint32_t preempted = 0;       ///< A more urgent task went on in the middle of a run.
  uint64_t worst_response = 0;  ///< From release to end.
};

/// A network and when it runs. The caller owns it all and fills in the first part before Scheduler::Init.
struct Task {
  Interpreter* net = nullptr;  ///< After its Init; in no other task.
  uint8_t priority = 0;        ///< The greater goes first; of equals, the one that has begun, then the earlier release.
  uint8_t group = 0;           ///< Tasks of one group, other than 0, may share activation arenas.
  uint64_t deadline = kNoDeadline;  ///< Ticks from its release to its end.
  /// Before the first step: inputs are to be put in here, as the arena may be another network's before.
  void (*on_begin)(void* context, Interpreter& net) = nullptr;
  /// After the last step, or when the run failed: outputs are to be taken here.
  void (*on_end)(void* context, Interpreter& net, Status status) = nullptr;
  void* context = nullptr;

  TaskStats stats = {};

  // Of the scheduler.
  std::atomic<bool> released{false};
  std::atomic<uint32_t> overrun{0};
  uint64_t release_time = 0;  ///< Written by Release before `released`.
  uint64_t begun_for = 0;     ///< Release time of the run under way.
  bool begun = false;
  bool waiting = false;  ///< For a device, in this turn.
};

enum class Activity : uint8_t { kIdle = 0, kWaiting, kRan };

/// What RunStep did. kWaiting: all tasks that could run wait for devices; call again.
struct Turn {
  Activity activity = Activity::kIdle;
  uint16_t task = 0;
  uint16_t step = 0;
};

/// One thread at a time, except Release.
class Scheduler {
 public:
  Scheduler() = default;
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  /// `tasks` outlive this object. kInvalidState if a network is not initialised, kInvalidArgument (kInitOverlap;
  /// detail: task) if it shares its network, numbers of jobs on one device (InitOptions::first_job), or memory other
  /// than activation arenas of one group with an earlier task; kLimitExceeded (kInitDevice; detail: task) if those on
  /// one device could have more than Device::kMaxInFlight jobs in flight.
  Status Init(std::span<Task> tasks, Clock clock);

  /// Asks for one run of a task, whose deadline counts from now. Of each task from one thread or interrupt at a time;
  /// async-signal-safe if the clock is.
  void Release(uint32_t task) { ReleaseAt(task, clock_.Now()); }
  /// As Release, for an event that happened at `time`.
  void ReleaseAt(uint32_t task, uint64_t time);

  /// Runs one step of the most urgent task that can go on.
  Turn RunStep();
  /// Until nothing is left to run; polls devices.
  void RunUntilIdle();

  std::span<Task> tasks() { return tasks_; }

 private:
  Task* MostUrgent() const;
  Task* Blocker(const Task& task) const;
  void StartRun(Task& task);
  void EndRun(Task& task, Status status);

  std::span<Task> tasks_;
  Clock clock_;
  Task* last_ = nullptr;
};

/// Ticks of the plan's longest step, a job from Submit to Wait with what the host runs meanwhile and the commit of
/// states as one; 0 without costs in the plan.
uint64_t LongestStep(const Plan& plan);

}  // namespace takt

#endif  // TAKT_ENGINE_CORE_SCHEDULER_H_
