// A plan with the memory it asks for, on this host, and with the emulated NPU if it has jobs.
#ifndef TAKT_SAMPLES_NETWORK_H_
#define TAKT_SAMPLES_NETWORK_H_

#include <algorithm>
#include <cstdio>
#include <span>
#include <vector>

#include "engine/core/interpreter.h"
#include "ports/npu_emu/npu_emu.h"
#include "ports/posix/realtime.h"
#include "ports/reference/kernels.h"

namespace samples {

struct Network {
  /// The activation arenas are those of `group`, a network that never runs at the same time, if there is one; they must
  /// suffice. Jobs take time of `npu_clock`, or of a clock of their own.
  takt::Status Load(const char* path, takt::Clock clock, Network* group = nullptr,
                    takt::npu::VirtualClock* npu_clock = nullptr) {
    if (const int error = file.Map(path); error != 0) std::fprintf(stderr, "%s: can't be mapped (%d)\n", path, error);
    TAKT_TRY(plan.Open(file.bytes()));
    takt::Requirements need;
    TAKT_TRY(takt::ComputeRequirements(plan, takt::reference::AllKernels(), need));
    for (uint32_t i = 0; i < need.arena_count; ++i) {
      const bool shared = group != nullptr && i < group->arenas.size() && IsActivation(i) && group->IsActivation(i);
      memory.push_back(Lines(shared ? 0 : need.arenas[i].bytes));
      arenas.push_back(shared ? group->arenas[i] : Bytes(memory.back()));
    }
    runtime = Lines(need.runtime.bytes);
    if (plan.device_count() != 0) TAKT_TRY(InitNpu(npu_clock != nullptr ? *npu_clock : own_clock));
    // The watchdog's ticks would be this clock's, the NPU's time is its own.
    return net.Init(plan, {.arenas = arenas,
                           .runtime = Bytes(runtime),
                           .kernels = takt::reference::AllKernels(),
                           .devices = std::span<takt::Device* const>(devices).first(std::min(1u, plan.device_count())),
                           .platform = {.clock = clock, .most_job_ticks = UINT64_MAX}});
  }

  static constexpr size_t kAlignment = 64;
  struct alignas(kAlignment) Line {
    std::byte bytes[kAlignment];
  };
  static std::vector<Line> Lines(size_t bytes) { return std::vector<Line>(bytes / kAlignment + 1); }
  static std::span<std::byte> Bytes(std::vector<Line>& lines) { return std::as_writable_bytes(std::span(lines)); }
  bool IsActivation(uint32_t arena) const { return plan.arena(arena).kind == takt::ArenaKind::kActivation; }

  takt::Status InitNpu(takt::npu::VirtualClock& clock) {
    takt::npu::Machine machine;
    TAKT_TRY(takt::npu::ReadMachine(plan.machine(), machine));
    workspace = Lines(takt::npu::NpuEmu::WorkspaceBytes(machine));
    return npu.Init(plan.machine(), Bytes(workspace), clock);
  }

  takt::posix::MappedFile file;
  takt::Plan plan;
  std::vector<std::vector<Line>> memory;
  std::vector<std::span<std::byte>> arenas;
  std::vector<Line> runtime, workspace;
  takt::npu::VirtualClock own_clock;
  takt::npu::NpuEmu npu;
  takt::Device* devices[1] = {&npu};
  takt::Interpreter net;
};

}  // namespace samples

#endif  // TAKT_SAMPLES_NETWORK_H_
