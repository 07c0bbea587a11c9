// Finds bits that flipped in a plan's constants, a little at a time.
#ifndef TAKT_ENGINE_CORE_SCRUBBER_H_
#define TAKT_ENGINE_CORE_SCRUBBER_H_

#include <cstdint>

#include "engine/base/status.h"
#include "engine/plan/plan.h"

namespace takt {

/// Goes round and round over the constants of an open plan and compares their CRC-32. Between invocations or beside
/// them: it only reads.
class ConstantScrubber {
 public:
  explicit ConstantScrubber(const Plan& plan) : plan_(plan) {}

  /// Reads the next `budget` bytes, at most to the end of a round. kHashMismatch (kPlanConstantCrc; detail: constant)
  /// when a constant ends whose bytes are not those of the plan as it was written; the next call goes on behind it.
  Status Scrub(uint64_t budget);
  /// How often all constants were read.
  uint32_t rounds() const { return rounds_; }

 private:
  const Plan& plan_;
  uint32_t constant_ = 0;
  uint64_t offset_ = 0;
  uint32_t crc_ = 0;
  uint32_t rounds_ = 0;
};

}  // namespace takt

#endif  // TAKT_ENGINE_CORE_SCRUBBER_H_
