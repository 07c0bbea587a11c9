#include "converter/memory/order_search.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

namespace takt::memory {
namespace {

using Order = std::vector<int>;
constexpr int64_t kBudget = 2'000'000;  // Tasks looked at; about 0.1 s.

/// Bytes during a task and after it.
struct Effect {
  int64_t during = 0;
  int64_t after = 0;
};

class Simulator {
 public:
  explicit Simulator(const OrderProblem& problem)
      : problem_(problem), readers_(problem.values.size()), writers_(problem.values.size()) {
    for (size_t t = 0; t < problem.tasks.size(); ++t) {
      for (int v : problem.tasks[t].reads) Add(readers_[Index(v)], static_cast<int>(t));
      for (int v : problem.tasks[t].writes) Add(writers_[Index(v)], static_cast<int>(t));
    }
    for (const OrderProblem::Value& v : problem.values) at_start_ += v.input ? v.bytes : 0;
  }

  int64_t at_start() const { return at_start_; }

  bool Ready(const std::vector<bool>& done, size_t task) const {
    const auto& after = problem_.tasks[task].after;
    return !done[task] && std::all_of(after.begin(), after.end(), [&](int t) { return done[Index(t)]; });
  }

  /// Of running `task` when `live` bytes live after the tasks `done`.
  Effect Run(const std::vector<bool>& done, int64_t live, size_t task) const {
    const OrderProblem::Task& t = problem_.tasks[task];
    Effect effect{live + t.scratch, live};
    for (int v : t.writes) {
      const bool fresh = !problem_.values[Index(v)].input && !AnyDone(done, writers_[Index(v)]);
      if (fresh) effect.during += Bytes(v), effect.after += Bytes(v);
      if (Dies(done, task, v)) effect.after -= Bytes(v);
    }
    for (int v : t.reads) {
      const bool counted = std::find(t.writes.begin(), t.writes.end(), v) != t.writes.end();
      if (!counted && Dies(done, task, v)) effect.after -= Bytes(v);
    }
    if (std::any_of(t.in_place.begin(), t.in_place.end(), [&](int v) { return Dies(done, task, v); })) {
      effect.during -= Bytes(t.writes[0]);
    }
    return effect;
  }

 private:
  static size_t Index(int i) { return static_cast<size_t>(i); }
  static void Add(Order& list, int task) {
    if (list.empty() || list.back() != task) list.push_back(task);
  }
  int64_t Bytes(int v) const { return problem_.values[Index(v)].bytes; }
  static bool AnyDone(const std::vector<bool>& done, const Order& tasks) {
    return std::any_of(tasks.begin(), tasks.end(), [&](int t) { return done[Index(t)]; });
  }
  bool Dies(const std::vector<bool>& done, size_t task, int v) const {
    const auto over = [&](int t) { return Index(t) == task || done[Index(t)]; };
    const Order& readers = readers_[Index(v)];
    const Order& writers = writers_[Index(v)];
    return !problem_.values[Index(v)].output && std::all_of(readers.begin(), readers.end(), over) &&
           std::all_of(writers.begin(), writers.end(), over);
  }

  const OrderProblem& problem_;
  std::vector<Order> readers_, writers_;  ///< Tasks by value, each once.
  int64_t at_start_ = 0;
};

/// Finished tasks, and how the search came there.
struct State {
  std::vector<bool> done;
  int64_t live;
  int64_t peak;
  size_t count;
  size_t parent;
  int task;
};

/// Best first: the next state is the one with the lowest peak so far, then most tasks done, then oldest.
class BestFirst {
 public:
  explicit BestFirst(const OrderProblem& problem) : simulator_(problem), count_(problem.tasks.size()) {}

  std::optional<Order> Run() {
    Push({std::vector<bool>(count_), simulator_.at_start(), simulator_.at_start(), 0, 0, -1});
    while (!queue_.empty()) {
      const size_t at = std::get<2>(queue_.top());
      queue_.pop();
      if (states_[at].count == count_) return PathTo(at);
      if (!seen_.insert(states_[at].done).second) continue;
      if ((budget_ -= static_cast<int64_t>(count_)) < 0) return std::nullopt;
      Expand(at);
    }
    return std::nullopt;
  }

 private:
  void Push(State state) {
    queue_.emplace(state.peak, count_ - state.count, states_.size());
    states_.push_back(std::move(state));
  }

  /// A task that raises neither the peak nor what lives after it can't be a mistake: then no other is tried.
  void Expand(size_t at) {
    const State from = states_[at];
    std::vector<State> next;
    for (size_t t = 0; t < count_; ++t) {
      if (!simulator_.Ready(from.done, t)) continue;
      const Effect effect = simulator_.Run(from.done, from.live, t);
      State to{from.done, effect.after, std::max(from.peak, effect.during), from.count + 1, at, static_cast<int>(t)};
      to.done[t] = true;
      if (effect.during <= from.peak && effect.after <= from.live) {
        Push(std::move(to));
        return;
      }
      next.push_back(std::move(to));
    }
    for (State& state : next) Push(std::move(state));
  }

  Order PathTo(size_t at) const {
    Order order;
    for (; states_[at].task >= 0; at = states_[at].parent) order.push_back(states_[at].task);
    std::reverse(order.begin(), order.end());
    return order;
  }

  Simulator simulator_;
  size_t count_;
  int64_t budget_ = kBudget;
  std::vector<State> states_;
  std::set<std::vector<bool>> seen_;
  using Entry = std::tuple<int64_t, size_t, size_t>;  ///< Peak, tasks left, state.
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
};

/// Always the task that needs least, then leaves least, then comes first.
Order Greedy(const OrderProblem& problem) {
  const Simulator simulator(problem);
  std::vector<bool> done(problem.tasks.size());
  int64_t live = simulator.at_start();
  Order order;
  while (order.size() < done.size()) {
    std::tuple<int64_t, int64_t, size_t> best{INT64_MAX, 0, 0};
    for (size_t t = 0; t < done.size(); ++t) {
      if (!simulator.Ready(done, t)) continue;
      const Effect effect = simulator.Run(done, live, t);
      best = std::min(best, {effect.during, effect.after, t});
    }
    const size_t task = std::get<2>(best);
    live = std::get<1>(best);
    done[task] = true;
    order.push_back(static_cast<int>(task));
  }
  return order;
}

}  // namespace

int64_t OrderPeak(const OrderProblem& problem, const Order& order) {
  const Simulator simulator(problem);
  std::vector<bool> done(problem.tasks.size());
  int64_t live = simulator.at_start();
  int64_t peak = live;
  for (int t : order) {
    const Effect effect = simulator.Run(done, live, static_cast<size_t>(t));
    peak = std::max(peak, effect.during);
    live = effect.after;
    done[static_cast<size_t>(t)] = true;
  }
  return peak;
}

Order LowestPeakOrder(const OrderProblem& problem) {
  Order given(problem.tasks.size());
  std::iota(given.begin(), given.end(), 0);
  const std::optional<Order> searched = BestFirst(problem).Run();
  Order found = searched ? *searched : Greedy(problem);
  return OrderPeak(problem, found) < OrderPeak(problem, given) ? found : given;
}

}  // namespace takt::memory
