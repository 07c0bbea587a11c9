// Models compile for machines never seen before: the stream's proof holds whatever the array, buffers and memories are.
#include <gtest/gtest.h>

#include <random>

#include "converter/backend/convert.h"
#include "converter/npu/machine_json.h"
#include "tests/converter/model_files.h"

namespace takt::npu {
namespace {

constexpr int kVariants = 6;  ///< Of every preset, for every model.

std::vector<std::string> Models() {
  return test::ModelFiles({"kws_ref_model", "vww_96_int8", "pretrainedResnet_quant"});
}

/// The preset with array, buffers, bandwidths and latencies drawn from powers of two; half of them with limited ports,
/// queues and links.
Machine Variant(const std::string& preset, std::mt19937& random) {
  Diagnostics diagnostics;
  Machine m = ParseMachine(*PresetJson(preset), preset, {}, diagnostics).value().table;
  const auto power = [&](uint32_t low, uint32_t high) { return uint32_t{1} << (low + random() % (high - low + 1)); };
  const auto any = [&](uint16_t& n) { n = static_cast<uint16_t>(n == 1 ? 1 : power(1, 5)); };
  any(m.array.width), any(m.array.height), any(m.array.depth), any(m.array.reduction);
  for (uint32_t i = 0; i < m.memory_count; ++i) {
    m.memories[i].bytes_per_cycle = {power(0, 6), power(0, 2)};
    m.memories[i].read_latency = m.memories[i].write_latency = power(0, 10);
    m.memories[i].burst_bytes = power(3, 8);
    m.memories[i].outstanding = power(0, 6);
  }
  for (BufferSpec& b : m.buffers) b.bytes = b.bytes == 0 ? 0 : power(9, 18);
  if (random() % 2 == 0) return m;
  for (BufferSpec& b : m.buffers) {
    b.granule = power(0, 6), b.banks = static_cast<uint8_t>(power(0, 2)), b.ports = static_cast<uint8_t>(random() % 3);
  }
  m.queue_depth = static_cast<uint32_t>(random() % 4);
  m.set_cycles = m.wait_cycles = static_cast<uint32_t>(random() % 8);
  m.array.cores = static_cast<uint16_t>(power(0, 2));
  m.array.split = random() % 2 == 0 ? CoreSplit::kChannels : CoreSplit::kRows;
  m.array.link_bytes_per_cycle = {power(0, 4), power(0, 2)};
  m.array.weights_per_cycle = power(0, 4);
  return m;
}

TEST(AnyMachine, EveryModelCompiles) {
  std::mt19937 random(1);
  for (const std::string& model : Models()) {
    const std::vector<uint8_t> bytes = test::ReadBytes(model);
    for (const std::string& preset : PresetNames()) {
      for (int i = 0; i < kVariants; ++i) {
        ConvertOptions options;
        options.machine = Variant(preset, random);
        const Conversion made = ConvertTflite(bytes, model, options);
        for (const Diagnostic& d : made.diagnostics.all()) {
          ASSERT_NE(d.severity, Severity::kError) << preset << " variant " << i << ": " << d.ToString();
        }
        ASSERT_FALSE(made.plan.empty());
      }
    }
  }
}

}  // namespace
}  // namespace takt::npu
