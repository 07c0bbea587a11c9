// A job as a device sees it.
#ifndef TAKT_ENGINE_HAL_JOB_H_
#define TAKT_ENGINE_HAL_JOB_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace takt {

inline constexpr int kMaxJobBases = 16;

/// A command stream and its base table. Valid during the call only; memory behind `bases` stays until the next Init.
struct Job {
  uint16_t id = 0;  ///< Index of the plan's job.
  std::span<const std::byte> stream;
  std::span<const std::span<std::byte>> bases;
};

enum class JobState : uint8_t { kRunning = 0, kDone, kFailed };

}  // namespace takt

#endif  // TAKT_ENGINE_HAL_JOB_H_
