#include <cstring>

#include "ports/npu_emu/npu_emu.h"
#include "ports/null/null_device.h"
#include "tests/conformance/device_bench.h"
#include "tests/npu/npu_fixture.h"
#include "tests/support/fake_device.h"

namespace takt::test {
namespace {

struct NullBench final : Bench {
  Device& device() override { return null; }
  NullDevice null;
};

/// The tests' own device. Its jobs run side by side.
struct FakeBench final : Bench {
  explicit FakeBench(bool can_cancel)
      : fake(time, 10, {.queue_depth = 2, .can_cancel = can_cancel, .base_alignment = 4}) {
    fake.poll_ticks = 1;
  }
  Device& device() override { return fake; }
  Clock clock() override { return time.clock(); }
  std::byte Expected(std::byte input) const override { return std::byte(std::to_integer<int>(input) + 100); }
  bool FailNext() override { return fake.fail_next = true; }

  VirtualClock time;
  FakeDevice fake;
};

struct EmuBench final : Bench {
  EmuBench() : memory(npu::NpuEmu::WorkspaceBytes(npu::PlainMachine()) / sizeof(Line) + 1) {
    const npu::Machine machine = npu::PlainMachine();
    const std::span table(reinterpret_cast<const uint8_t*>(&machine), sizeof(machine));
    ready = emu.Init(table, std::as_writable_bytes(std::span(memory)), time).ok();
    npu::StreamWriter w;
    w.Emit(npu::Pipe::kLoad, npu::Move(npu::Base(0), npu::At(npu::Buffer::kFeature), kBytes));
    w.EmitSet(npu::Pipe::kLoad, 0);
    w.EmitWait(npu::Pipe::kStore, 0);
    w.Emit(npu::Pipe::kStore, npu::Move(npu::At(npu::Buffer::kFeature), npu::Base(1), kBytes));
    commands = w.Finish();
  }
  Device& device() override { return emu; }
  std::span<const std::byte> stream() override { return std::as_bytes(std::span(commands)); }
  Clock clock() override { return time.clock(); }
  bool FailNext() override {
    emu.Inject({.kind = npu::FaultKind::kDmaError});
    return ready;
  }

  struct alignas(64) Line {
    std::byte bytes[64];
  };
  std::vector<Line> memory;
  std::vector<uint8_t> commands;
  npu::VirtualClock time;
  npu::NpuEmu emu;
  bool ready = false;
};

const Exceptions kNullExceptions = {.unsupported = {{"JobsComputeWhatTheirStreamSays", "it computes nothing"},
                                                    {"JobsAreWaitedForInAnyOrder", "its queue holds one job"},
                                                    {"StopLeavesOtherPlansJobs", "its queue holds one job"},
                                                    {"AnotherPlansJobIsWaitedFor", "its jobs take no time"},
                                                    {"BrokenStreamsAreRefused", "it has no streams"},
                                                    {"ConstantsAreNotWritten", "it has no streams"},
                                                    {"MisalignedBasesAreRefused", "any address suits it"},
                                                    {"WaitStopsAtItsDeadline", "its jobs take no time"},
                                                    {"WaitStopsWhenCancelled", "its jobs take no time"},
                                                    {"CancelledJobsAreGone", "its jobs take no time"},
                                                    {"FailuresAreStatuses", "it never fails"}},
                                    .expected_to_fail = {}};
const Exceptions kFakeExceptions = {
    .unsupported = {{"BrokenStreamsAreRefused", "it has no streams"}, {"ConstantsAreNotWritten", "it has no streams"}},
    .expected_to_fail = {}};

template <typename T, bool... kArguments>
std::unique_ptr<Bench> Make() {
  return std::make_unique<T>(kArguments...);
}

}  // namespace

const std::vector<DevicePort>& DevicePorts() {
  static const std::vector<DevicePort> ports = {
      {"null", Make<NullBench>, kNullExceptions},
      {"fake", Make<FakeBench, true>, kFakeExceptions},
      {"fake_that_cannot_cancel", Make<FakeBench, false>, kFakeExceptions},
      {"npu_emu", Make<EmuBench>, {}},
  };
  return ports;
}

}  // namespace takt::test
