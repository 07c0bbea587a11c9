#include "converter/npu/disassembler.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "ports/npu_emu/model/machine.h"

namespace takt::npu {
namespace {

constexpr const char* kBufferNames[kBuffers] = {"feature",   "weight", "accumulator", "output",
                                                "parameter", "skip",   "feature_a",   "weight_b"};

std::string AddressText(const std::byte* at) {
  Address a;
  std::memcpy(&a, at, sizeof(a));
  std::string text = a.external()         ? absl::StrCat("base", a.space - kFirstBase)
                     : a.space < kBuffers ? std::string(kBufferNames[a.space])
                                          : absl::StrCat("space", a.space);
  absl::StrAppend(&text, "[", a.offset, a.step != 0 ? absl::StrCat("+step", a.step) : "", "]");
  return text;
}

std::string FieldsText(const Command& command) {
  std::string text;
  const std::byte* at = command.fields;
  for (const Field& field : FindMicroOp(static_cast<uint8_t>(command.op))->fields) {
    absl::StrAppend(&text, " ", field.name, "=");
    if (field.kind == FieldKind::kAddress) {
      absl::StrAppend(&text, AddressText(at));
      at += sizeof(Address);
      continue;
    }
    int32_t value;
    std::memcpy(&value, at, sizeof(value));
    absl::StrAppend(&text, value);
    at += sizeof(value);
  }
  return text;
}

/// "contract", "contract.int16x8".
std::string OpText(const Command& command) {
  const char* name = FindMicroOp(static_cast<uint8_t>(command.op))->name;
  return command.type == Type::kInt8 ? name : absl::StrCat(name, ".", TypeName(command.type));
}

}  // namespace

std::string Disassemble(std::span<const std::byte> bytes) {
  Stream stream;
  if (!OpenStream(bytes, stream).ok()) return "? no stream\n";
  std::string text;
  std::string indent;
  for (uint32_t at = 0;;) {
    Command command;
    if (!DecodeAt(stream.commands, at, command).ok()) return text + absl::StrFormat("%06x ?\n", at);
    if (command.op == MicroOp::kNext && !indent.empty()) indent.resize(indent.size() - 2);
    absl::StrAppendFormat(&text, "%06x %-8s%s%s%s\n", at, PipeName(command.pipe), indent, OpText(command),
                          FieldsText(command));
    if (command.op == MicroOp::kEnd) return text;
    if (command.op == MicroOp::kLoop) indent += "  ";
    at += 4 + 4 * command.words;
  }
}

}  // namespace takt::npu
