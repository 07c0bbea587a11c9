// The machine that the emulated NPU is: a compiled table of fixed layout, carried in the plan's target. converter/npu
// makes it from a JSON description; nothing reads JSON at run time.
#ifndef TAKT_PORTS_NPU_EMU_MODEL_MACHINE_H_
#define TAKT_PORTS_NPU_EMU_MODEL_MACHINE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "engine/base/status.h"
#include "ports/npu_emu/model/micro_op.h"

namespace takt::npu {

inline constexpr uint32_t kMachineMagic = 0x4D504E54;  // "TNPM"
inline constexpr uint32_t kMachineVersion = 1;
inline constexpr int kMaxMemories = 4;
inline constexpr uint32_t kMaxBanks = 32;
inline constexpr uint32_t kMaxQueueDepth = 32;

/// num / den; den is not 0.
struct Ratio {
  uint32_t num = 0;
  uint32_t den = 1;
};

/// Where data of the job's bases lies. `outstanding` bursts may be under way at once; latencies are in cycles.
struct Memory {
  char name[16] = {};
  uint64_t bytes = 0;  ///< 0: no limit known.
  Ratio bytes_per_cycle;
  uint32_t read_latency = 0, write_latency = 0;
  uint32_t burst_bytes = 1, outstanding = 1;
  uint32_t femtojoule_per_byte = 0;
  uint32_t reserved = 0;
};

/// What an on-chip buffer holds; the value is its space in addresses. Each is cut into kSlots slots (double buffering).
/// kFeatureA and kWeightB are the second level of a cube (L0A, L0B); 0 bytes: the array reads kFeature and kWeight.
enum class Buffer : uint8_t {
  kFeature = 0,
  kWeight,
  kAccumulator,
  kOutput,
  kParameter,
  kSkip,
  kFeatureA,
  kWeightB,
  kCount
};
inline constexpr uint32_t kSlots = 2;
inline constexpr int kBuffers = static_cast<int>(Buffer::kCount);
/// The key of a description: "feature", "weight_b".
const char* BufferName(Buffer buffer);

struct BufferSpec {
  uint32_t bytes = 0;
  uint32_t femtojoule_per_byte = 0;
  uint32_t granule = 1;  ///< A slot is whole granules. A power of two.
  uint8_t banks = 1;     ///< Equal parts of the two slots, one after the other. A power of two.
  uint8_t ports = 0;     ///< Pipes that a bank serves at once; 0: all that ask.
  uint8_t reserved[2] = {};
};

enum class ArrayKind : uint8_t { kUblock = 0, kCube, kOutputStationary, kWeightStationary, kInputStationary, kCount };
/// What of a command's outputs every core computes.
enum class CoreSplit : uint8_t { kChannels = 0, kRows, kCount };

/// ublock: width x height x depth outputs, for each of which `reduction` products come a cycle. cube: width = M0,
/// reduction = K0, depth = N0. systolic: height rows x width columns. All of one core. `fill` cycles come with every
/// tile.
struct Array {
  uint16_t width = 1, height = 1, depth = 1, reduction = 1;
  uint16_t cores = 1;
  ArrayKind kind = ArrayKind::kUblock;
  CoreSplit split = CoreSplit::kChannels;
  uint32_t fill = 0;
  uint32_t weights_per_cycle = 0;    ///< That a core decodes; 0: no limit.
  Ratio link_bytes_per_cycle{0, 1};  ///< From a buffer to all cores, of what each needs; 0: no limit.
  uint32_t link_latency = 0;
  uint32_t femtojoule_per_mac = 0;
  uint32_t square_micrometre_per_mac = 0;
};

/// Cycles of one element in the vector unit.
enum class VectorFunction : uint8_t { kRequantize = 0, kAdd, kPool, kCount };

inline constexpr int kVectorFunctions = static_cast<int>(VectorFunction::kCount);

/// What the array and the vector unit have for int16 activations and int8 weights instead of `array` and `vector`.
struct Int16x8 {
  uint16_t width = 0, height = 0, depth = 0, reduction = 0;  ///< All 0: the machine does not compute them.
  uint32_t femtojoule_per_mac = 0, femtojoule_per_element = 0;
  Ratio vector[kVectorFunctions];
};

/// What a kernel step costs on the core beside the NPU.
struct Host {
  Ratio cycles_per_mac{4, 1};
  Ratio cycles_per_element{8, 1};
  uint32_t cycles_per_step = 0;
  uint32_t reserved = 0;
};

struct Machine {
  uint32_t magic = kMachineMagic;
  uint32_t version = kMachineVersion;
  char name[32] = {};
  uint64_t clock_hz = 0;
  uint32_t tick_shift = 0;          ///< A tick is 1 / 2^shift cycle.
  uint32_t issue_cycles = 0;        ///< Of each command on the command pipe.
  uint32_t job_cycles = 0;          ///< From Submit to the first command.
  uint32_t set_cycles = 0;          ///< Of a Set on its pipe.
  uint32_t wait_cycles = 0;         ///< Of a Wait on its pipe, once the event is there.
  uint32_t queue_depth = 0;         ///< Commands of a pipe that are issued and have not started; 0: no limit.
  uint8_t feature_memory = 0;       ///< Of activations.
  uint8_t constant_memory = 0;      ///< Of weights and parameters.
  Pipe feature_pipe = Pipe::kLoad;  ///< That moves features from memory; weights come on kLoad.
  Pipe pool_pipe = Pipe::kVector;
  uint32_t memory_count = 0;
  Memory memories[kMaxMemories];
  BufferSpec buffers[kBuffers];
  Ratio port[kPipes];              ///< Bytes a cycle that a pipe moves at most.
  Array array;                     ///< Its shape and energy are those of int8, as the vector unit's figures.
  Ratio vector[kVectorFunctions];  ///< By VectorFunction.
  Int16x8 int16x8;
  uint32_t femtojoule_per_element = 0;     ///< Of the vector unit; a pool's: per cell.
  uint32_t square_micrometre_per_kib = 0;  ///< Of buffers.
  Host host;
  uint8_t validated = 0;     ///< Against figures of a real machine or its model.
  uint8_t spill_memory = 0;  ///< Of activations that do not fit feature_memory; the same: of none.
  uint8_t whole_rows = 0;    ///< A convolution's tile takes whole rows of all input channels if such a tile fits.
  uint8_t reserved[5] = {};

