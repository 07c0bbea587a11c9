// What can go wrong in a job of the emulated NPU: for tests of detection and recovery.
#ifndef TAKT_PORTS_NPU_EMU_FAULT_H_
#define TAKT_PORTS_NPU_EMU_FAULT_H_

#include <cstdint>

namespace takt::npu {

enum class FaultKind : uint8_t {
  kNone = 0,
  kDmaError,           ///< The stream stops at a command; the job fails at its end.
  kScratchpadFlip,     ///< A bit of the on-chip buffers flips before a command.
  kMemoryFlip,         ///< A bit of one of the job's bases flips before a command.
  kHang,               ///< The job never ends: only a deadline helps.
  kSpuriousInterrupt,  ///< The device wakes whoever waits before the job's end.
  kSlowMemory,         ///< The job takes eight times as long.
  kReset,  ///< The device restarts at a command: jobs in flight fail, none is taken before Reset (then Prepare).
};

struct Fault {
  FaultKind kind = FaultKind::kNone;
  uint32_t skip = 0;     ///< Jobs that are submitted before the one that it strikes.
  uint32_t command = 0;  ///< Of the stream as it runs, loops unrolled; past the end: nothing happens.
  uint32_t base = 0;     ///< kMemoryFlip; modulo the job's bases.
  uint64_t bit = 0;      ///< Of the flips; modulo the memory's size.
};

}  // namespace takt::npu

#endif  // TAKT_PORTS_NPU_EMU_FAULT_H_
