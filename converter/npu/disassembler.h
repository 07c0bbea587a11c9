// A stream of NPU commands as text.
#ifndef TAKT_CONVERTER_NPU_DISASSEMBLER_H_
#define TAKT_CONVERTER_NPU_DISASSEMBLER_H_

#include <cstddef>
#include <span>
#include <string>

namespace takt::npu {

/// One line a command: byte offset, pipe, operation, fields by name; a byte that does not decode ends the text with
/// "?".
std::string Disassemble(std::span<const std::byte> stream);

}  // namespace takt::npu

#endif  // TAKT_CONVERTER_NPU_DISASSEMBLER_H_
