#include "engine/base/crc32.h"

namespace takt {

uint32_t Crc32(std::span<const std::byte> bytes, uint32_t before) {
  static constexpr uint32_t kNibble[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
                                           0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                           0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
  uint32_t crc = ~before;
  for (const std::byte b : bytes) {
    crc ^= static_cast<uint8_t>(b);
    crc = (crc >> 4) ^ kNibble[crc & 15];
    crc = (crc >> 4) ^ kNibble[crc & 15];
  }
  return ~crc;
}

}  // namespace takt
