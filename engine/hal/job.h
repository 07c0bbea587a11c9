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
  uint32_t id = 0;  ///< On its device: the index of the plan's job behind InitOptions::first_job.
  std::span<const std::byte> stream;
  std::span<const std::span<std::byte>> bases;
  uint32_t read_only = 0;  ///< Bit i: no command may write base i. Steps run meanwhile that read it.
};

/// Ids of the jobs of one plan.
struct JobRange {
  uint32_t first = 0, count = 0;
  bool Has(uint32_t id) const { return id - first < count; }
  bool Overlaps(JobRange other) const { return first < other.first + other.count && other.first < first + count; }
};

enum class JobState : uint8_t { kRunning = 0, kDone, kFailed };

}  // namespace takt

#endif  // TAKT_ENGINE_HAL_JOB_H_
