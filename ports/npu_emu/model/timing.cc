#include "ports/npu_emu/model/timing.h"

#include "ports/npu_emu/model/bank_ports.h"
#include "ports/npu_emu/model/command_queues.h"

namespace takt::npu {
namespace {

constexpr Ticks kHorizon = Ticks{1} << 62;  // sums of two times below it do not overflow

/// A transfer under way. Each of its bursts takes a period; from now on all are of one length.
struct Transfer {
  Traffic traffic;
  Ticks start = 0, alone = 0, finish = 0, period = 0;
  RoundTrips trips;  ///< Of `finish`.
};

/// Sets not yet taken: when, and by which pipe.
struct EventQueue {
  struct Entry {
    Moment moment;
    Pipe pipe;
  };
  Entry entries[kMaxEventCount];
  uint32_t first = 0, count = 0;
  Entry taken;  ///< When the last one was, and by which pipe.
};

struct PipeState {
  explicit PipeState(std::span<const std::byte> commands) : walker(commands) {}
  Walker walker;
  Command command;
  bool has_command = false, ended = false, moving = false, blocked = false;
  const EventQueue* awaits = nullptr;  ///< What its Wait found empty.
  Ticks issued = 0;                    ///< When its command is, if no queue is ever full.
  Moment ready;                        ///< When the pipe can take its next command.
  Moment done;                         ///< When all it has done is visible.
  Transfer transfer;
};

class Simulation {
 public:
  Simulation(const Stream& stream, const Machine& machine, Timing& timing, const SpanSink& sink)
      : stream_(stream),
        machine_(machine),
        timing_(timing),
        sink_(sink),
        pipes_{P(), P(), P(), P(), P(), P()},
        ports_(machine),
        queues_(stream, machine) {}

  Status Run();

 private:
  PipeState P() const { return PipeState(stream_.commands); }
  PipeTime& Time(int p) { return timing_.pipes[p]; }
  void AdvanceTo(int p, Ticks to, Ticks& bucket);
  void WaitFor(int p, const Moment& moment, Ticks& bucket);
  bool Fetch(PipeState& pipe, int p);
  bool RunCommands(int p, Ticks now);
  bool WaitForIssue(int p);
  bool TakePorts(int p, Ticks now);
  void Compute(int p);
  void Synchronize(int p, uint32_t cycles);
  bool TakeEvent(int p, uint32_t event);
  bool HasRoom(int p, uint32_t event, Ticks now);
  void PostEvent(int p, uint32_t event);
  void BeginTransfer(int p, Ticks now);
  void EndTransfer(int p);
  void Share(int memory, const Moment& now);
  void Report(const PipeState& pipe, Ticks start);
  Status Fault(StatusCode code, Site site) const;

