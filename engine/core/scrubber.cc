#include "engine/core/scrubber.h"

#include "engine/base/crc32.h"

namespace takt {

Status ConstantScrubber::Scrub(uint64_t budget) {
  while (budget > 0) {
    if (constant_ == plan_.constant_count()) {
      constant_ = 0;
      ++rounds_;
      return {};
    }
    const ConstantView constant = plan_.constant(constant_);
    const uint64_t left = constant.bytes.size() - offset_, part = budget < left ? budget : left;
    crc_ = Crc32(constant.bytes.subspan(static_cast<size_t>(offset_), static_cast<size_t>(part)), crc_);
    offset_ += part;
    budget -= part;
    if (part < left) return {};
    const bool same = crc_ == constant.crc32;
    const uint32_t index = constant_++;
    offset_ = crc_ = 0;
    if (!same) return {StatusCode::kHashMismatch, Site::kPlanConstantCrc, index};
  }
  return {};
}

}  // namespace takt
