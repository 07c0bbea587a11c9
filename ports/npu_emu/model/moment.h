// A time together with the latencies that led to it.
#ifndef TAKT_PORTS_NPU_EMU_MODEL_MOMENT_H_
#define TAKT_PORTS_NPU_EMU_MODEL_MOMENT_H_

#include "ports/npu_emu/model/cost.h"

namespace takt::npu {

/// Latencies on the chain of waits that decided a time: how fast it grows with each memory's latency. In 1 /
/// kWholeTrip; below 0 where a later start leaves another transfer more of a memory.
struct RoundTrips {
  int32_t read[kMaxMemories] = {}, written[kMaxMemories] = {};

  int64_t Sum() const {
    int64_t sum = 0;
    for (int i = 0; i < kMaxMemories; ++i) sum += int64_t{read[i]} + written[i];
    return sum;
  }
};
inline constexpr int32_t kWholeTrip = 256;

struct Moment {
  Ticks time = 0;
  RoundTrips trips;

  /// Ties go to more latencies: those decide as soon as any latency grows.
  bool Before(const Moment& other) const {
    return time < other.time || (time == other.time && trips.Sum() < other.trips.Sum());
  }
};

}  // namespace takt::npu

#endif  // TAKT_PORTS_NPU_EMU_MODEL_MOMENT_H_
