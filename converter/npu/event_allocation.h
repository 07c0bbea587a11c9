// The fewest events that keep a stream's commands in order.
#ifndef TAKT_CONVERTER_NPU_EVENT_ALLOCATION_H_
#define TAKT_CONVERTER_NPU_EVENT_ALLOCATION_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace takt::npu {

/// Bytes at which `commands`, a whole stream without loops and End, has Sets and Waits that it can do without,
/// ascending: Waits whose pipe knows already, or from another Wait before its next command, that all is done which the
/// Set stands for, with those Sets; Waits that no command follows; Sets that nobody waits for. Without them all other
/// commands know exactly what they knew. The n-th Wait of an event takes its n-th Set, before and after.
std::vector<uint32_t> SpareEvents(std::span<const std::byte> commands);

}  // namespace takt::npu

#endif  // TAKT_CONVERTER_NPU_EVENT_ALLOCATION_H_
