// How long a stream takes on a machine: a pure function of both, with or without data, the same on every host.
//
// Every pipe runs its commands in order. start = max(pipe free, events waited for, command issued, banks free); a
// compute command holds its pipe for its cost; a transfer holds it until its last burst is sent and is done one latency
// later. Transfers that use one memory at once share it evenly, as turns burst by burst do in the limit; between two
// changes of their number each goes on at a constant rate, so that time passes from change to change. Ties go by pipe.
#ifndef TAKT_PORTS_NPU_EMU_MODEL_TIMING_H_
#define TAKT_PORTS_NPU_EMU_MODEL_TIMING_H_

#include "ports/npu_emu/model/activity.h"
#include "ports/npu_emu/model/moment.h"
#include "ports/npu_emu/model/walker.h"

namespace takt::npu {

/// Where a pipe's time went; the parts sum exactly to Timing::total.
struct PipeTime {
  Ticks busy = 0;             ///< Computing, or moving at the speed that it has alone.
  Ticks contention = 0;       ///< Moving slower because others use the memory.
  Ticks link = 0;             ///< Computing slower because what every core needs comes late.
  Ticks ports = 0;            ///< Waiting for a port of a bank.
  Ticks sync = 0;             ///< What Set and Wait themselves cost.
  Ticks issue = 0;            ///< Waiting for the command pipe.
  Ticks queue = 0;            ///< The command pipe: waiting for room in a queue.
  Ticks events[kPipes] = {};  ///< Waiting for an event that this pipe sets.
  Ticks drain = 0;            ///< After its last command.

  Ticks Sum() const;
};

struct Timing {
  Ticks total = 0;
  PipeTime pipes[kPipes];
  Activity activity;
  uint64_t commands = 0;   ///< Issued: loops unrolled, their control not counted.
  RoundTrips round_trips;  ///< d(total) / d(latency) of each memory.

  /// Whole cycles, rounded up.
  uint64_t Cycles(const Machine& machine) const { return CeilDiv(total, uint64_t{1} << machine.tick_shift); }
};

/// One command's stay on its pipe: it holds the pipe in [start, free) and its result is there at `done`. `position` is
/// its byte in the stream. A Wait is free once it has its event; a Set is done when that counts.
struct Span {
  Command command;
  const Walker& walker;  ///< That resolves its addresses, until the sink returns.
  uint32_t position = 0;
  Ticks start = 0, free = 0, done = 0;
};
struct SpanSink {
  void (*on_span)(void* context, const Span& span) = nullptr;
  void* context = nullptr;
};

/// `stream` and `machine` have been checked. kLimitExceeded at kNpuTime if the time overflows; kMalformedPlan at
/// kNpuDeadlock.
Status Evaluate(const Stream& stream, const Machine& machine, Timing& timing, const SpanSink& sink = {});

}  // namespace takt::npu

#endif  // TAKT_PORTS_NPU_EMU_MODEL_TIMING_H_
