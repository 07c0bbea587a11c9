#include "converter/npu/overlap.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "converter/memory/arenas.h"
#include "converter/npu/memory_need.h"
#include "converter/npu/step_times.h"

namespace takt::npu {
namespace {

using backend::StepSpec;
using ir::TensorId;

struct Order {
  std::vector<StepSpec> steps;
  std::vector<uint64_t> costs;

  void Add(const StepSpec& step, uint64_t cost) { steps.push_back(step), costs.push_back(cost); }
  uint64_t cycles() const { return std::accumulate(costs.begin(), costs.end(), uint64_t{0}); }
};

/// Which of the steps that may run goes first: what most cycles depend on, or what came first.
enum class First { kLongestPath, kGivenOrder };

/// A step of the host, or a job: its Submit and its Wait.
struct Task {
  size_t first, last;
  uint64_t cycles;
  std::set<size_t> after = {};  ///< Tasks that must have ended.

  bool job() const { return first != last; }
};

/// Steps between two scopes of control flow, jobs with their Wait behind their Submit, and what depends on what.
class Section {
 public:
  Section(const ir::Graph& graph, const Order& given) : graph_(graph), given_(given) {
    for (const ir::State& state : graph.states)
      if (state.in_place) in_place_[state.next] = state.tensor;
  }

  /// Step `s`, and the one behind it if it submits a job.
  void Add(size_t s);
  std::vector<Task> tasks;

 private:
  struct Uses {
    std::vector<size_t> writer, readers;  ///< One writer at most; readers since.
  };

  /// Whose memory a tensor is a part of.
  TensorId Value(TensorId id) const {
    const TensorId root = Root(graph_, id).root;
    const auto state = in_place_.find(root);
    return state == in_place_.end() ? root : Root(graph_, state->second).root;
  }

  const ir::Graph& graph_;
  const Order& given_;
  std::map<TensorId, TensorId> in_place_;
  std::map<TensorId, Uses> uses_;
};

void Section::Add(size_t s) {
  const StepSpec& step = given_.steps[s];
  const size_t task = tasks.size(), last = step.op == Op::kSubmit ? s + 1 : s;
  std::set<size_t> after;
  for (const TensorId id : step.inputs) {
    if (id == ir::kNoTensor || graph_.tensor(id).is_constant()) continue;
    Uses& uses = uses_[Value(id)];
    after.insert(uses.writer.begin(), uses.writer.end());
    uses.readers.push_back(task);
  }
  for (const TensorId id : step.outputs) {
    Uses& uses = uses_[Value(id)];
    after.insert(uses.writer.begin(), uses.writer.end());
    after.insert(uses.readers.begin(), uses.readers.end());
    uses = {{task}, {}};
  }
  after.erase(task);
  tasks.push_back({s, last, given_.costs[last], std::move(after)});
}

/// List scheduling for two machines, the host and the device; neither idles while a task is ready for it, unless a job
/// would be in flight for longer than `most`.
class ListScheduler {
 public:
  ListScheduler(const std::vector<Task>& tasks, const Order& given, uint64_t most, First first)
      : tasks_(tasks), given_(given), most_(most), missing_(tasks.size()), readers_(tasks.size()) {
    ranks_.resize(tasks.size());
    for (size_t t = tasks.size(); t-- > 0;) {
      ranks_[t] += first == First::kLongestPath ? tasks[t].cycles : 0;
      for (const size_t before : tasks[t].after) {
        ranks_[before] = std::max(ranks_[before], ranks_[t]);
        readers_[before].push_back(t);
      }
      missing_[t] = tasks[t].after.size();
      if (missing_[t] == 0) SetReady(t);
    }
  }

  void Run(Order& order) {
    while (flying_ != nullptr || !hosts_.empty() || !jobs_.empty()) {
      if (flying_ != nullptr && (now_ >= end_ || hosts_.empty() || !MayRun(Next(hosts_)))) {
        Wait(order);
      } else if (flying_ == nullptr && !jobs_.empty()) {
        Submit(order);
      } else {
        RunOnHost(order);
      }
    }
  }

 private:
  /// The largest rank first, then the given order.
  using Ready = std::set<std::pair<uint64_t, size_t>>;

