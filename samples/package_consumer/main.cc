// Uses an installed Takt, every target of it. consumer PLAN, a plan for the emulated NPU that is not signed.
#include <cstdio>
#include <vector>

#include "engine/core/interpreter.h"
#include "ports/npu_emu/npu_emu.h"
#include "ports/null/null_device.h"
#include "ports/posix/realtime.h"
#include "ports/reference/kernels.h"
#ifdef TAKT_HAS_ED25519
#include "ports/posix/ed25519.h"
#endif
#ifdef TAKT_HAS_XNNPACK
#include "ports/xnnpack/kernels.h"
#endif

namespace {

struct alignas(64) Line {
  std::byte bytes[64];
};
std::vector<Line> Lines(size_t bytes) {
  return std::vector<Line>(bytes / sizeof(Line) + 1);
}
std::span<std::byte> Bytes(std::vector<Line>& lines) {
  return std::as_writable_bytes(std::span(lines));
}

void Print(const char* what, takt::Status status) {
  std::printf("%s: %s, %s\n", what, takt::StatusCodeName(status.code()), takt::SiteText(status.site()));
}

/// One inference on a device.
takt::Status Run(const takt::Plan& plan, takt::Device& device, takt::Clock clock) {
  takt::Requirements need;
  TAKT_TRY(takt::ComputeRequirements(plan, takt::reference::AllKernels(), need));
  std::vector<std::vector<Line>> memory;
  for (uint32_t i = 0; i < need.arena_count; ++i) memory.push_back(Lines(need.arenas[i].bytes));
  std::vector<std::span<std::byte>> arenas;
  for (std::vector<Line>& lines : memory) arenas.push_back(Bytes(lines));
  std::vector<Line> runtime = Lines(need.runtime.bytes);
  takt::Device* const devices[] = {&device};
  takt::Interpreter net;
  TAKT_TRY(net.Init(plan, {.arenas = arenas,
                           .runtime = Bytes(runtime),
                           .kernels = takt::reference::AllKernels(),
                           .devices = devices,
                           .platform = {.clock = clock}}));
  return net.Invoke();
}

takt::Status RunOnNpu(const takt::Plan& plan) {
  takt::npu::Machine machine;
  TAKT_TRY(takt::npu::ReadMachine(plan.machine(), machine));
  std::vector<Line> workspace = Lines(takt::npu::NpuEmu::WorkspaceBytes(machine));
  takt::npu::VirtualClock clock;
  takt::npu::NpuEmu npu;
  TAKT_TRY(npu.Init(plan.machine(), Bytes(workspace), clock));
  TAKT_TRY(Run(plan, npu, clock.clock()));
  std::printf("%llu cycles\n", static_cast<unsigned long long>(clock.now()));
  return {};
}

#ifdef TAKT_HAS_ED25519
/// Whether a plan without signature is refused where a key is required.
bool RefusesUnsigned(std::span<const std::byte> bytes) {
  if (!takt::posix::InitEd25519()) return false;
  const takt::posix::PublicKey trusted[] = {takt::posix::PublicKeyOf(takt::posix::MakeSeed())};
  takt::posix::Ed25519Verifier verifier(trusted);
  takt::PlanOptions options;
  options.verify = verifier.verifier();
  takt::Plan plan;
  const takt::Status status = plan.Open(bytes, options);
  Print("a plan without signature", status);
  return status.code() == takt::StatusCode::kSignatureMismatch;
}
#endif

}  // namespace

int main(int argc, char** argv) {
  takt::posix::MappedFile file;
  takt::Plan plan;
  if (argc != 2 || file.Map(argv[1]) != 0 || !plan.Open(file.bytes()).ok()) {
    std::fprintf(stderr, "consumer PLAN\n");
    return 2;
  }
  std::vector<takt::Status> all = {RunOnNpu(plan)};
  Print("on the emulated NPU", all.back());
  takt::NullDevice null;
  all.push_back(Run(plan, null, takt::posix::MonotonicClock()));
  Print("on a device that does nothing", all.back());
  bool ok = true;
#ifdef TAKT_HAS_XNNPACK
  all.push_back(takt::xnnpack::Initialize(takt::reference::AllKernels()));
  Print("XNNPACK", all.back());
#endif
#ifdef TAKT_HAS_ED25519
  ok = RefusesUnsigned(file.bytes());
#endif
  for (const takt::Status status : all) ok = ok && status.ok();
  return ok ? 0 : 1;
}
