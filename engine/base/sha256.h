// SHA-256 (FIPS 180-4).
#ifndef TAKT_ENGINE_BASE_SHA256_H_
#define TAKT_ENGINE_BASE_SHA256_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace takt {

/// Writes the digest of `bytes` to `digest`. No state, no allocation.
void Sha256(std::span<const std::byte> bytes, uint8_t digest[32]);

}  // namespace takt

#endif  // TAKT_ENGINE_BASE_SHA256_H_
