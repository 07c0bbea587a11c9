// The command pipe in front of queues of limited depth.
#ifndef TAKT_PORTS_NPU_EMU_MODEL_COMMAND_QUEUES_H_
#define TAKT_PORTS_NPU_EMU_MODEL_COMMAND_QUEUES_H_

#include "ports/npu_emu/model/moment.h"
#include "ports/npu_emu/model/walker.h"

namespace takt::npu {

/// Issues commands in program order; stands still while the queue of the next one's pipe is full. In a checked stream
/// every Set comes before its Wait, so that the first command that has not started can always start.
class CommandQueues {
 public:
  CommandQueues(const Stream& stream, const Machine& machine);

  /// False: no queue is ever full, and the calls below may be left out.
  bool limited() const { return depth_ != 0; }
  /// When pipe p's next command is issued; nullptr: not before another pipe goes on.
  const Moment* Front(int p) const { return queues_[p].count == 0 ? nullptr : &queues_[p].issued[queues_[p].first]; }
  /// Pipe p's next command starts. True if that let others be issued.
  bool Pop(int p, const Moment& start);
  /// How long the command pipe has stood still.
  Ticks waited() const { return waited_; }

 private:
  struct Queue {
    Moment issued[kMaxQueueDepth];
    uint32_t first = 0, count = 0;
  };
  bool Issue();
  void Spend();

  const Machine& machine_;
  const uint32_t depth_;
  Walker walker_;
  Command next_;
  Moment free_;  ///< When the command pipe can issue `next_`.
  Ticks waited_ = 0;
  Queue queues_[kPipes];
};

}  // namespace takt::npu

#endif  // TAKT_PORTS_NPU_EMU_MODEL_COMMAND_QUEUES_H_
