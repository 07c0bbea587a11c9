// The emulated NPU's program: micro-operations on in-order pipes. schema/npu_isa.inc is the one table.
#ifndef TAKT_PORTS_NPU_EMU_MODEL_MICRO_OP_H_
#define TAKT_PORTS_NPU_EMU_MODEL_MICRO_OP_H_

#include <cstdint>
#include <cstring>
#include <span>

#include "engine/base/status.h"

namespace takt::npu {

enum class Pipe : uint8_t { kCommand = 0, kLoad, kOperand, kMac, kVector, kStore };
inline constexpr int kPipes = 6;
const char* PipeName(Pipe pipe);

/// Of what a command computes on: activations and results; weights are int8 always.
enum class Type : uint8_t { kInt8 = 0, kInt16x8, kCount };
inline constexpr int kTypes = static_cast<int>(Type::kCount);
const char* TypeName(Type type);
/// Of one activation; of one sum, which wraps modulo 2^32 or 2^64.
constexpr uint32_t FeatureBytes(Type type) {
  return type == Type::kInt8 ? 1 : 2;
}
constexpr uint32_t SumBytes(Type type) {
  return type == Type::kInt8 ? 4 : 8;
}

/// The arithmetic of an output stage: numerics fp32_rne, tflite, or of int16x8 tflite with sums and bias of 32 bits.
enum class Stage : uint8_t { kFp32Rne = 1, kTflite, kTfliteNarrow };

/// Where a command may run, and whether it has a type.
enum PipeMask : uint8_t {
  kOnCommand = 1 << 0,
  kOnLoad = 1 << 1,
  kOnOperand = 1 << 2,
  kOnMac = 1 << 3,
  kOnVector = 1 << 4,
  kOnStore = 1 << 5,
  kTyped = 1 << 6,
  kOnData = 0x3E,
};

inline constexpr uint32_t kMaxEvents = 32;
inline constexpr uint32_t kMaxEventCount = 8;  ///< Sets of one event that no Wait has taken yet.
inline constexpr uint32_t kMaxLoopDepth = 4;
inline constexpr uint32_t kStepRegisters = 4;  ///< Register 0 is always zero.
inline constexpr uint8_t kFirstBase = 16;  ///< Spaces below it are on-chip buffers, space 16 + i is the job's base i.
inline constexpr uint32_t kMaxBases = 16;

struct Address {
  uint8_t space = 0;
  uint8_t step = 0;
  uint16_t reserved = 0;
  uint32_t offset = 0;

  bool external() const { return space >= kFirstBase; }
};
static_assert(sizeof(Address) == 8);

/// Stands before the commands. `base_memory[i]` is the machine's memory that base i lies in.
struct StreamHeader {
  uint32_t magic = 0;
  uint32_t words = 0;  ///< Of all commands, the End included.
  uint8_t base_memory[kMaxBases] = {};
};
inline constexpr uint32_t kStreamMagic = 0x31504E54;  // "TNP1"

// A box of x (rows of pixels of channels), the kernel that slides over it, and the outputs it makes. Pads count the
// cells between the window of output (0, 0) and the box; cells outside the box do not contribute.
// clang-format off
#define TAKT_WINDOW                                                                       \
  DIM(height) DIM(width) DIM(channels) BYTES(x_row) BYTES(x_pixel)                        \
  DIM(kernel_h) DIM(kernel_w) DIM(stride_h) DIM(stride_w) DIM(dilation_h) DIM(dilation_w) \
  PAD(pad_top) PAD(pad_left) DIM(out_height) DIM(out_width)
// clang-format on

enum class MicroOp : uint8_t {
#define TAKT_MICRO_OP(Name, name, pipes, ...) k##Name,
#include "schema/npu_isa.inc"
#undef TAKT_MICRO_OP
  kCount,
};

// One struct a row, with the fields in the stream's order.
#define ADDRESS(name) Address name;
#define DIM(name) uint32_t name = 1;
#define PAD(name) uint32_t name = 0;
#define BYTES(name) uint32_t name = 0;
#define SIGNED(name) int32_t name = 0;
#define TAKT_MICRO_OP(Name, name, pipes, ...)        \
  struct Name {                                      \
    static constexpr MicroOp kOp = MicroOp::k##Name; \
    __VA_ARGS__                                      \
  };
#include "schema/npu_isa.inc"
#undef TAKT_MICRO_OP
#undef ADDRESS
#undef DIM
#undef PAD
#undef BYTES
#undef SIGNED

enum class FieldKind : uint8_t { kAddress, kDim, kPad, kBytes, kSigned };
struct Field {
  FieldKind kind;
  const char* name;
};
/// One row of the table.
struct MicroOpInfo {
  const char* name;
  uint8_t pipes;
  uint8_t words;
  std::span<const Field> fields;
};
/// nullptr for an opcode that has no row.
const MicroOpInfo* FindMicroOp(uint8_t opcode);

/// A command in place; `words` are its fields, their count checked by Decode.
struct Command {
  MicroOp op = MicroOp::kEnd;
  Pipe pipe = Pipe::kCommand;
  Type type = Type::kInt8;
  const std::byte* fields = nullptr;
  uint32_t words = 0;

  template <typename T>
  T as() const {
    T row;
    if constexpr (sizeof(T) > 1) std::memcpy(static_cast<void*>(&row), fields, sizeof(T));
    return row;
  }
};

/// A stream whose header is well-formed and whose commands all decode.
struct Stream {
  StreamHeader header;
  std::span<const std::byte> commands;
};

/// Reads the header. kMalformedPlan at kNpuStream (detail: bytes).
Status OpenStream(std::span<const std::byte> bytes, Stream& stream);
/// The command at byte `at`, its opcode, pipe, length, type and the range of every field checked. kMalformedPlan at
/// kNpuCommand.
Status DecodeAt(std::span<const std::byte> commands, uint32_t at, Command& command);
/// As DecodeAt, for a stream that was checked.
Command DecodeChecked(std::span<const std::byte> commands, uint32_t at);

inline uint32_t HeaderWord(MicroOp op, Pipe pipe, uint32_t words, Type type) {
  return static_cast<uint32_t>(op) | static_cast<uint32_t>(pipe) << 8 | words << 16 | static_cast<uint32_t>(type) << 24;
}
/// Fields' words of a command with this header.
constexpr uint32_t WordsOf(uint32_t header) {
  return header >> 16 & 0xFF;
}

}  // namespace takt::npu

#endif  // TAKT_PORTS_NPU_EMU_MODEL_MICRO_OP_H_
