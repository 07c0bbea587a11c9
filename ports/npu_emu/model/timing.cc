#include "ports/npu_emu/model/timing.h"

#include "ports/npu_emu/model/walker.h"

namespace takt::npu {
namespace {

constexpr Ticks kHorizon = Ticks{1} << 62;  // sums of two times below it do not overflow

/// A time, and the latencies that led to it.
struct Moment {
  Ticks time = 0;
  RoundTrips trips;

  /// Ties go to more latencies: those decide as soon as any latency grows.
  bool Before(const Moment& other) const {
    return time < other.time || (time == other.time && trips.Sum() < other.trips.Sum());
  }
};

/// A transfer under way: the burst in flight began at `begun` and ends at `next`, `left` more follow, one a period.
struct Transfer {
  Traffic traffic;
  Ticks start = 0, alone = 0, begun = 0, next = 0, period = 0;
  uint64_t left = 0;
  RoundTrips trips;  ///< Of the time at which it will finish.

  Ticks Finish() const { return next + left * period; }
  /// Counts the bursts that have ended by `now`; one in flight keeps its period, those that begin from now on take
  /// `new_period`.
  void Rebase(Ticks now, Ticks new_period) {
    if (begun < now && next <= now && left > 0) {
      uint64_t ended = 1 + (now - next) / period;
      if (ended > left) ended = left;
      next += ended * period;
      begun = next - period;
      left -= ended;
    }
    period = new_period;
    if (begun == now) next = now + new_period;
  }
};

struct PipeState {
  explicit PipeState(std::span<const std::byte> commands) : walker(commands) {}
  Walker walker;
  Command command;
  bool has_command = false, ended = false, moving = false, blocked = false;
  Moment ready;  ///< When the pipe can take its next command.
  Moment done;   ///< When all it has done is visible.
  Transfer transfer;
};

/// Sets not yet taken: when, and by which pipe.
struct EventQueue {
  struct Entry {
    Moment moment;
    Pipe pipe;
  };
  Entry entries[kMaxEventCount];
  uint32_t first = 0, count = 0;
};

class Simulation {
 public:
  Simulation(const Stream& stream, const Machine& machine, Timing& timing, const SpanSink& sink)
      : stream_(stream), machine_(machine), timing_(timing), sink_(sink), pipes_{P(), P(), P(), P(), P(), P()} {}

  Status Run();

