// Follows a checked stream in program order: loops unrolled, step registers kept.
#ifndef TAKT_PORTS_NPU_EMU_MODEL_WALKER_H_
#define TAKT_PORTS_NPU_EMU_MODEL_WALKER_H_

#include "ports/npu_emu/model/micro_op.h"

namespace takt::npu {

/// A cursor without heap; copy it to walk the same stream several times at once.
class Walker {
 public:
  explicit Walker(std::span<const std::byte> commands) : commands_(commands) {}

  /// The next command that is not Loop, Next or Step; End again and again at the end.
  Command Next();
  /// As Next, but of one pipe only; others are passed over.
  Command NextOn(Pipe pipe);
  /// As Next, with each command decoded with checks. kMalformedPlan at kNpuCommand or kNpuLoop; kLimitExceeded at
  /// kNpuLoop once it has gone through more than `max_commands`, loop control included.
  Status NextChecked(Command& command, uint64_t max_commands);

  /// An address with its step register added.
  uint64_t Resolve(Address a) const { return uint64_t{a.offset} + steps_[a.step]; }
  /// Commands up to the last one, without loop control: the command pipe counts loops in hardware.
  uint64_t issued() const { return issued_; }
  /// Byte offset of the last command: what a fault names.
  uint32_t position() const { return position_; }

 private:
  struct Frame {
    uint32_t body = 0;
    uint32_t trips_left = 0;
    uint64_t steps[kStepRegisters] = {};
  };
  /// True if `command` was loop control.
  bool Control(const Command& command);

  std::span<const std::byte> commands_;
  uint32_t at_ = 0;
  uint32_t position_ = 0;
  uint64_t issued_ = 0;
  uint64_t control_ = 0;  ///< Of NextChecked.
  uint32_t depth_ = 0;
  Frame frames_[kMaxLoopDepth];
  uint64_t steps_[kStepRegisters] = {};
};

}  // namespace takt::npu

#endif  // TAKT_PORTS_NPU_EMU_MODEL_WALKER_H_
