// What the engine asks of the board.
#ifndef TAKT_ENGINE_HAL_PLATFORM_H_
#define TAKT_ENGINE_HAL_PLATFORM_H_

#include <cstdint>

namespace takt {

/// A monotonic clock, real or virtual; `now` returns ticks. The caller owns `context`.
struct Clock {
  uint64_t (*now)(void* context) = nullptr;
  void* context = nullptr;

  uint64_t Now() const { return now != nullptr ? now(context) : 0; }
};

}  // namespace takt

#endif  // TAKT_ENGINE_HAL_PLATFORM_H_
