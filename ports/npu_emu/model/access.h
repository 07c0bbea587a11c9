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

  void Add(Address a, uint64_t begin, uint64_t bytes, bool write, uint64_t alignment = 1) {
    items[count++] = {a.space, !write, write, static_cast<uint8_t>(alignment), begin, begin + bytes};
  }
};

/// The accesses of `command`, whose step registers are those of `walker`.
AccessList AccessesOf(const Command& command, const Walker& walker);

/// Bytes of one channel's entry in a requantization table: float32, or a multiplier and a shift.
constexpr uint64_t TableEntryBytes(Stage stage) {
  return stage == Stage::kFp32Rne ? 4 : 8;
}
/// Bytes of one channel's bias.
constexpr uint64_t BiasBytes(Type type, Stage stage) {
  return stage == Stage::kTfliteNarrow ? 4 : SumBytes(type);
}

}  // namespace takt::npu

#endif  // TAKT_PORTS_NPU_EMU_MODEL_ACCESS_H_
