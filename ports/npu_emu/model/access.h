// Which bytes a command reads and writes: one function for range checks, ordering checks and time.
#ifndef TAKT_PORTS_NPU_EMU_MODEL_ACCESS_H_
#define TAKT_PORTS_NPU_EMU_MODEL_ACCESS_H_

#include "ports/npu_emu/model/walker.h"

namespace takt::npu {

/// Bytes [begin, end) of a space: the smallest interval around what is touched.
struct Access {
  uint8_t space = 0;
  bool read = false;
  bool write = false;
  uint8_t alignment = 1;  ///< That `begin` must have.
  uint64_t begin = 0, end = 0;
};

/// At most four for every command; Set, Wait and End have none.
struct AccessList {
  Access items[4];
  uint32_t count = 0;

  void Add(Address a, uint64_t begin, uint64_t bytes, bool write, uint8_t alignment = 1) {
    items[count++] = {a.space, !write, write, alignment, begin, begin + bytes};
  }
};

/// The accesses of `command`, whose step registers are those of `walker`.
AccessList AccessesOf(const Command& command, const Walker& walker);

/// Bytes of one channel's entry in a requantization table: float32, or a multiplier and a shift.
inline uint64_t TableEntryBytes(uint32_t numerics) {
  return numerics == 2 ? 8 : 4;
}

}  // namespace takt::npu

#endif  // TAKT_PORTS_NPU_EMU_MODEL_ACCESS_H_
