// What commands compute and move, and the energy that it takes; the area of the machine that does it.
#ifndef TAKT_PORTS_NPU_EMU_MODEL_ACTIVITY_H_
#define TAKT_PORTS_NPU_EMU_MODEL_ACTIVITY_H_

#include "ports/npu_emu/model/cost.h"

namespace takt::npu {

/// Counts of a stream or a part of it; they saturate.
struct Activity {
  uint64_t macs = 0;
  uint64_t elements = 0;                      ///< That the vector unit takes: results, of pools the cells.
  uint64_t wide_macs = 0, wide_elements = 0;  ///< Those of int16x8 among them.
  /// Read and written on chip. The array takes an operand as often as its dataflow has it: what stays in the array
  /// while others pass counts once, what passes counts each time.
  uint64_t buffer_bytes[kBuffers] = {};
  uint64_t read_bytes[kMaxMemories] = {}, written_bytes[kMaxMemories] = {};

  /// A command of a checked stream.
  void Count(const Machine& machine, const StreamHeader& header, const Command& command);
  void Merge(const Activity& other);
  /// Of all memories.
  uint64_t Bytes() const;
};

/// In femtojoules, saturating; a part whose figure the machine does not state is 0.
struct Energy {
  uint64_t array = 0, vector = 0, buffers = 0, memories = 0;

  uint64_t Sum() const;
};
Energy EnergyOf(const Activity& activity, const Machine& machine);

/// In square micrometres; 0: not stated.
struct Area {
  uint64_t array = 0, buffers = 0;
};
Area AreaOf(const Machine& machine);

}  // namespace takt::npu

#endif  // TAKT_PORTS_NPU_EMU_MODEL_ACTIVITY_H_