  static size_t Next(const Ready& ready) { return ready.begin()->second; }
  static size_t Take(Ready& ready) { return ready.extract(ready.begin()).value().second; }
  void SetReady(size_t t) { (tasks_[t].job() ? jobs_ : hosts_).insert({UINT64_MAX - ranks_[t], t}); }
  bool MayRun(size_t t) const {
    const uint64_t flown = now_ - submitted_;
    return flown <= most_ && tasks_[t].cycles <= most_ - flown;
  }
  void End(size_t t) {
    for (const size_t reader : readers_[t])
      if (--missing_[reader] == 0) SetReady(reader);
  }
  void Submit(Order& order) {
    flying_ = &tasks_[Take(jobs_)];
    submitted_ = now_, end_ = now_ + flying_->cycles;
    order.Add(given_.steps[flying_->first], 0);
  }
  void Wait(Order& order) {
    const uint64_t left = end_ - std::min(now_, end_);
    order.Add(given_.steps[flying_->last], left);
    now_ += left;
    End(static_cast<size_t>(std::exchange(flying_, nullptr) - tasks_.data()));
  }
  void RunOnHost(Order& order) {
    const size_t t = Take(hosts_);
    order.Add(given_.steps[tasks_[t].first], tasks_[t].cycles);
    now_ += tasks_[t].cycles;
    End(t);
  }

  const std::vector<Task>& tasks_;
  const Order& given_;
  const uint64_t most_;
  std::vector<uint64_t> ranks_;
  std::vector<size_t> missing_;  ///< How many of those that a task comes after have not ended.
  std::vector<std::vector<size_t>> readers_;
  Ready hosts_, jobs_;
  const Task* flying_ = nullptr;
  uint64_t now_ = 0, submitted_ = 0, end_ = 0;
};

/// Scopes of control flow, and the steps from `end` on, stay where they are.
Order Reorder(const ir::Graph& graph, const Order& given, size_t end, uint64_t most, First first) {
  Order order;
  for (size_t s = 0; s < given.steps.size();) {
    Section section(graph, given);
    for (; s < end && backend::ScopeLength(given.steps[s]) == 0; s = section.tasks.back().last + 1) section.Add(s);
    ListScheduler(section.tasks, given, most, first).Run(order);
    const size_t scope_end = s < end ? s + 1 + backend::ScopeLength(given.steps[s]) : given.steps.size();
    for (; s < scope_end; ++s) order.Add(given.steps[s], given.costs[s]);
  }
  return order;
}

bool FitsMemories(const ir::Graph& graph, const Order& order, const Compilation& made, const Machine& machine) {
  const memory::Liveness liveness = memory::ComputeLiveness(graph, order.steps);
  const memory::ArenaPlacement placed = memory::PlaceInArenas(liveness, made.device.second);
  const MemoryNeeds needs = NeedsOf(graph, order.steps, made, liveness, placed, machine);
  return Fits(needs, machine, machine.feature_memory) && Fits(needs, machine, machine.spill_memory);
}

void Take(Order order, Compilation& made) {
  std::vector<backend::JobSpec> specs;
  std::vector<CompiledJob> jobs;
  for (StepSpec& step : order.steps) {
    if (step.op == Op::kSubmit) {
      specs.push_back(std::move(made.device.jobs[JobOf(step)]));
      jobs.push_back(std::move(made.jobs[JobOf(step)]));
    }
    if (IsDeviceStep(step)) SetJob(step, jobs.size() - 1);
  }
  made.device.jobs = std::move(specs), made.jobs = std::move(jobs);
  made.steps = std::move(order.steps), made.device.costs = std::move(order.costs);
}

}  // namespace

void OverlapJobs(const ir::Graph& graph, const Machine& machine, size_t commits, uint64_t max_step_cycles,
                 Compilation& made, Diagnostics& diagnostics) {
  Order best = {made.steps, made.device.costs};
  const Order given = best;
  uint64_t fastest = given.cycles();
  for (const First first : {First::kLongestPath, First::kGivenOrder}) {
    Order order = Reorder(graph, given, given.steps.size() - commits, max_step_cycles, first);
    fastest = std::min(fastest, order.cycles());
    if (order.cycles() < best.cycles() && FitsMemories(graph, order, made, machine)) best = std::move(order);
  }
  const ModelLocation whole = {graph.name, -1, "", ""};
  const uint64_t before = given.cycles(), cycles = best.cycles();
  if (cycles < before)
    diagnostics.Note(whole, absl::StrCat("the host runs steps while jobs are in flight, which saves ", before - cycles,
                                         " of ", before, " cycles"));
  if (fastest < cycles)
    diagnostics.Note(whole, absl::StrCat("more steps of the host while jobs are in flight would save ",
                                         cycles - fastest, " cycles, but need more memory than there is"));
  if (cycles < before) Take(std::move(best), made);
}

}  // namespace takt::npu
