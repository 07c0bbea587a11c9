// Faults injected into the emulated NPU: which are detected, what brings the right bytes back, what stays silent.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "converter/backend/convert.h"
#include "converter/npu/machine_json.h"
#include "engine/core/interpreter.h"
#include "engine/core/scrubber.h"
#include "ports/npu_emu/npu_emu.h"
#include "ports/reference/kernels.h"
#include "tests/support/small_model.h"

namespace takt {
namespace {

using npu::FaultKind;

struct alignas(64) Line {
  std::byte bytes[64];
};
std::vector<Line> Lines(size_t bytes) {
  return std::vector<Line>(bytes / 64 + 1);
}
std::span<std::byte> Bytes(std::vector<Line>& lines) {
  return std::as_writable_bytes(std::span(lines));
}

std::vector<uint8_t> MakePlan(const char* target) {
  ConvertOptions options;
  Diagnostics diagnostics;
  if (target != nullptr) options.machine = npu::ParseMachine(*npu::PresetJson(target), target, {}, diagnostics)->table;
  return ConvertTflite(test::SmallModel(), "small", options).plan;
}

/// A plan in memory of its own, so that faults can strike its constants, on an NPU if it is for one.
class System {
 public:
  explicit System(const char* target) : original_(MakePlan(target)), file_(Lines(original_.size())) {
    Reload();
    Requirements need;
    EXPECT_EQ(ComputeRequirements(plan_, reference::AllKernels(), need), Status());
    for (uint32_t i = 0; i < need.arena_count; ++i) memory_.push_back(Lines(need.arenas[i].bytes));
    for (std::vector<Line>& lines : memory_) arenas_.push_back(Bytes(lines));
    runtime_ = Lines(need.runtime.bytes);
    if (target == nullptr) return;
    npu::Machine machine;
    EXPECT_EQ(npu::ReadMachine(plan_.machine(), machine), Status());
    workspace_ = Lines(npu::NpuEmu::WorkspaceBytes(machine));
    EXPECT_EQ(device_.Init(plan_.machine(), Bytes(workspace_), clock_), Status());
  }

  /// From flash, as it were.
  void Reload() {
    std::memcpy(Bytes(file_).data(), original_.data(), original_.size());
    const std::span<const std::byte> bytes = Bytes(file_).first(original_.size());
    EXPECT_EQ(plan_.Open(bytes), Status());
    PlanOptions options;  // What the plan says it does is what Init counts.
    options.limits.work = plan_.limits().work;
    EXPECT_EQ(plan_.Open(bytes, options), Status());
  }
  Status Init() {
    return net_.Init(plan_, {.arenas = arenas_,
                             .runtime = Bytes(runtime_),
                             .kernels = reference::AllKernels(),
                             .devices = std::span<Device* const>(devices_, plan_.device_count()),
                             .platform = {.clock = clock_.clock()}});
  }
  /// With a watchdog of twice the time that a run takes.
  Status Run(std::span<const uint8_t> input) {
    const auto x = net_.input(0).bytes;
    std::memcpy(x.data(), input.data(), x.size());
    const uint64_t begin = clock_.now();
    const Status status = net_.Invoke(run_cycles_ == 0 ? kNoDeadline : begin + 2 * run_cycles_);
    if (run_cycles_ == 0) run_cycles_ = clock_.now() - begin;
    return status;
  }
  std::vector<std::byte> Output() const {
    const auto y = net_.output(0).bytes;
    return {y.begin(), y.end()};
  }
  Status Recover() {
    TAKT_TRY(device_.Reset());
    return Init();
  }
  Status ScrubAll() {
    ConstantScrubber scrubber(plan_);
    while (scrubber.rounds() == 0) TAKT_TRY(scrubber.Scrub(64));
    return {};
  }
  npu::NpuEmu& device() { return device_; }
  uint64_t run_cycles() const { return run_cycles_; }  ///< Of the first run.
  uint64_t planned_cycles() const {
    uint64_t sum = 0;
    for (const uint64_t cost : plan_.costs()) sum += cost;
    return sum;
  }

