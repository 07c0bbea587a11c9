// Plans of the samples and what runs them, for what holds of every port (ports/posix/README.md).
#ifndef TAKT_TESTS_SUPPORT_SAMPLE_NET_H_
#define TAKT_TESTS_SUPPORT_SAMPLE_NET_H_

#include <stdexcept>
#include <string>
#include <vector>

#include "ports/npu_emu/npu_emu.h"
#include "ports/posix/realtime.h"
#include "tests/support/plan_runner.h"
#include "tests/support/ports.h"

namespace takt::test {

struct SampleCase {
  std::string name;  ///< "xnnpack_keyword"
  std::string plan;
  KernelTable kernels;
};
/// What tests print of it.
inline std::ostream& operator<<(std::ostream& out, const SampleCase& sample) {
  return out << sample.name;
}

/// int8, float and stateful plans on each kernel port, and one for the emulated NPU.
inline std::vector<SampleCase> SampleCases() {
  std::vector<SampleCase> cases;
  const std::string folder = TAKT_SAMPLE_PLANS;
  for (const KernelPort& port : KernelPorts()) {
    for (const std::string plan : {"fashion", "audio", "keyword"})
      cases.push_back({std::string(port.name) + "_" + plan,
                       std::string(folder).append("/").append(plan).append(".takt"), port.kernels});
  }
  cases.push_back({"npu_emu_fashion", folder + "/fashion_npu.takt", reference::AllKernels()});
  return cases;
}

/// A sample's plan, mapped, with memory for it. Bind is as an application does it: no heap.
class SampleNet {
 public:
  explicit SampleNet(const SampleCase& sample) : kernels_(sample.kernels) {
    Requirements need;
    if (file_.Map(sample.plan.c_str()) != 0 || !plan_.Open(file_.bytes()).ok() ||
        !ComputeRequirements(plan_, kernels_, need).ok())
      throw std::runtime_error(sample.plan + ": is no plan");
    for (uint32_t i = 0; i < need.arena_count; ++i) memory_.emplace_back(need.arenas[i].bytes);
    for (AlignedBytes& arena : memory_) arenas_.push_back(arena.span());
    runtime_ = AlignedBytes(need.runtime.bytes);
    npu::Machine machine;
    if (npu::ReadMachine(plan_.machine(), machine).ok())
      workspace_ = AlignedBytes(npu::NpuEmu::WorkspaceBytes(machine));
  }

  /// Open, requirements and Init, with a clock and a trace.
  Status Bind() {
    TAKT_TRY(plan_.Open(file_.bytes()));
    Requirements need;
    TAKT_TRY(ComputeRequirements(plan_, kernels_, need));
    const bool on_npu = plan_.device_count() != 0;
    if (on_npu) TAKT_TRY(npu_.Init(plan_.machine(), workspace_.span(), npu_clock_));
    const std::span<Device* const> devices(devices_);
    return net_.Init(plan_, {.arenas = arenas_,
                             .runtime = runtime_.span(),
                             .kernels = kernels_,
                             .devices = devices.first(on_npu),
                             .platform = {.clock = posix::MonotonicClock(), .most_job_ticks = UINT64_MAX},
                             .trace = &trace_});
  }
  Interpreter& net() { return net_; }

 private:
  KernelTable kernels_;
  posix::MappedFile file_;
  Plan plan_;
  std::vector<AlignedBytes> memory_;
  std::vector<std::span<std::byte>> arenas_;
  AlignedBytes runtime_{0}, workspace_{0};
  npu::VirtualClock npu_clock_;
  npu::NpuEmu npu_;
  Device* devices_[1] = {&npu_};
  TraceEvent events_[64];
  Trace trace_{events_};
  Interpreter net_;
};

}  // namespace takt::test

#endif  // TAKT_TESTS_SUPPORT_SAMPLE_NET_H_
