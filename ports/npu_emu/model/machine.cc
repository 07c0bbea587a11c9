#include "ports/npu_emu/model/machine.h"

#include <cstring>
#include <initializer_list>

namespace takt::npu {
namespace {

constexpr uint32_t kMaxCycles = 1 << 24;
constexpr uint32_t kMaxPart = 1 << 20;
constexpr uint32_t kMinBuffer = 64;
constexpr uint32_t kMaxBuffer = 256 << 20;

bool Sane(Ratio r) {
  return r.den > 0 && r.den < kMaxPart && r.num < kMaxPart;
}
bool Positive(Ratio r) {
  return Sane(r) && r.num > 0;
}
bool BufferOk(uint32_t bytes) {
  return bytes >= kMinBuffer && bytes <= kMaxBuffer;
}
constexpr bool IsPowerOfTwo(uint32_t n) {
  return n != 0 && (n & (n - 1)) == 0;
}

BrokenRule CheckMemories(const Machine& m) {
  if (m.memory_count < 1 || m.memory_count > kMaxMemories || m.feature_memory >= m.memory_count ||
      m.constant_memory >= m.memory_count || m.spill_memory >= m.memory_count) {
    return {MachineRule::kMemories};
  }
  for (uint32_t i = 0; i < m.memory_count; ++i) {
    const Memory& mem = m.memories[i];
    if (!Positive(mem.bytes_per_cycle)) return {MachineRule::kBandwidth, i};
    if (mem.burst_bytes < 1 || mem.burst_bytes > 65536 || mem.outstanding < 1 || mem.outstanding > 65536) {
      return {MachineRule::kBurst, i};
    }
    if (mem.read_latency >= kMaxCycles || mem.write_latency >= kMaxCycles) return {MachineRule::kLatency, i};
  }
  return {};
}

BrokenRule CheckBuffers(const Machine& m) {
  for (uint32_t b = 0; b <= static_cast<uint32_t>(Buffer::kSkip); ++b) {
    if (!BufferOk(m.buffers[b].bytes)) return {MachineRule::kBuffer, b};
  }
  const uint32_t a = m.buffer(Buffer::kFeatureA), w = m.buffer(Buffer::kWeightB);
  if ((a != 0 || w != 0) && !(BufferOk(a) && BufferOk(w))) return {MachineRule::kLevels};
  for (uint32_t i = 0; i < kBuffers; ++i) {
    const BufferSpec& b = m.buffers[i];
    if (!IsPowerOfTwo(b.granule) || (b.bytes != 0 && b.granule > b.bytes / kSlots)) return {MachineRule::kGranule, i};
    if (!IsPowerOfTwo(b.banks) || b.banks > kMaxBanks || b.ports >= kPipes) return {MachineRule::kBanks, i};
  }
  return {};
}

bool SizesOk(std::initializer_list<uint16_t> sizes) {
  for (const uint16_t n : sizes) {
    if (n < 1 || n > 4096) return false;
  }
  return true;
}

MachineRule CheckArray(const Machine& m) {
  const Array& a = m.array;
  if (!SizesOk({a.width, a.height, a.depth, a.reduction, a.cores})) return MachineRule::kArray;
  if (a.fill >= kMaxCycles || a.kind >= ArrayKind::kCount) return MachineRule::kArray;
  if (a.split >= CoreSplit::kCount || !Sane(a.link_bytes_per_cycle) || a.link_latency >= kMaxCycles) {
    return MachineRule::kCores;
  }
  return a.weights_per_cycle < kMaxPart ? MachineRule::kOk : MachineRule::kDecoder;
}

MachineRule CheckInt16x8(const Int16x8& wide) {
  if (wide.width == 0 && wide.height == 0 && wide.depth == 0 && wide.reduction == 0) return MachineRule::kOk;
  bool ok = SizesOk({wide.width, wide.height, wide.depth, wide.reduction});
  for (const Ratio r : wide.vector) ok = ok && Sane(r);
  return ok ? MachineRule::kOk : MachineRule::kInt16x8;
}

BrokenRule CheckPipes(const Machine& m) {
  if ((m.feature_pipe != Pipe::kLoad && m.feature_pipe != Pipe::kOperand) ||
      (m.pool_pipe != Pipe::kMac && m.pool_pipe != Pipe::kVector)) {
    return {MachineRule::kPipe};
  }
  for (const Pipe pipe : {Pipe::kLoad, Pipe::kOperand, Pipe::kStore}) {
    const auto index = static_cast<uint32_t>(pipe);
    if (!Positive(m.port[index])) return {MachineRule::kPort, index};
  }
  for (const Ratio r : m.vector) {
    if (!Sane(r)) return {MachineRule::kVector};
  }
  const bool host =
      Sane(m.host.cycles_per_mac) && Sane(m.host.cycles_per_element) && m.host.cycles_per_step < kMaxCycles;
  return {host ? CheckInt16x8(m.int16x8) : MachineRule::kHost};
}

}  // namespace

const char* BufferName(Buffer buffer) {
  constexpr const char* kNames[kBuffers] = {"feature",   "weight", "accumulator", "output",
                                            "parameter", "skip",   "feature_a",   "weight_b"};
  return kNames[static_cast<int>(buffer)];
}

Array Machine::ArrayOf(Type type) const {
  Array a = array;
  if (type == Type::kInt8) return a;
  a.width = int16x8.width, a.height = int16x8.height, a.depth = int16x8.depth, a.reduction = int16x8.reduction;
  a.femtojoule_per_mac = int16x8.femtojoule_per_mac;
  return a;
}

uint32_t Machine::buffer_total() const {
  uint32_t total = 0;
  for (const BufferSpec& b : buffers) total += (b.bytes + 63) & ~63u;
  return total;
}

BrokenRule CheckMachine(const Machine& m) {
  if (m.magic != kMachineMagic || m.version != kMachineVersion) return {MachineRule::kForm};
  if (m.clock_hz < 1 || m.clock_hz > 100000000000u) return {MachineRule::kClock};
  if (m.tick_shift > 16) return {MachineRule::kTick};
  if (m.issue_cycles >= kMaxCycles || m.job_cycles >= kMaxCycles) return {MachineRule::kIssue};
  if (m.set_cycles >= kMaxCycles || m.wait_cycles >= kMaxCycles) return {MachineRule::kEvents};
  if (m.queue_depth > kMaxQueueDepth) return {MachineRule::kQueue};
  if (const BrokenRule broken = CheckMemories(m); broken.rule != MachineRule::kOk) return broken;
  if (const BrokenRule broken = CheckBuffers(m); broken.rule != MachineRule::kOk) return broken;
  if (const MachineRule rule = CheckArray(m); rule != MachineRule::kOk) return {rule};
  if (m.whole_rows > 1) return {MachineRule::kTiles};
  return CheckPipes(m);
}

const char* MachineRuleText(MachineRule rule) {
  switch (rule) {
    case MachineRule::kOk:
      return "";
#define TAKT_MACHINE_RULE(name, text) \
  case MachineRule::name:             \
    return text;
#include "ports/npu_emu/model/machine_rules.inc"
#undef TAKT_MACHINE_RULE
  }
  return "unknown rule";
}

Status ReadMachine(std::span<const uint8_t> bytes, Machine& machine) {
  MachineRule rule = MachineRule::kForm;
  if (bytes.size() == sizeof(Machine)) {
    std::memcpy(static_cast<void*>(&machine), bytes.data(), sizeof(Machine));
    rule = CheckMachine(machine).rule;
  }
  if (rule == MachineRule::kOk) return {};
  return {StatusCode::kMalformedPlan, Site::kNpuMachine, static_cast<uint32_t>(rule)};
}

}  // namespace takt::npu
