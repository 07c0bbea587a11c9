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

constexpr size_t kAlignment = 64;
struct alignas(kAlignment) Line {
  std::byte bytes[kAlignment];
};
inline std::vector<Line> Lines(size_t bytes) {
  return std::vector<Line>(bytes / kAlignment + 1);
}
inline std::span<std::byte> Bytes(std::vector<Line>& lines) {
  return std::as_writable_bytes(std::span(lines));
}

/// The NPU of all plans that were added, which must outlive it.
struct Npu {
  /// `first_job`: what it calls the plan's first job. kUnsupported if the plan is for another machine than those
  /// before.
  takt::Status Add(const takt::Plan& plan, uint16_t& first_job) {
    first_job = jobs;
    jobs = static_cast<uint16_t>(jobs + plan.job_count());
    if (!table.empty()) {
      const bool same = std::ranges::equal(table, plan.machine());
      return same ? takt::Status() : takt::Status(takt::StatusCode::kUnsupported, takt::Site::kInitDevice);
    }
    table = plan.machine();
    takt::npu::Machine machine;
    TAKT_TRY(takt::npu::ReadMachine(table, machine));
    workspace = Lines(takt::npu::NpuEmu::WorkspaceBytes(machine));
    return device.Init(table, Bytes(workspace), clock);
  }

  takt::npu::VirtualClock clock;
  takt::npu::NpuEmu device;
  std::span<const uint8_t> table;
  std::vector<Line> workspace;
  uint16_t jobs = 0;  ///< Of all its plans.
};

struct Network {
  /// The activation arenas are those of `group`, a network that never runs at the same time, if there is one; they must
  /// suffice. Jobs run on `given_npu`, or on an NPU of the network's own.
  takt::Status Load(const char* path, takt::Clock clock, Network* group = nullptr, Npu* given_npu = nullptr) {
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
    Npu& npu = given_npu != nullptr ? *given_npu : own_npu;
    uint16_t first_job = 0;
    if (plan.device_count() != 0) TAKT_TRY(npu.Add(plan, first_job));
    devices[0] = &npu.device;
    // The watchdog's ticks would be this clock's, the NPU's time is its own.
    return net.Init(plan, {.arenas = arenas,
                           .runtime = Bytes(runtime),
                           .kernels = takt::reference::AllKernels(),
                           .devices = std::span<takt::Device* const>(devices).first(std::min(1u, plan.device_count())),
                           .first_job = first_job,
                           .platform = {.clock = clock, .most_job_ticks = UINT64_MAX}});
  }

  bool IsActivation(uint32_t arena) const { return plan.arena(arena).kind == takt::ArenaKind::kActivation; }

  takt::posix::MappedFile file;
  takt::Plan plan;
  std::vector<std::vector<Line>> memory;
  std::vector<std::span<std::byte>> arenas;
  std::vector<Line> runtime;
  Npu own_npu;
  takt::Device* devices[1] = {};
  takt::Interpreter net;
};

}  // namespace samples

#endif  // TAKT_SAMPLES_NETWORK_H_
