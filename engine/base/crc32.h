// CRC-32 (IEEE 802.3, as zlib's).
#ifndef TAKT_ENGINE_BASE_CRC32_H_
#define TAKT_ENGINE_BASE_CRC32_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace takt {

/// `before`: the CRC of what came before these bytes.
uint32_t Crc32(std::span<const std::byte> bytes, uint32_t before = 0);

}  // namespace takt

#endif  // TAKT_ENGINE_BASE_CRC32_H_