  const BufferSpec& spec(Buffer b) const { return buffers[static_cast<int>(b)]; }
  uint32_t buffer(Buffer b) const { return spec(b).bytes; }
  /// Bytes of one of a buffer's slots.
  uint32_t slot(Buffer b) const {
    const uint32_t granule = spec(b).granule;
    return buffer(b) / kSlots & ~((granule > 16 ? granule : 16) - 1);
  }
  /// Whether a pipe may fill one slot while another reads the other one.
  bool slots_overlap(Buffer b) const { return spec(b).ports != 1 || spec(b).banks >= kSlots; }
  bool computes(Type type) const { return type == Type::kInt8 || int16x8.width != 0; }
  /// The array as it is for a type that the machine computes.
  Array ArrayOf(Type type) const;
  Ratio VectorCycles(VectorFunction function, Type type) const {
    return (type == Type::kInt8 ? vector : int16x8.vector)[static_cast<int>(function)];
  }
  bool two_level() const { return buffer(Buffer::kFeatureA) != 0; }
  /// Sum of all buffers: what an emulator must own.
  uint32_t buffer_total() const;
};
static_assert(sizeof(Machine) % 8 == 0 && alignof(Machine) == 8);
static_assert(std::has_unique_object_representations_v<Machine>, "no padding: plans are the same bytes everywhere");

/// What a table may not break; the text names the field, the rule and the remedy.
enum class MachineRule : uint8_t {
  kOk = 0,
#define TAKT_MACHINE_RULE(name, text) name,
#include "ports/npu_emu/model/machine_rules.inc"
#undef TAKT_MACHINE_RULE
};
/// The first rule that a table breaks, and where: the memory's, buffer's or pipe's number, where the rule is of those.
struct BrokenRule {
  MachineRule rule = MachineRule::kOk;
  uint32_t part = 0;
};
BrokenRule CheckMachine(const Machine& machine);
const char* MachineRuleText(MachineRule rule);

/// Copies a plan's table and checks it. kMalformedPlan at kNpuMachine (detail: rule).
Status ReadMachine(std::span<const uint8_t> bytes, Machine& machine);

}  // namespace takt::npu

#endif  // TAKT_PORTS_NPU_EMU_MODEL_MACHINE_H_