  const Stream& stream_;
  const Machine& machine_;
  Timing& timing_;
  const SpanSink& sink_;
  PipeState pipes_[kPipes];
  EventQueue events_[kMaxEvents];
  BankPorts ports_;
  CommandQueues queues_;
  bool wants_room_ = false;  ///< A Set does, that may go on after any Wait.
  bool overflow_ = false;
  uint32_t fault_position_ = 0;
};

Status Simulation::Fault(StatusCode code, Site site) const {
  return {code, site, fault_position_};
}

/// Lets pipe p's time pass up to `to`; the bucket says what for.
void Simulation::AdvanceTo(int p, Ticks to, Ticks& bucket) {
  PipeState& pipe = pipes_[p];
  if (to <= pipe.ready.time) return;
  bucket += to - pipe.ready.time;
  pipe.ready.time = to;
  if (to >= kHorizon) overflow_ = true;
}

/// As AdvanceTo; what decides the pipe's time from now on is what decided `moment`.
void Simulation::WaitFor(int p, const Moment& moment, Ticks& bucket) {
  if (!pipes_[p].ready.Before(moment)) return;
  pipes_[p].ready.trips = moment.trips;
  AdvanceTo(p, moment.time, bucket);
}

bool Simulation::Fetch(PipeState& pipe, int p) {
  if (pipe.has_command) return true;
  pipe.command = pipe.walker.NextOn(static_cast<Pipe>(p));
  pipe.ended = pipe.command.op == MicroOp::kEnd;
  pipe.has_command = !pipe.ended;
  if (!queues_.limited())
    pipe.issued =
        ScaleUp(pipe.walker.issued() * machine_.issue_cycles + machine_.job_cycles, {1, 1}, machine_.tick_shift);
  return pipe.has_command;
}

void Simulation::Report(const PipeState& pipe, Ticks start) {
  if (sink_.on_span != nullptr) {
    sink_.on_span(sink_.context,
                  {pipe.command, pipe.walker, pipe.walker.position(), start, pipe.ready.time, pipe.done.time});
  }
}

/// Lets pipe p's time pass until its next command is issued; false if nobody knows when.
bool Simulation::WaitForIssue(int p) {
  if (!queues_.limited()) {
    WaitFor(p, {pipes_[p].issued, {}}, Time(p).issue);
    return true;
  }
  const Moment* issued = queues_.Front(p);
  if (issued != nullptr) WaitFor(p, *issued, Time(p).issue);
  return issued != nullptr;
}

/// Whether pipe p's command, which is ready at or before `now`, has ports; it has waited for them until now.
bool Simulation::TakePorts(int p, Ticks now) {
  PipeState& pipe = pipes_[p];
  if (!ports_.limited()) return true;
  if (!ports_.Take(p, AccessesOf(pipe.command, pipe.walker), pipe.ready.time)) return false;
  if (pipe.ready.time < now) WaitFor(p, ports_.released(), Time(p).ports);
  return true;
}

void Simulation::Synchronize(int p, uint32_t cycles) {
  if (cycles != 0) AdvanceTo(p, pipes_[p].ready.time + ScaleUp(cycles, {1, 1}, machine_.tick_shift), Time(p).sync);
}

void Simulation::Compute(int p) {
  PipeState& pipe = pipes_[p];
  const Ticks cost = ComputeTicks(machine_, pipe.command), link = LinkTicks(machine_, pipe.command, cost);
  if (cost >= kHorizon || link >= kHorizon) {
    overflow_ = true;
    return;
  }
  timing_.activity.Count(machine_, stream_.header, pipe.command);
  AdvanceTo(p, pipe.ready.time + cost, Time(p).busy);
  AdvanceTo(p, pipe.ready.time + link, Time(p).link);
  pipe.done = pipe.ready;
  ports_.HoldUntil(p, pipe.ready);
}

/// Runs what pipe p can start at or before `now`; true if another pipe may go on for it.
bool Simulation::RunCommands(int p, Ticks now) {
  PipeState& pipe = pipes_[p];
  bool changed = false;
  if (pipe.awaits != nullptr && pipe.awaits->count == 0) {
    fault_position_ = pipe.walker.position();
    return false;
  }
  pipe.awaits = nullptr;
  pipe.blocked = false;
  while (!pipe.moving && !overflow_ && Fetch(pipe, p)) {
    pipe.blocked = !WaitForIssue(p);
    if (!pipe.blocked && pipe.ready.time > now) return changed;
    const MicroOp op = pipe.command.op;
    const Ticks start = pipe.ready.time;
    if (op == MicroOp::kWait) {
      pipe.blocked = pipe.blocked || !TakeEvent(p, pipe.command.as<Wait>().event);
    } else if (op == MicroOp::kSet) {
      pipe.blocked = pipe.blocked || !HasRoom(p, pipe.command.as<Set>().event, now);
      if (pipe.ready.time > now) return changed;
    } else {
      pipe.blocked = pipe.blocked || !TakePorts(p, now);
    }
    if (pipe.blocked) {
      fault_position_ = pipe.walker.position();
      return changed;
    }
    if (queues_.limited()) changed = queues_.Pop(p, pipe.ready) || changed;
    if (op == MicroOp::kCopy) {
      BeginTransfer(p, now);
      continue;
    }
    if (op == MicroOp::kSet) {
      Synchronize(p, machine_.set_cycles);
      PostEvent(p, pipe.command.as<Set>().event);
      changed = true;
    } else if (op == MicroOp::kWait) {
      Synchronize(p, machine_.wait_cycles);
      changed = changed || wants_room_;
      wants_room_ = false;
    } else {
      Compute(p);
      changed = ports_.Release(now) || changed;
    }
    Report(pipe, start);
    pipe.has_command = false;
  }
  return changed;
}

void Simulation::PostEvent(int p, uint32_t event) {
  EventQueue& queue = events_[event];
  const PipeState& pipe = pipes_[p];
  const Moment& moment = pipe.ready.Before(pipe.done) ? pipe.done : pipe.ready;
  queue.entries[(queue.first + queue.count++) % kMaxEventCount] = {moment, static_cast<Pipe>(p)};
}

bool Simulation::TakeEvent(int p, uint32_t event) {
  EventQueue& queue = events_[event];
  if (queue.count == 0) {
    pipes_[p].awaits = &queue;
    return false;
  }
  const EventQueue::Entry& entry = queue.entries[queue.first];
  queue.first = (queue.first + 1) % kMaxEventCount;
  --queue.count;
  WaitFor(p, entry.moment, Time(p).events[static_cast<int>(entry.pipe)]);
  queue.taken = {pipes_[p].ready, static_cast<Pipe>(p)};
  return true;
}

/// Whether pipe p may set an event: one that was set too often has to be taken first.
bool Simulation::HasRoom(int p, uint32_t event, Ticks now) {
  const EventQueue& queue = events_[event];
  wants_room_ = wants_room_ || queue.count == kMaxEventCount;
  if (queue.count == kMaxEventCount) return false;
  if (pipes_[p].ready.time < now) WaitFor(p, queue.taken.moment, Time(p).events[static_cast<int>(queue.taken.pipe)]);
  return true;
}

int32_t Saturated(int64_t trips) {
  return static_cast<int32_t>(trips > INT32_MAX ? INT32_MAX : trips < INT32_MIN ? INT32_MIN : trips);
}

/// What is left of `t` at `now` goes on at another period: finish = now + (finish - now) * period / t.period.
void Rescale(const Moment& now, Ticks period, Transfer& t) {
  constexpr Ticks kLong = Ticks{1} << 28;  // the products below fit; the periods differ by at most a factor of kPipes
  Ticks from = t.period, to = period;
  for (; from > kLong || to > kLong; from = from >> 1 | 1) to >>= 1;
  const Ticks left = t.finish - now.time;
  t.finish = now.time + left / from * to + CeilDiv(left % from * to, from);
  const auto rescale = [&](int32_t at, int32_t& trips) {
    trips = Saturated(at + (int64_t{trips} - at) * static_cast<int64_t>(to) / static_cast<int64_t>(from));
  };
  for (int i = 0; i < kMaxMemories; ++i) {
    rescale(now.trips.read[i], t.trips.read[i]);
    rescale(now.trips.written[i], t.trips.written[i]);
  }
  t.period = period;
}

/// Gives each transfer on `memory` its period for the number that share it from `now` on.
void Simulation::Share(int memory, const Moment& now) {
  uint32_t sharing = 0;
  for (const PipeState& pipe : pipes_) sharing += pipe.moving && pipe.transfer.traffic.memory == memory;
  for (int p = 0; p < kPipes; ++p) {
    Transfer& t = pipes_[p].transfer;
    if (!pipes_[p].moving || t.traffic.memory != memory) continue;
    const Ticks period = BurstTicks(machine_, static_cast<Pipe>(p), t.traffic, sharing);
    if (period != t.period) Rescale(now, period, t);
  }
}

void Simulation::BeginTransfer(int p, Ticks now) {
  PipeState& pipe = pipes_[p];
  Transfer& t = pipe.transfer;
  t.traffic = TrafficOf(machine_, stream_.header, pipe.command.as<Copy>());
  t.alone = TransferTicks(machine_, static_cast<Pipe>(p), t.traffic);
  if (t.alone >= kHorizon / kPipes) {
    overflow_ = true;
    return;
  }
  timing_.activity.Count(machine_, stream_.header, pipe.command);
  t.start = now;
  t.finish = now + t.alone;
  t.trips = pipe.ready.trips;
  t.period = BurstTicks(machine_, static_cast<Pipe>(p), t.traffic, 1);
  pipe.moving = true;
  if (t.traffic.memory >= 0) Share(t.traffic.memory, {now, t.trips});
}

/// Latencies that a transfer waits for because too few bursts may be outstanding.
int64_t WindowTrips(const Machine& machine, Pipe pipe, const Traffic& traffic) {
  if (!LatencyBound(machine, pipe, traffic)) return 0;
  return static_cast<int64_t>(traffic.bursts * kWholeTrip / machine.memories[traffic.memory].outstanding);
}

void Simulation::EndTransfer(int p) {
  PipeState& pipe = pipes_[p];
  const Transfer& t = pipe.transfer;
  AdvanceTo(p, t.start + t.alone, Time(p).busy);
  AdvanceTo(p, t.finish, Time(p).contention);
  if (t.traffic.memory >= 0) {
    const auto trips = [&](RoundTrips& r) -> int32_t& {
      return (t.traffic.write ? r.written : r.read)[t.traffic.memory];
    };
    pipe.ready.trips = t.trips;
    int32_t& window = trips(pipe.ready.trips);
    window = Saturated(window + WindowTrips(machine_, static_cast<Pipe>(p), t.traffic));
    Moment done = pipe.ready;
    done.time += LatencyTicks(machine_, t.traffic);
    trips(done.trips) = Saturated(int64_t{window} + kWholeTrip);
    if (pipe.done.Before(done)) pipe.done = done;
  } else if (pipe.done.Before(pipe.ready)) {
    pipe.done = pipe.ready;
  }
  pipe.moving = false;
  ports_.HoldUntil(p, pipe.ready);
  Report(pipe, t.start);
  pipe.has_command = false;
  if (t.traffic.memory >= 0) Share(t.traffic.memory, {t.finish, pipe.ready.trips});
}

Status Simulation::Run() {
  for (Ticks now = 0;;) {
    for (int p = 1; p < kPipes; ++p) {
      if (pipes_[p].moving && pipes_[p].transfer.finish <= now) EndTransfer(p);
    }
    ports_.Release(now);
    for (bool changed = true; changed;) {
      changed = false;
      for (int p = 1; p < kPipes; ++p) changed = RunCommands(p, now) || changed;
    }
    if (overflow_) return Fault(StatusCode::kLimitExceeded, Site::kNpuTime);
    Ticks next = ports_.NextRelease();
    bool all_ended = true;
    for (int p = 1; p < kPipes; ++p) {
      const PipeState& pipe = pipes_[p];
      all_ended = all_ended && pipe.ended;
      if (pipe.ended || pipe.blocked) continue;
      const Ticks at = pipe.moving ? pipe.transfer.finish : pipe.ready.time;
      next = at < next ? at : next;
    }
    if (all_ended) break;
    if (next == kOverflow) return Fault(StatusCode::kMalformedPlan, Site::kNpuDeadlock);
    if (next >= kHorizon) return Fault(StatusCode::kLimitExceeded, Site::kNpuTime);
    now = next;
  }
  timing_.commands = pipes_[1].walker.issued();
  const Ticks issued = ScaleUp(timing_.commands * machine_.issue_cycles, {1, 1}, machine_.tick_shift);
  AdvanceTo(0, ScaleUp(machine_.job_cycles, {1, 1}, machine_.tick_shift), Time(0).issue);
  AdvanceTo(0, pipes_[0].ready.time + issued, Time(0).busy);
  AdvanceTo(0, pipes_[0].ready.time + queues_.waited(), Time(0).queue);
  Moment end;
  for (const PipeState& pipe : pipes_) {
    const Moment& last = pipe.ready.Before(pipe.done) ? pipe.done : pipe.ready;
    if (end.Before(last)) end = last;
  }
  timing_.total = end.time;
  timing_.round_trips = end.trips;
  for (int p = 0; p < kPipes; ++p) AdvanceTo(p, timing_.total, Time(p).drain);
  return overflow_ ? Fault(StatusCode::kLimitExceeded, Site::kNpuTime) : Status();
}

}  // namespace

Ticks PipeTime::Sum() const {
  Ticks sum = busy + contention + link + ports + sync + issue + queue + drain;
  for (const Ticks t : events) sum += t;
  return sum;
}

Status Evaluate(const Stream& stream, const Machine& machine, Timing& timing, const SpanSink& sink) {
  timing = {};
  return Simulation(stream, machine, timing, sink).Run();
}

}  // namespace takt::npu
