// What the engine asks of the board.
#ifndef TAKT_ENGINE_HAL_PLATFORM_H_
#define TAKT_ENGINE_HAL_PLATFORM_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/base/status.h"

namespace takt {

/// A monotonic clock, real or virtual; `now` returns ticks. The caller owns `context`.
struct Clock {
  uint64_t (*now)(void* context) = nullptr;
  void* context = nullptr;

  uint64_t Now() const { return now != nullptr ? now(context) : 0; }
};

/// A job that takes more than so many times what the plan says that all its steps take is taken for hung.
inline constexpr uint64_t kHangFactor = 16;

/// Functions of the board; nullptr: there is nothing to do. The cache functions and the barrier are called around jobs
/// of devices whose caps are not coherent. The caller owns `context`.
struct Platform {
  Clock clock;
  /// Writes cached lines of `bytes` back, before a device reads or overwrites them.
  void (*cache_clean)(void* context, std::span<std::byte> bytes) = nullptr;
  /// Drops cached lines of `bytes`, after a device has written them.
  void (*cache_invalidate)(void* context, std::span<std::byte> bytes) = nullptr;
  /// Orders the core's accesses to memory with those of devices.
  void (*barrier)(void* context) = nullptr;
  /// The watchdog: most ticks of the clock that a run waits for the last job that it submitted, or for a device that
  /// other plans keep busy, until it fails with kDeviceFault. 0: of its own job, kHangFactor times what the plan says
  /// that its steps cost, in ticks that must then be the clock's; no bound if the plan states no costs or there is no
  /// clock, and none for others' jobs. UINT64_MAX: no bound.
  uint64_t most_job_ticks = 0;
  /// A device cannot be stopped, so that memory changes under the application's hands. Not expected to return.
  void (*panic)(void* context, Status status) = nullptr;
  void* context = nullptr;
};

}  // namespace takt

#endif  // TAKT_ENGINE_HAL_PLATFORM_H_
