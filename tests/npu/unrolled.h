// A stream as it was before its repetitions became loops.
#ifndef TAKT_TESTS_NPU_UNROLLED_H_
#define TAKT_TESTS_NPU_UNROLLED_H_

#include <gtest/gtest.h>

#include <span>
#include <vector>

#include "ports/npu_emu/model/walker.h"
#include "tests/npu/npu_fixture.h"

namespace takt::npu {

/// Header and fields of a command, the step registers of `walker` added to its addresses.
inline std::vector<std::byte> Resolved(const Command& command, const Walker& walker) {
  std::vector<std::byte> bytes(command.fields - 4, command.fields + 4 * command.words);
  size_t at = 4;
  for (const Field& field : FindMicroOp(static_cast<uint8_t>(command.op))->fields) {
    if (field.kind != FieldKind::kAddress) break;  // in every row they come first
    Address a;
    std::memcpy(&a, &bytes[at], sizeof(a));
    EXPECT_LE(walker.Resolve(a), UINT32_MAX);
    a = {a.space, 0, 0, static_cast<uint32_t>(walker.Resolve(a))};
    std::memcpy(&bytes[at], &a, sizeof(a));
    at += sizeof(a);
  }
  return bytes;
}

/// Its commands one by one; `positions` of commands, ascending, move along.
inline StreamWriter Unrolled(const Stream& stream, std::span<uint32_t> positions = {}) {
  StreamWriter w;
  for (uint32_t i = 0; i < kMaxBases; ++i) w.SetBaseMemory(i, stream.header.base_memory[i]);
  Walker walker(stream.commands);
  size_t moved = 0;
  const auto move = [&] {
    for (; moved < positions.size() && positions[moved] <= walker.position(); ++moved) positions[moved] = w.position();
  };
  for (Command c = walker.Next(); c.op != MicroOp::kEnd; c = walker.Next()) {
    move();
    w.Append(Resolved(c, walker));
  }
  move();
  return w;
}

}  // namespace takt::npu

#endif  // TAKT_TESTS_NPU_UNROLLED_H_