 private:
  std::vector<uint8_t> original_;
  std::vector<Line> file_, runtime_, workspace_;
  std::vector<std::vector<Line>> memory_;
  std::vector<std::span<std::byte>> arenas_;
  Plan plan_;
  npu::VirtualClock clock_;
  npu::NpuEmu device_;
  Device* devices_[1] = {&device_};
  uint64_t run_cycles_ = 0;
  Interpreter net_;
};

struct Figures {
  int injected = 0;
  int reported = 0;   ///< Invoke failed.
  int scrubbed = 0;   ///< Invoke passed, the scrubber found it.
  int masked = 0;     ///< Nobody noticed, and the bytes are right.
  int silent = 0;     ///< Nobody noticed, and the bytes are wrong.
  int recovered = 0;  ///< Of those noticed: right bytes after Reset, Reload and a second run.
};

std::vector<uint8_t> RandomInput(std::mt19937& random) {
  std::vector<uint8_t> input(256);
  for (uint8_t& byte : input) byte = static_cast<uint8_t>(random());
  return input;
}

/// One injection, and what a careful application does about it.
void InjectOnce(System& npu, System& host, FaultKind kind, std::mt19937& random, Figures& figures) {
  const std::vector<uint8_t> input = RandomInput(random);
  ASSERT_EQ(host.Run(input), Status());
  const std::vector<std::byte> right = host.Output();
  npu.device().Inject({kind, static_cast<uint32_t>(random() % 512), static_cast<uint32_t>(random()), random()});
  ++figures.injected;
  const Status status = npu.Run(input);
  const Status scrubbed = npu.ScrubAll();
  if (status.ok() && scrubbed.ok()) {
    ++(npu.Output() == right ? figures.masked : figures.silent);
    return;
  }
  if (!status.ok()) {
    EXPECT_NE(status.step(), Status::kNoStep) << "a fault is reported with its step";
  }
  ++(status.ok() ? figures.scrubbed : figures.reported);
  npu.Reload();
  ASSERT_EQ(npu.Recover(), Status());
  ASSERT_EQ(npu.Run(input), Status());
  figures.recovered += npu.Output() == right;
}

struct Expected {
  FaultKind kind;
  const char* name;
  bool always_noticed;  ///< Unless it struck behind the stream's end.
};
constexpr Expected kKinds[] = {
    {FaultKind::kDmaError, "DMA error", true},
    {FaultKind::kScratchpadFlip, "scratchpad flip", false},
    {FaultKind::kMemoryFlip, "memory flip", false},
    {FaultKind::kHang, "hang", true},
    {FaultKind::kSpuriousInterrupt, "spurious interrupt", false},
    {FaultKind::kSlowMemory, "slow memory", true},
    {FaultKind::kReset, "reset", true},
};
constexpr int kInjections = 1500;  // Of each kind.

TEST(FaultTest, TenThousandInjections) {
  System npu("ethos-u55-32"), host(nullptr);
  ASSERT_EQ(npu.Init(), Status());
  ASSERT_EQ(host.Init(), Status());
  std::mt19937 random(1);
  ASSERT_EQ(npu.Run(RandomInput(random)), Status());  // Measures what the watchdog allows.
  std::printf("%-20s %8s %8s %8s %9s %8s %8s\n", "fault", "injected", "reported", "scrubbed", "recovered", "masked",
              "silent");
  for (const Expected& expected : kKinds) {
    Figures f;
    for (int i = 0; i < kInjections && !HasFatalFailure(); ++i) InjectOnce(npu, host, expected.kind, random, f);
    std::printf("%-20s %8d %8d %8d %9d %8d %8d\n", expected.name, f.injected, f.reported, f.scrubbed, f.recovered,
                f.masked, f.silent);
    EXPECT_EQ(f.recovered, f.reported + f.scrubbed) << expected.name;
    if (expected.always_noticed) {
      EXPECT_EQ(f.silent, 0) << expected.name;
      EXPECT_GT(f.reported, 0) << expected.name;
    }
    if (expected.kind == FaultKind::kSpuriousInterrupt) {
      EXPECT_EQ(f.masked, kInjections) << "not taken for the end";
    }
    if (expected.kind == FaultKind::kMemoryFlip) {
      EXPECT_GT(f.scrubbed, 0);
    }
  }
}

TEST(FaultTest, AHangEndsWithoutADeadline) {
  System npu("ethos-u55-32");
  ASSERT_EQ(npu.Init(), Status());
  std::mt19937 random(4);
  const std::vector<uint8_t> input = RandomInput(random);
  npu.device().Inject({FaultKind::kHang, 0, 0, 0});
  const Status status = npu.Run(input);  // The first run has no deadline.
  EXPECT_EQ(status.code(), StatusCode::kDeviceFault);
  EXPECT_NE(status.step(), Status::kNoStep);
  EXPECT_LE(npu.run_cycles(), (kHangFactor + 1) * npu.planned_cycles());
  ASSERT_EQ(npu.Recover(), Status());
  EXPECT_EQ(npu.Run(input), Status());
}

/// An NPU that fails again and again: the plan for the host gives the same bytes.
TEST(FaultTest, TheHostsPlanStandsIn) {
  System npu("ethos-u55-32"), host(nullptr);
  ASSERT_EQ(npu.Init(), Status());
  ASSERT_EQ(host.Init(), Status());
  std::mt19937 random(2);
  const std::vector<uint8_t> input = RandomInput(random);
  ASSERT_EQ(npu.Run(input), Status());
  const std::vector<std::byte> right = npu.Output();
  for (int attempt = 0; attempt < 3; ++attempt) {
    npu.device().Inject({FaultKind::kDmaError, 0, 0, 0});
    EXPECT_EQ(npu.Run(input).code(), StatusCode::kDeviceFault);
    ASSERT_EQ(npu.Recover(), Status());
  }
  ASSERT_EQ(host.Run(input), Status());
  EXPECT_EQ(host.Output(), right);
}

TEST(FaultTest, AfterAResetJobsWantPreparing) {
  System npu("ethos-u55-32");
  ASSERT_EQ(npu.Init(), Status());
  std::mt19937 random(3);
  const std::vector<uint8_t> input = RandomInput(random);
  ASSERT_EQ(npu.Run(input), Status());
  npu.device().Inject({FaultKind::kReset, 0, 0, 0});
  EXPECT_EQ(npu.Run(input).code(), StatusCode::kDeviceFault);
  EXPECT_EQ(npu.Run(input).code(), StatusCode::kInvalidState);
  ASSERT_EQ(npu.Recover(), Status());
  EXPECT_EQ(npu.Run(input), Status());
}

}  // namespace
}  // namespace takt
