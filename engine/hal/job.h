// A job as a device sees it.
#ifndef TAKT_ENGINE_HAL_JOB_H_
#define TAKT_ENGINE_HAL_JOB_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace takt {

inline constexpr int kMaxJobBases = 16;
/// Of one plan at a time, on all its devices.
inline constexpr int kMaxJobsInFlight = 8;

/// A command stream and its base table. Valid during the call only; memory behind `stream` and `bases` stays until the
/// next Init of the interpreter that prepared the job.
struct Job {
  uint16_t id = 0;  ///< Index of the plan's job.
  std::span<const std::byte> stream;
  std::span<const std::span<std::byte>> bases;
  uint32_t read_only = 0;  ///< Bit i: base i is a constant, which no command may write.
};

enum class JobState : uint8_t { kRunning = 0, kDone, kFailed };

}  // namespace takt

#endif  // TAKT_ENGINE_HAL_JOB_H_
