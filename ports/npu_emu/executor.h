// What a checked stream computes, command by command, on scratchpad memory.
#ifndef TAKT_PORTS_NPU_EMU_EXECUTOR_H_
#define TAKT_PORTS_NPU_EMU_EXECUTOR_H_

#include "ports/kernel_util/tile_kernels.h"
#include "ports/npu_emu/model/machine.h"

namespace takt::npu {

/// First byte of every space; nullptr where a stream that passed CheckStream does not go.
struct Spaces {
  std::byte* first[kFirstBase + kMaxBases] = {};
};

/// Bytes for TileScratch that any command of a checked stream needs at most.
uint32_t ScratchBytes(const Machine& machine);

/// Called before each command with its number, loops unrolled, and its byte offset; false ends the stream there.
struct CommandHook {
  bool (*before)(void* context, uint64_t command, uint32_t position) = nullptr;
  void* context = nullptr;
};

/// Runs the whole stream in program order, which its events make equal to every other allowed order.
void Execute(const Stream& stream, const Spaces& spaces, TileScratch scratch, const TileKernels& kernels,
             const CommandHook& hook = {});

}  // namespace takt::npu

#endif  // TAKT_PORTS_NPU_EMU_EXECUTOR_H_
