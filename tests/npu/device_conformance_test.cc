// What every device must do. A device's list names the cases that it does not support, with the reason; a case on the
// list that passes all the same fails.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>

#include "ports/npu_emu/npu_emu.h"
#include "ports/null/null_device.h"
#include "tests/npu/npu_fixture.h"

namespace takt::npu {
namespace {

/// A device with a job for it: base 0 is copied to base 1.
struct Bench {
  virtual ~Bench() = default;
  virtual Device& device() = 0;
  virtual uint64_t now() { return 0; }
  Job job(uint16_t id = 0) {
    spans[0] = in;
    spans[1] = out;
    return {id, stream, spans, 1};
  }

  std::vector<uint8_t> bytes;
  std::span<const std::byte> stream;
  alignas(64) std::byte in[64] = {}, out[64] = {};
  std::span<std::byte> spans[2];
};

struct NullBench : Bench {
  Device& device() override { return null; }
  NullDevice null;
};

struct EmuBench : Bench {
  EmuBench() {
    const Machine machine = PlainMachine();
    table.resize(sizeof(Machine));
    std::memcpy(table.data(), &machine, sizeof(Machine));
    workspace.resize(NpuEmu::WorkspaceBytes(machine) + 64);
    const size_t skip = (64 - reinterpret_cast<uintptr_t>(workspace.data()) % 64) % 64;
    EXPECT_TRUE(emu.Init(table, std::span(workspace).subspan(skip), clock).ok());
    StreamWriter w;
    w.Emit(Pipe::kLoad, Move(Base(0), At(Buffer::kFeature), 64));
    w.EmitSet(Pipe::kLoad, 0);
    w.EmitWait(Pipe::kStore, 0);
    w.Emit(Pipe::kStore, Move(At(Buffer::kFeature), Base(1), 64));
    bytes = w.Finish();
    stream = std::as_bytes(std::span(bytes));
  }
  Device& device() override { return emu; }
  uint64_t now() override { return clock.now(); }
  std::vector<uint8_t> table;
  std::vector<std::byte> workspace;
  VirtualClock clock;
  NpuEmu emu;
};

struct Port {
  std::string name;
  std::function<std::unique_ptr<Bench>()> make;
  std::map<std::string, std::string> unsupported;  ///< Case -> reason.
};
const std::vector<Port>& Ports() {
  static const std::vector<Port> ports = {
      {"null",
       [] { return std::make_unique<NullBench>(); },
       {{"JobsComputeWhatTheirStreamSays", "the null device computes nothing"},
        {"BrokenStreamsAreRefused", "the null device has no stream format"},
        {"WaitStopsAtItsDeadline", "jobs take no time"},
        {"CancelledJobsAreGone", "jobs take no time"}}},
      {"npu_emu", [] { return std::make_unique<EmuBench>(); }, {}},
  };
  return ports;
}

bool Prepare(Bench& b, const Job& job) {
  uint64_t work = 0;
  return b.device().Prepare(job, work).ok();
}

/// Each case gives what went wrong, or "".
std::string JobsComputeWhatTheirStreamSays(Bench& b) {
  for (int i = 0; i < 64; ++i) b.in[i] = static_cast<std::byte>(i * 3);
  if (!Prepare(b, b.job()) || !b.device().Submit(b.job()).ok()) return "refused";
  Status status;
  if (b.device().Wait(0, {}, status) != JobState::kDone) return "not done";
  return std::memcmp(b.in, b.out, 64) == 0 ? "" : "wrong bytes";
}

std::string PollEndsWithoutWait(Bench& b) {
  if (!Prepare(b, b.job()) || !b.device().Submit(b.job()).ok()) return "refused";
  Status status;
  for (int i = 0; i < 1000000; ++i) {
    if (b.device().Poll(0, status) == JobState::kDone) return b.device().busy() ? "still busy" : "";
  }
  return "never done";
}

std::string OneJobIsInFlightOnce(Bench& b) {
  if (!Prepare(b, b.job()) || !b.device().Submit(b.job()).ok()) return "refused";
  return b.device().Submit(b.job()).code() == StatusCode::kInvalidState ? "" : "accepted twice";
}

std::string BrokenStreamsAreRefused(Bench& b) {
  std::vector<std::byte> cut(b.stream.begin(), b.stream.end());
  cut.resize(cut.size() / 2);
  Job job = b.job();
  job.stream = cut;
  if (Prepare(b, job)) return "a stream cut in half passed";
  job = b.job();
  job.read_only = 2;
  return Prepare(b, job) ? "a constant may be written" : "";
}

std::string WaitStopsAtItsDeadline(Bench& b) {
  if (!Prepare(b, b.job()) || !b.device().Submit(b.job()).ok()) return "refused";
  Status status;
  const uint64_t deadline = b.now() + 1;
  if (b.device().Wait(0, {.deadline = deadline}, status) != JobState::kRunning) return "done too early";
  return b.now() == deadline ? "" : "missed the deadline";
}

std::string CancelledJobsAreGone(Bench& b) {
  if (!Prepare(b, b.job()) || !b.device().Submit(b.job()).ok()) return "refused";
  Status status;
  if (b.device().Poll(0, status) != JobState::kRunning) return "nothing to cancel";
  if (!b.device().Cancel().ok() || b.device().busy()) return "still busy";
  return b.device().Submit(b.job()).ok() ? "" : "no job after a cancel";
}

std::string ResetForgetsEverything(Bench& b) {
  if (!Prepare(b, b.job()) || !b.device().Submit(b.job()).ok() || !b.device().Reset().ok()) return "refused";
  const DeviceCounters counters = b.device().counters();
  return !b.device().busy() && counters.busy_ticks == 0 ? "" : "something is left";
}

const std::map<std::string, std::string (*)(Bench&)> kCases = {
    {"JobsComputeWhatTheirStreamSays", JobsComputeWhatTheirStreamSays},
    {"PollEndsWithoutWait", PollEndsWithoutWait},
    {"OneJobIsInFlightOnce", OneJobIsInFlightOnce},
    {"BrokenStreamsAreRefused", BrokenStreamsAreRefused},
    {"WaitStopsAtItsDeadline", WaitStopsAtItsDeadline},
    {"CancelledJobsAreGone", CancelledJobsAreGone},
    {"ResetForgetsEverything", ResetForgetsEverything},
};

TEST(DeviceConformance, EveryDevicePassesOrSaysWhyNot) {
  for (const Port& port : Ports()) {
    for (const auto& [name, run] : kCases) {
      const std::unique_ptr<Bench> bench = port.make();
      const std::string wrong = run(*bench);
      const auto reason = port.unsupported.find(name);
      if (reason == port.unsupported.end()) {
        EXPECT_EQ(wrong, "") << port.name << " " << name;
      } else {
        EXPECT_NE(wrong, "") << port.name << " passes " << name << " although: " << reason->second;
      }
    }
  }
}

}  // namespace
}  // namespace takt::npu
