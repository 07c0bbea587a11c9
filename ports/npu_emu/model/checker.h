// Proves that a stream can run: each command decodes and stays inside its memory, each on-chip byte is written before
// it is read, and whatever two pipes do to the same bytes is ordered by events. A stream that passes has no faults at
// run time.
#ifndef TAKT_PORTS_NPU_EMU_MODEL_CHECKER_H_
#define TAKT_PORTS_NPU_EMU_MODEL_CHECKER_H_

#include "ports/npu_emu/model/machine.h"

namespace takt::npu {

struct BaseLimits {
  uint64_t bytes = 0;
  bool writable = false;
};

/// Of a stream, loop control included: they bound what its check takes.
inline constexpr uint64_t kMaxCommands = uint64_t{1} << 24;

/// One bit for every 16 bytes of on-chip buffers: `MarkBytes(machine)` bytes, the caller's.
uint32_t MarkBytes(const Machine& machine);

/// Walks the whole stream once. kMalformedPlan with the command's byte offset as detail:
/// kNpuStream, kNpuCommand, kNpuLoop, kNpuRange, kNpuUnready, kNpuUnordered, kNpuDeadlock, kNpuEventLeft.
/// kLimitExceeded at kNpuLoop if it runs more than kMaxCommands. Adds to `work`, saturating, what it computes: bytes
/// moved, products, cells of windows, and one for each command.
Status CheckStream(const Stream& stream, const Machine& machine, std::span<const BaseLimits> bases,
                   std::span<std::byte> marks, uint64_t& work);

}  // namespace takt::npu

#endif  // TAKT_PORTS_NPU_EMU_MODEL_CHECKER_H_
