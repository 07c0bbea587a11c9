// Any bytes as a stream of the emulated NPU, on one of three machines: proved, timed, run. The first byte chooses.
#include <array>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "converter/npu/machine_json.h"
#include "ports/npu_emu/npu_emu.h"

namespace {

using namespace takt;

constexpr size_t kBases = 4, kBaseBytes = 4096;
constexpr uint64_t kMostWork = 1 << 24;  // Of a job; more would only take time.
struct alignas(64) Block {
  uint8_t bytes[kBaseBytes] = {};
};

using Overrides = std::vector<std::string>;

npu::Machine Preset(const char* name, const Overrides& overrides) {
  Diagnostics diagnostics;
  const auto machine = npu::ParseMachine(*npu::PresetJson(name), name, overrides, diagnostics);
  if (!machine) std::abort();
  return machine->table;
}

struct Target {
  explicit Target(const char* name, const Overrides& overrides = {})
      : machine(Preset(name, overrides)), workspace(npu::NpuEmu::WorkspaceBytes(machine) / 64 + 1) {
    const std::span table(reinterpret_cast<const uint8_t*>(&machine), sizeof(machine));
    const auto memory = std::as_writable_bytes(std::span(workspace.data(), workspace.size()));
    if (!device.Init(table, memory, clock).ok()) std::abort();
  }
  struct alignas(64) Line {
    uint8_t bytes[64];
  };
  npu::Machine machine;
  std::vector<Line> workspace;
  npu::VirtualClock clock;
  npu::NpuEmu device;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Overrides limits = {
      "queue_depth=2",          "set_cycles=3",           "wait_cycles=5", "buffers.feature.ports=1",
      "buffers.output.ports=1", "buffers.output.banks=4", "array.cores=2", "array.link_bytes_per_cycle=1/2"};
  static std::array<Target, 3> targets = {Target("ethos-u55-32"), Target("gemmini-16x16"),
                                          Target("davinci-tiny", limits)};
  if (size < 4) return 0;
  Target& target = targets[data[0] % targets.size()];
  std::vector<uint32_t> words(size / 4);  // Aligned, and of exactly its size for the sanitizer.
  std::memcpy(words.data(), data + 4, (words.size() - 1) * 4);
  words.pop_back();
  std::vector<Block> blocks(kBases);
  std::array<std::span<std::byte>, kBases> bases;
  for (size_t i = 0; i < kBases; ++i) bases[i] = std::as_writable_bytes(std::span(blocks[i].bytes));
  const Job job{0, std::as_bytes(std::span(words)), bases, 1};
  uint64_t work = 0;
  Status status = target.device.Prepare(job, work);
  if (!status.ok() || work > kMostWork) return 0;
  if (!target.device.Submit(job).ok() || target.device.Wait(0, {}, status) != JobState::kDone) std::abort();
  return 0;
}

#ifdef TAKT_FUZZ
#include "tests/fuzz/mutate.h"

/// Commands are words: one is changed, cut out, or repeated; the header's count is made to fit.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  std::minstd_rand random(seed);
  constexpr size_t kHead = 4 + sizeof(npu::StreamHeader);
  if (size < kHead + 4) return LLVMFuzzerMutate(data, size, max_size);
  size &= ~size_t{3};
  uint8_t* words = data + kHead;
  size_t bytes = size - kHead;
  const size_t at = random() % (bytes / 4) * 4, length = std::min(bytes - at, 4 + random() % 32 * 4);
  switch (random() % 4) {
    case 0:
      std::memmove(words + at, words + at + length, bytes - at - length);
      bytes -= length;
      break;
    case 1:
      if (size + length > max_size) break;
      std::memmove(words + at + length, words + at, bytes - at);
      bytes += length;
      break;
    case 2:
      data[0] = static_cast<uint8_t>(random());
      break;
    default:
      takt::test::MutateWord(words, bytes, random);
  }
  npu::StreamHeader header;
  std::memcpy(&header, data + 4, sizeof(header));
  header.magic = npu::kStreamMagic;
  header.words = static_cast<uint32_t>(bytes / 4);
  std::memcpy(data + 4, &header, sizeof(header));
  return kHead + bytes;
}
#endif