 private:
  PipeState P() const { return PipeState(stream_.commands); }
  PipeTime& Time(int p) { return timing_.pipes[p]; }
  void AdvanceTo(int p, Ticks to, Ticks& bucket);
  void WaitFor(int p, const Moment& moment, Ticks& bucket);
  bool Fetch(PipeState& pipe, int p);
  bool RunCommands(int p, Ticks now);
  bool TakeEvent(int p, uint32_t event);
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
  return pipe.has_command;
}

void Simulation::Report(const PipeState& pipe, Ticks start) {
  if (sink_.on_span != nullptr) {
    sink_.on_span(sink_.context, {pipe.command, pipe.walker.position(), start, pipe.ready.time, pipe.done.time});
  }
}

/// Runs what pipe p can start at or before `now`; true if it set an event.
bool Simulation::RunCommands(int p, Ticks now) {
  PipeState& pipe = pipes_[p];
  bool posted = false;
  pipe.blocked = false;
  while (!pipe.moving && !overflow_ && Fetch(pipe, p)) {
    const uint64_t issued = pipe.walker.issued() * machine_.issue_cycles + machine_.job_cycles;
    WaitFor(p, {ScaleUp(issued, {1, 1}, machine_.tick_shift), {}}, Time(p).issue);
    if (pipe.ready.time > now) return posted;
    const Ticks start = pipe.ready.time;
    switch (pipe.command.op) {
      case MicroOp::kSet:
        PostEvent(p, pipe.command.as<Set>().event);
        posted = true;
        Report(pipe, start);
        break;
      case MicroOp::kWait:
        if (!TakeEvent(p, pipe.command.as<Wait>().event)) {
          pipe.blocked = true;
          fault_position_ = pipe.walker.position();
          return posted;
        }
        Report(pipe, start);
        break;
      case MicroOp::kCopy:
        BeginTransfer(p, now);
        continue;
      default: {
        const Ticks cost = ComputeTicks(machine_, pipe.command);
        if (cost >= kHorizon) {
          overflow_ = true;
          return posted;
        }
        AdvanceTo(p, pipe.ready.time + cost, Time(p).busy);
        pipe.done = pipe.ready;
        if (pipe.command.op == MicroOp::kContract) timing_.macs += ContractionOf(pipe.command.as<Contract>()).macs();
        if (pipe.command.op == MicroOp::kDepthwise) timing_.macs += ContractionOf(pipe.command.as<Depthwise>()).macs();
        Report(pipe, start);
      }
    }
    pipe.has_command = false;
  }
  return posted;
}

void Simulation::PostEvent(int p, uint32_t event) {
  EventQueue& queue = events_[event];
  const PipeState& pipe = pipes_[p];
  const Moment& moment = pipe.ready.Before(pipe.done) ? pipe.done : pipe.ready;
  queue.entries[(queue.first + queue.count++) % kMaxEventCount] = {moment, static_cast<Pipe>(p)};
}

bool Simulation::TakeEvent(int p, uint32_t event) {
  EventQueue& queue = events_[event];
  if (queue.count == 0) return false;
  const EventQueue::Entry& entry = queue.entries[queue.first];
  queue.first = (queue.first + 1) % kMaxEventCount;
  --queue.count;
  WaitFor(p, entry.moment, Time(p).events[static_cast<int>(entry.pipe)]);
  return true;
}

/// With finish = now + (finish - now) * new_period / period, what d(finish) becomes.
void Rescale(const RoundTrips& now, Ticks period, Ticks new_period, RoundTrips& finish) {
  const auto rescale = [&](int32_t at, int32_t& trips) {
    trips = at + static_cast<int32_t>((int64_t{trips} - at) * static_cast<int64_t>(new_period) /
                                      static_cast<int64_t>(period));
  };
  for (int i = 0; i < kMaxMemories; ++i) {
    rescale(now.read[i], finish.read[i]);
    rescale(now.written[i], finish.written[i]);
  }
}

/// Gives each transfer on `memory` its period for the number that share it from `now` on.
void Simulation::Share(int memory, const Moment& now) {
  uint32_t sharing = 0;
  for (const PipeState& pipe : pipes_) sharing += pipe.moving && pipe.transfer.traffic.memory == memory;
  for (int p = 0; p < kPipes; ++p) {
    Transfer& t = pipes_[p].transfer;
    if (!pipes_[p].moving || t.traffic.memory != memory) continue;
    const Ticks period = BurstTicks(machine_, static_cast<Pipe>(p), t.traffic, sharing);
    if (period != t.period) Rescale(now.trips, t.period, period, t.trips);
    t.Rebase(now.time, period);
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
  t.start = t.begun = now;
  t.trips = pipe.ready.trips;
  t.period = BurstTicks(machine_, static_cast<Pipe>(p), t.traffic, 1);
  t.left = t.traffic.bursts - 1;
  pipe.moving = true;
  if (t.traffic.memory < 0) {
    t.next = now + t.period;
    return;
  }
  (t.traffic.write ? timing_.written_bytes : timing_.read_bytes)[t.traffic.memory] += t.traffic.bytes;
  Share(t.traffic.memory, {now, t.trips});
}

/// Latencies that a transfer waits for because too few bursts may be outstanding.
int32_t WindowTrips(const Machine& machine, Pipe pipe, const Traffic& traffic) {
  if (!LatencyBound(machine, pipe, traffic)) return 0;
  return static_cast<int32_t>(traffic.bursts * kWholeTrip / machine.memories[traffic.memory].outstanding);
}

void Simulation::EndTransfer(int p) {
  PipeState& pipe = pipes_[p];
  const Transfer& t = pipe.transfer;
  const Ticks finish = t.Finish();
  AdvanceTo(p, finish < t.start + t.alone ? finish : t.start + t.alone, Time(p).busy);
  AdvanceTo(p, finish, Time(p).contention);
  if (t.traffic.memory >= 0) {
    RoundTrips& trips = pipe.ready.trips;
    trips = t.trips;
    (t.traffic.write ? trips.written : trips.read)[t.traffic.memory] +=
        WindowTrips(machine_, static_cast<Pipe>(p), t.traffic);
    Moment done = pipe.ready;
    done.time += LatencyTicks(machine_, t.traffic);
    (t.traffic.write ? done.trips.written : done.trips.read)[t.traffic.memory] += kWholeTrip;
    if (pipe.done.Before(done)) pipe.done = done;
  } else if (pipe.done.Before(pipe.ready)) {
    pipe.done = pipe.ready;
  }
  pipe.moving = false;
  Report(pipe, t.start);
  pipe.has_command = false;
  if (t.traffic.memory >= 0) Share(t.traffic.memory, {finish, pipe.ready.trips});
}

Status Simulation::Run() {
  for (Ticks now = 0;;) {
    for (int p = 1; p < kPipes; ++p) {
      if (pipes_[p].moving && pipes_[p].transfer.Finish() <= now) EndTransfer(p);
    }
    for (bool posted = true; posted;) {
      posted = false;
      for (int p = 1; p < kPipes; ++p) posted = RunCommands(p, now) || posted;
    }
    if (overflow_) return Fault(StatusCode::kLimitExceeded, Site::kNpuTime);
    Ticks next = kOverflow;
    bool all_ended = true;
    for (int p = 1; p < kPipes; ++p) {
      const PipeState& pipe = pipes_[p];
      all_ended = all_ended && pipe.ended;
      if (pipe.ended || pipe.blocked) continue;
      const Ticks at = pipe.moving ? pipe.transfer.Finish() : pipe.ready.time;
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
  Ticks sum = busy + contention + issue + drain;
  for (const Ticks t : events) sum += t;
  return sum;
}

int64_t RoundTrips::Sum() const {
  int64_t sum = 0;
  for (int i = 0; i < kMaxMemories; ++i) sum += int64_t{read[i]} + written[i];
  return sum;
}

uint64_t Timing::Femtojoules(const Machine& machine) const {
  uint64_t sum = macs * machine.array.femtojoule_per_mac;
  for (uint32_t i = 0; i < machine.memory_count; ++i) {
    sum += (read_bytes[i] + written_bytes[i]) * machine.memories[i].femtojoule_per_byte;
  }
  return sum;
}

Status Evaluate(const Stream& stream, const Machine& machine, Timing& timing, const SpanSink& sink) {
  timing = {};
  return Simulation(stream, machine, timing, sink).Run();
}

}  // namespace takt::npu
