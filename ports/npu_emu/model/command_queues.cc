#include "ports/npu_emu/model/command_queues.h"

namespace takt::npu {

CommandQueues::CommandQueues(const Stream& stream, const Machine& machine)
    : machine_(machine), depth_(machine.queue_depth), walker_(stream.commands) {
  if (!limited()) return;
  free_.time = ScaleUp(machine.job_cycles, {1, 1}, machine.tick_shift);
  next_ = walker_.Next();
  Issue();
}

void CommandQueues::Spend() {
  const Ticks cost = ScaleUp(machine_.issue_cycles, {1, 1}, machine_.tick_shift);
  free_.time = cost > kOverflow - free_.time ? kOverflow : free_.time + cost;
}

/// All that has room.
bool CommandQueues::Issue() {
  bool issued = false;
  while (next_.op != MicroOp::kEnd) {
    Queue& queue = queues_[static_cast<int>(next_.pipe)];
    if (queue.count == depth_) break;
    Spend();
    queue.issued[(queue.first + queue.count++) % kMaxQueueDepth] = free_;
    issued = true;
    next_ = walker_.Next();
  }
  return issued;
}

bool CommandQueues::Pop(int p, const Moment& start) {
  Queue& queue = queues_[p];
  const bool stood = queue.count == depth_ && next_.op != MicroOp::kEnd && static_cast<int>(next_.pipe) == p;
  queue.first = (queue.first + 1) % kMaxQueueDepth;
  --queue.count;
  if (!stood) return false;
  if (free_.time < start.time) waited_ += start.time - free_.time;
  if (free_.Before(start)) free_ = start;
  return Issue();
}

}  // namespace takt::npu
