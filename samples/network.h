// A plan with the memory it asks for, on this host.
#ifndef TAKT_SAMPLES_NETWORK_H_
#define TAKT_SAMPLES_NETWORK_H_

#include <cstdio>
#include <span>
#include <vector>

#include "engine/core/interpreter.h"
#include "ports/posix/realtime.h"
#include "ports/reference/kernels.h"

namespace samples {

struct Network {
  takt::Status Load(const char* path, takt::Clock clock) {
    if (const int error = file.Map(path); error != 0) std::fprintf(stderr, "%s: can't be mapped (%d)\n", path, error);
    TAKT_TRY(plan.Open(file.bytes()));
    takt::Requirements need;
    TAKT_TRY(takt::ComputeRequirements(plan, takt::reference::AllKernels(), need));
    for (uint32_t i = 0; i < need.arena_count; ++i) memory.push_back(Lines(need.arenas[i].bytes));
    runtime = Lines(need.runtime.bytes);
    std::vector<std::span<std::byte>> arenas;
    for (std::vector<Line>& lines : memory) arenas.push_back(Bytes(lines));
    return net.Init(plan, {.arenas = arenas,
                           .runtime = Bytes(runtime),
                           .kernels = takt::reference::AllKernels(),
                           .devices = {},
                           .platform = {.clock = clock}});
  }

  static constexpr size_t kAlignment = 64;
  struct alignas(kAlignment) Line {
    std::byte bytes[kAlignment];
  };
  static std::vector<Line> Lines(size_t bytes) { return std::vector<Line>(bytes / kAlignment + 1); }
  static std::span<std::byte> Bytes(std::vector<Line>& lines) { return std::as_writable_bytes(std::span(lines)); }

  takt::posix::MappedFile file;
  takt::Plan plan;
  std::vector<std::vector<Line>> memory;
  std::vector<Line> runtime;
  takt::Interpreter net;
};

}  // namespace samples

#endif  // TAKT_SAMPLES_NETWORK_H_
