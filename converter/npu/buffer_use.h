// How many bytes of every on-chip buffer a job uses when.
#ifndef TAKT_CONVERTER_NPU_BUFFER_USE_H_
#define TAKT_CONVERTER_NPU_BUFFER_USE_H_

#include <vector>

#include "ports/npu_emu/model/access.h"
#include "ports/npu_emu/model/timing.h"

namespace takt::npu {

/// Bytes are in use from the start of the command that writes them to the end of the last one that reads them.
class BufferUse {
 public:
  /// In the order of Replay: a command after those that it waits for.
  void Add(const Span& span);

  struct Level {
    Ticks at;
    uint64_t bytes;  ///< From then on.
  };
  /// Of all that was added; one for each time at which it changes, ascending.
  std::vector<Level> Levels(Buffer buffer) const;

 private:
  struct Life {
    uint64_t begin, end;
    Ticks from, until;
  };
  /// `current` is not overwritten yet.
  struct Lives {
    std::vector<Life> current, past;
  };
  static void Read(const Access& access, const Span& span, Lives& lives);
  static void Write(const Access& access, const Span& span, Lives& lives);

  Lives lives_[kBuffers];
};

}  // namespace takt::npu

#endif  // TAKT_CONVERTER_NPU_BUFFER_USE_H_
