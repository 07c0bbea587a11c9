// A small machine with round numbers, and streams for it.
#ifndef TAKT_TESTS_NPU_NPU_FIXTURE_H_
#define TAKT_TESTS_NPU_NPU_FIXTURE_H_

#include <vector>

#include "converter/npu/stream_writer.h"
#include "ports/npu_emu/model/checker.h"
#include "ports/npu_emu/model/timing.h"

namespace takt::npu {

/// 1 byte a cycle from the one memory, bursts of 4, latency 10, no limit by outstanding bursts; a cube of 1 x 1 x 1.
inline Machine PlainMachine() {
  Machine m;
  m.clock_hz = 1000000;
  m.memory_count = 1;
  m.memories[0].bytes_per_cycle = {1, 1};
  m.memories[0].burst_bytes = 4;
  m.memories[0].read_latency = m.memories[0].write_latency = 10;
  m.memories[0].outstanding = 1000;
  for (int b = 0; b <= static_cast<int>(Buffer::kSkip); ++b) m.buffers[b].bytes = 1024;
  for (Ratio& port : m.port) port = {1000, 1};
  m.array.kind = ArrayKind::kCube;
  for (Ratio& v : m.vector) v = {1, 1};
  return m;
}

inline Address At(Buffer buffer, uint32_t offset = 0) {
  return {static_cast<uint8_t>(buffer), 0, 0, offset};
}
inline Address Base(uint8_t base, uint32_t offset = 0) {
  return {static_cast<uint8_t>(kFirstBase + base), 0, 0, offset};
}

/// A dense copy of `bytes`.
inline Copy Move(Address from, Address to, uint32_t bytes) {
  return {.from = from, .to = to, .row_bytes = bytes, .from_row = bytes, .to_row = bytes};
}

/// A stream's bytes, and its view.
struct Built {
  explicit Built(StreamWriter writer) : bytes(writer.Finish()) {
    (void)OpenStream(std::as_bytes(std::span(bytes)), stream);
  }
  Status Check(const Machine& machine, std::vector<BaseLimits> bases = {{4096, true}, {4096, true}}) const {
    std::vector<std::byte> marks(MarkBytes(machine));
    uint64_t work = 0;
    return CheckStream(stream, machine, bases, marks, work);
  }
  Timing Time(const Machine& machine) const {
    Timing timing;
    const Status status = Evaluate(stream, machine, timing);
    if (!status.ok()) timing.total = UINT64_MAX;
    return timing;
  }

  std::vector<uint8_t> bytes;
  Stream stream;
};

}  // namespace takt::npu

#endif  // TAKT_TESTS_NPU_NPU_FIXTURE_H_
