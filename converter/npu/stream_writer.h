// Writes a stream of NPU commands.
#ifndef TAKT_CONVERTER_NPU_STREAM_WRITER_H_
#define TAKT_CONVERTER_NPU_STREAM_WRITER_H_

#include <cstring>
#include <span>
#include <vector>

#include "ports/npu_emu/model/micro_op.h"

namespace takt::npu {

inline constexpr uint32_t kEventBytes = 4 + sizeof(Set);  ///< Of a Set or a Wait.

class StreamWriter {
 public:
  /// Appends a command; its fields are the row's struct.
  template <typename T>
  void Emit(Pipe pipe, const T& row, Type type = Type::kInt8) {
    const uint32_t words = FindMicroOp(static_cast<uint8_t>(T::kOp))->words;
    const uint32_t header = HeaderWord(T::kOp, pipe, words, type);
    Append(std::as_bytes(std::span(&header, 1)));
    const size_t at = bytes_.size();
    bytes_.resize(at + 4 * size_t{words});
    if (words != 0) std::memcpy(bytes_.data() + at, &row, 4 * size_t{words});
  }
  /// Appends a command as it is.
  void Append(std::span<const std::byte> command) {
    const auto* raw = reinterpret_cast<const uint8_t*>(command.data());
    bytes_.insert(bytes_.end(), raw, raw + command.size());
  }
  void EmitSet(Pipe pipe, uint32_t event) { Emit(pipe, Set{.event = event}); }
  void EmitWait(Pipe pipe, uint32_t event) { Emit(pipe, Wait{.event = event}); }

  /// Which of the machine's memories a base lies in.
  void SetBaseMemory(uint32_t base, uint8_t memory) { header_.base_memory[base] = memory; }
  /// Byte of the next command: what a fault or a span names.
  uint32_t position() const { return static_cast<uint32_t>(bytes_.size()); }

  const std::vector<uint8_t>& bytes() const { return bytes_; }
  /// Takes out the commands at `spare`, each one a Set or a Wait, ascending.
  void RemoveEvents(std::span<const uint32_t> spare) {
    size_t to = 0, from = 0;
    const auto keep = [&](size_t end) {
      std::memmove(bytes_.data() + to, bytes_.data() + from, end - from);
      to += end - from;
    };
    for (const uint32_t at : spare) {
      keep(at);
      from = at + kEventBytes;
    }
    keep(bytes_.size());
    bytes_.resize(to);
  }

  /// The stream, ended.
  std::vector<uint8_t> Finish() {
    Emit(Pipe::kCommand, End{});
    header_.magic = kStreamMagic;
    header_.words = static_cast<uint32_t>(bytes_.size() / 4);
    std::vector<uint8_t> stream(sizeof(header_) + bytes_.size());
    std::memcpy(stream.data(), &header_, sizeof(header_));
    std::memcpy(stream.data() + sizeof(header_), bytes_.data(), bytes_.size());
    return stream;
  }

 private:
  StreamHeader header_;
  std::vector<uint8_t> bytes_;
};

}  // namespace takt::npu

#endif  // TAKT_CONVERTER_NPU_STREAM_WRITER_H_
