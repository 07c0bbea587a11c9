#include "ports/npu_emu/model/micro_op.h"

namespace takt::npu {
namespace {

// The fields of every row, as data.
#define ADDRESS(name) {FieldKind::kAddress, #name},
#define DIM(name) {FieldKind::kDim, #name},
#define PAD(name) {FieldKind::kPad, #name},
#define BYTES(name) {FieldKind::kBytes, #name},
#define SIGNED(name) {FieldKind::kSigned, #name},
#define TAKT_MICRO_OP(Name, name, pipes, ...) constexpr Field k##Name##Fields[] = {__VA_ARGS__{FieldKind::kSigned, ""}};
#include "schema/npu_isa.inc"
#undef TAKT_MICRO_OP

constexpr uint8_t Words(std::span<const Field> fields) {
  uint8_t words = 0;
  for (const Field& f : fields) words = static_cast<uint8_t>(words + (f.kind == FieldKind::kAddress ? 2 : 1));
  return words;
}

/// Without the sentinel that keeps a row of no fields legal.
template <size_t N>
constexpr std::span<const Field> Fields(const Field (&fields)[N]) {
  return {fields, N - 1};
}

constexpr MicroOpInfo kRows[] = {
#define TAKT_MICRO_OP(Name, name, pipes, ...) {#name, pipes, Words(Fields(k##Name##Fields)), Fields(k##Name##Fields)},
#include "schema/npu_isa.inc"
#undef TAKT_MICRO_OP
};

#define TAKT_MICRO_OP(Name, name, pipes, ...)                                                              \
  static_assert(Words(Fields(k##Name##Fields)) == 0 || sizeof(Name) == 4 * Words(Fields(k##Name##Fields)), \
                #name ": a field's type has another size than its words");
#include "schema/npu_isa.inc"
#undef TAKT_MICRO_OP

Status BadStream(size_t bytes) {
  return {StatusCode::kMalformedPlan, Site::kNpuStream, static_cast<uint32_t>(bytes)};
}

uint32_t WordAt(std::span<const std::byte> bytes, size_t at) {
  uint32_t word;
  std::memcpy(&word, bytes.data() + at, sizeof(word));
  return word;
}

bool InRange(FieldKind kind, uint32_t word) {
  switch (kind) {
    case FieldKind::kAddress:  // space 8, step register 8, zero 16
      return (word & 0xFF) < kFirstBase + kMaxBases && (word >> 8) < kStepRegisters;
    case FieldKind::kDim:
      return word >= 1 && word <= 0xFFFF;
    case FieldKind::kPad:
      return word <= 0xFFFF;
    case FieldKind::kBytes:
      return word <= INT32_MAX;
    case FieldKind::kSigned:
      return true;
  }
  return false;
}

}  // namespace

const char* TypeName(Type type) {
  constexpr const char* kNames[kTypes] = {"int8", "int16x8"};
  return kNames[static_cast<int>(type)];
}

const char* PipeName(Pipe pipe) {
  constexpr const char* kNames[kPipes] = {"command", "load", "operand", "mac", "vector", "store"};
  return kNames[static_cast<int>(pipe)];
}

const MicroOpInfo* FindMicroOp(uint8_t opcode) {
  return opcode < static_cast<uint8_t>(MicroOp::kCount) ? &kRows[opcode] : nullptr;
}

Status OpenStream(std::span<const std::byte> bytes, Stream& stream) {
  if (bytes.size() < sizeof(StreamHeader) + 4) return BadStream(bytes.size());
  std::memcpy(&stream.header, bytes.data(), sizeof(StreamHeader));
  const uint64_t size = uint64_t{stream.header.words} * 4;
  if (stream.header.magic != kStreamMagic || size < 4 || size > bytes.size() - sizeof(StreamHeader)) {
    return BadStream(bytes.size());
  }
  stream.commands = bytes.subspan(sizeof(StreamHeader), static_cast<size_t>(size));
  return {};
}

Status DecodeAt(std::span<const std::byte> commands, uint32_t at, Command& command) {
  const Status bad(StatusCode::kMalformedPlan, Site::kNpuCommand);
  if (uint64_t{at} + 4 > commands.size()) return bad;
  const uint32_t header = WordAt(commands, at);
  const MicroOpInfo* info = FindMicroOp(static_cast<uint8_t>(header & 0xFF));
  const uint32_t pipe = (header >> 8) & 0xFF;
  const uint32_t type = header >> 24;
  if (info == nullptr || pipe >= kPipes || (info->pipes & (1u << pipe)) == 0 || WordsOf(header) != info->words ||
      type >= kTypes || (type != 0 && (info->pipes & kTyped) == 0) ||
      uint64_t{at} + 4 + 4 * uint64_t{info->words} > commands.size()) {
    return bad;
  }
  size_t word = at + 4;
  for (const Field& field : info->fields) {
    if (!InRange(field.kind, WordAt(commands, word))) return bad;
    word += field.kind == FieldKind::kAddress ? 8 : 4;
  }
  command = DecodeChecked(commands, at);
  return {};
}

Command DecodeChecked(std::span<const std::byte> commands, uint32_t at) {
  const uint32_t header = WordAt(commands, at);
  return {static_cast<MicroOp>(header & 0xFF), static_cast<Pipe>((header >> 8) & 0xFF), static_cast<Type>(header >> 24),
          commands.data() + at + 4, WordsOf(header)};
}

}  // namespace takt::npu
