// What a pipe knows about the others.
#ifndef TAKT_PORTS_NPU_EMU_MODEL_CLOCK_H_
#define TAKT_PORTS_NPU_EMU_MODEL_CLOCK_H_

#include "ports/npu_emu/model/micro_op.h"

namespace takt::npu {

/// How many commands of every pipe are known to be done: a vector clock.
struct Clock {
  uint32_t done[kPipes] = {};

  void Join(const Clock& other) {
    for (int p = 0; p < kPipes; ++p) done[p] = other.done[p] > done[p] ? other.done[p] : done[p];
  }
  /// Whether it knows all that `other` does.
  bool Covers(const Clock& other) const {
    bool covers = true;
    for (int p = 0; p < kPipes; ++p) covers = covers && other.done[p] <= done[p];
    return covers;
  }
};

}  // namespace takt::npu

#endif  // TAKT_PORTS_NPU_EMU_MODEL_CLOCK_H_
