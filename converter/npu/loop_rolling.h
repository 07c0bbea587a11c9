// Repetitions in a stream as counted loops.
#ifndef TAKT_CONVERTER_NPU_LOOP_ROLLING_H_
#define TAKT_CONVERTER_NPU_LOOP_ROLLING_H_

#include <span>

#include "converter/npu/stream_writer.h"

namespace takt::npu {

/// The same commands in the same order, with the same addresses once step registers are added, in at most as many
/// bytes. `unrolled` has no loops and no End. No loop goes across one of `positions` of commands, ascending, which move
/// along.
StreamWriter RollLoops(const StreamWriter& unrolled, std::span<uint32_t> positions);

}  // namespace takt::npu

#endif  // TAKT_CONVERTER_NPU_LOOP_ROLLING_H_
