// The last 128 bytes of a plan file; shared by the reader (plan.cc) and the converter's writer.
#ifndef TAKT_ENGINE_PLAN_TRAILER_H_
#define TAKT_ENGINE_PLAN_TRAILER_H_

#include <cstddef>
#include <cstdint>

namespace takt {

/// File = metadata (FlatBuffer), zeros up to a multiple of kSegmentAlignment, data segment, trailer. Little-endian.
inline constexpr uint32_t kSegmentAlignment = 64;
inline constexpr uint32_t kConstantAlignment = 16;
inline constexpr char kTrailerMagic[8] = {'T', 'A', 'K', 'T', 'P', 'L', 'A', 'N'};
/// A reader refuses another major version; minor versions only add fields.
inline constexpr uint16_t kPlanMajor = 1;
inline constexpr uint16_t kPlanMinor = 0;

/// Signatures are over this, the trailer up to its hash, and the hash.
inline constexpr char kSignatureDomain[] = "takt plan v1";

struct PlanTrailer {
  char magic[8];
  uint32_t metadata_bytes;  ///< Of the FlatBuffer, without the padding.
  uint32_t reserved;        ///< 0
  uint64_t total_bytes;     ///< Of the file, trailer included.
  uint8_t sha256[32];       ///< Of all bytes before the trailer.
  uint8_t key_id[8];        ///< 0: not signed.
  uint8_t signature[64];
};
static_assert(sizeof(PlanTrailer) == 128 && alignof(PlanTrailer) == 8);

/// Start of the data segment in the file.
constexpr uint32_t SegmentOffset(uint32_t metadata_bytes) {
  return (metadata_bytes + kSegmentAlignment - 1) & ~(kSegmentAlignment - 1);
}

}  // namespace takt

#endif  // TAKT_ENGINE_PLAN_TRAILER_H_
