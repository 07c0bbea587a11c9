// The bytes that a plan's signature is over.
#ifndef TAKT_ENGINE_PLAN_SIGNED_MESSAGE_H_
#define TAKT_ENGINE_PLAN_SIGNED_MESSAGE_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "engine/plan/plan.h"
#include "engine/plan/trailer.h"

namespace takt {

using SignedMessage = std::array<uint8_t, sizeof(kSignatureDomain) - 1 + offsetof(PlanTrailer, key_id)>;

/// Domain, header and hash, one after the other; false if they have other lengths.
inline bool Join(const SignedPlan& plan, SignedMessage& message) {
  if (plan.domain.size() + plan.header.size() + plan.sha256.size() != message.size()) return false;
  auto at = std::ranges::copy(plan.domain, message.begin()).out;
  for (const std::byte byte : plan.header) *at++ = static_cast<uint8_t>(byte);
  std::ranges::copy(plan.sha256, at);
  return true;
}

}  // namespace takt

#endif  // TAKT_ENGINE_PLAN_SIGNED_MESSAGE_H_
