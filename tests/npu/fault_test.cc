// Faults injected into the emulated NPU: which are detected, what brings the
// right bytes back, what stays silent.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>

#include "absl/strings/str_format.h"
#include "converter/backend/convert.h"
#include "converter/backend/plan_writer.h"
#include "converter/ir/text.h"
#include "engine/core/interpreter.h"
#include "engine/core/scrubber.h"
#include "ports/npu_emu/model/access.h"
#include "ports/npu_emu/npu_emu.h"
#include "ports/reference/kernels.h"
#include "schema/plan_generated.h"
#include "tests/npu/job_models.h"

namespace takt {
namespace {

using npu::FaultKind;
using test::kInputBytes;
using test::kModels;
using test::kTarget;
using test::MakePlan;
using test::Model;

struct alignas(64) Line {
  std::byte bytes[64];
};
std::vector<Line> Lines(size_t bytes) {
  return std::vector<Line>(bytes / 64 + 1);
}
std::span<std::byte> Bytes(std::vector<Line>& lines) {
  return std::as_writable_bytes(std::span(lines));
}

std::vector<std::vector<std::byte>> Copies(std::span<const std::span<std::byte>> spans) {
  std::vector<std::vector<std::byte>> copies;
  for (const std::span<std::byte> bytes : spans) copies.emplace_back(bytes.begin(), bytes.end());
  return copies;
}

/// A plan in memory of its own, so that faults can strike its constants, on an
/// NPU if it is for one.
class System {
 public:
  System(Model model, const char* target) : original_(MakePlan(model, target)), file_(Lines(original_.size())) {
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
  /// What an application keeps of a network with state: Init starts it anew.
  std::vector<std::byte> State() const {
    for (uint32_t i = 0; i < plan_.arena_count(); ++i)
      if (plan_.arena(i).kind == ArenaKind::kState) return {arenas_[i].begin(), arenas_[i].end()};
    return {};
  }
  void RestoreState(std::span<const std::byte> state) {
    for (uint32_t i = 0; i < plan_.arena_count(); ++i)
      if (plan_.arena(i).kind == ArenaKind::kState) std::ranges::copy(state, arenas_[i].begin());
  }
  Interpreter& net() { return net_; }
  const Plan& plan() const { return plan_; }
  npu::NpuEmu& device() { return device_; }
  const npu::Machine& machine() const { return device_.machine(); }
  /// Memory of a tensor, constants included.
  std::span<std::byte> Memory(uint16_t tensor) {
    const TensorView t = plan_.tensor(tensor);
    if (!t.constant) return net_.tensor(tensor);
    const std::span<const std::byte> bytes = plan_.constant(t.base).bytes.subspan(t.offset, t.bytes());
    return {const_cast<std::byte*>(bytes.data()), bytes.size()};
  }
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

/// Bytes that a command reads: [begin, end) of a space.
struct Read {
  uint32_t command;
  uint8_t space;
  uint64_t begin, end;
};
/// Of one job: how many commands it runs, and what each reads on the chip and
/// in memory.
struct Strikes {
  uint32_t commands = 0;
  std::vector<Read> on_chip, in_memory;
};
Strikes StrikesOf(const Plan& plan, uint32_t job) {
  npu::Stream stream;
  EXPECT_EQ(npu::OpenStream(plan.constant(plan.job(job).stream).bytes, stream), Status());
  Strikes strikes;
  npu::Walker walker(stream.commands);
  for (npu::Command command = walker.Next(); command.op != npu::MicroOp::kEnd; command = walker.Next()) {
    const npu::AccessList accesses = npu::AccessesOf(command, walker);
    for (const npu::Access& access : std::span(accesses.items).first(accesses.count)) {
      if (!access.read) continue;
      (access.space < npu::kFirstBase ? strikes.on_chip : strikes.in_memory)
          .push_back({strikes.commands, access.space, access.begin, access.end});
    }
    ++strikes.commands;
  }
  return strikes;
}

/// Where an on-chip buffer begins in what a scratchpad flip counts.
uint64_t BufferOffset(const npu::Machine& machine, uint8_t buffer) {
  uint64_t at = 0;
  for (uint8_t b = 0; b < buffer; ++b) at += (uint64_t{machine.buffer(static_cast<npu::Buffer>(b))} + 63) / 64 * 64;
  return at;
}

/// A fault in any job at any command; flips strike what the command is about to
/// read.
npu::Fault RandomFault(const System& system, FaultKind kind, std::mt19937& random) {
  npu::Fault fault = {.kind = kind, .skip = static_cast<uint32_t>(random() % system.plan().job_count())};
  const Strikes strikes = StrikesOf(system.plan(), fault.skip);
  fault.command = static_cast<uint32_t>(random() % strikes.commands);
  if (kind != FaultKind::kScratchpadFlip && kind != FaultKind::kMemoryFlip) return fault;
  const auto& reads = kind == FaultKind::kMemoryFlip ? strikes.in_memory : strikes.on_chip;
  const Read& read = reads[random() % reads.size()];
  fault.command = read.command;
  uint64_t byte = read.begin + random() % (read.end - read.begin);
  if (kind == FaultKind::kMemoryFlip) fault.base = read.space - npu::kFirstBase;
  if (kind == FaultKind::kScratchpadFlip) byte += BufferOffset(system.machine(), read.space);
  fault.bit = 8 * byte + random() % 8;
  return fault;
}

/// Byte offset of the command that a fault strikes.
uint32_t PositionOf(const Plan& plan, const npu::Fault& fault) {
  npu::Stream stream;
  EXPECT_EQ(npu::OpenStream(plan.constant(plan.job(fault.skip).stream).bytes, stream), Status());
  npu::Walker walker(stream.commands);
  for (uint32_t i = 0; i <= fault.command; ++i) (void)walker.Next();
  return walker.position();
}

struct Figures {
  int injected = 0;
  int reported = 0;   ///< Invoke failed.
  int scrubbed = 0;   ///< Invoke passed, the scrubber found it.
  int masked = 0;     ///< Nobody noticed, and the bytes are right.
  int silent = 0;     ///< Nobody noticed, and the bytes are wrong.
  int recovered = 0;  ///< Of those noticed: right bytes after Reset, Reload and
                      ///< a second run.
};

std::vector<uint8_t> RandomInput(std::mt19937& random) {
  std::vector<uint8_t> input(kInputBytes);
  for (uint8_t& byte : input) byte = static_cast<uint8_t>(random());
  return input;
}

/// One injection, and what a careful application does about it.
void InjectOnce(System& npu, System& host, FaultKind kind, std::mt19937& random, Figures& figures) {
  const std::vector<uint8_t> before = RandomInput(random), input = RandomInput(random);
  ASSERT_EQ(npu.net().ResetState(), Status());
  ASSERT_EQ(host.net().ResetState(), Status());
  ASSERT_EQ(npu.Run(before), Status());
  ASSERT_EQ(host.Run(before), Status());
  ASSERT_EQ(host.Run(input), Status());
  const std::vector<std::byte> right = host.Output(), state = npu.State();
  const npu::Fault fault = RandomFault(npu, kind, random);
  npu.device().Inject(fault);
  ++figures.injected;
  const Status status = npu.Run(input);
  const Status scrubbed = npu.ScrubAll();
  if (status.ok() && scrubbed.ok()) {
    ++(npu.Output() == right ? figures.masked : figures.silent);
    return;
  }
  if (!status.ok()) {
    EXPECT_NE(status.step(), Status::kNoStep) << "a fault is reported with its step";
    if (kind == FaultKind::kDmaError || kind == FaultKind::kReset) {
      const uint32_t at = PositionOf(npu.plan(), fault);
      EXPECT_EQ(status, Status(StatusCode::kDeviceFault, Site::kNpuFault, at, status.step()));
    }
  }
  ++(status.ok() ? figures.scrubbed : figures.reported);
  npu.Reload();
  ASSERT_EQ(npu.Recover(), Status());
  npu.RestoreState(state);
  ASSERT_EQ(npu.Run(input), Status());
  figures.recovered += npu.Output() == right;
}

constexpr std::pair<FaultKind, const char*> kKinds[] = {
    {FaultKind::kDmaError, "DMA error"},
    {FaultKind::kHang, "hang"},
    {FaultKind::kSlowMemory, "slow memory (8 x)"},
    {FaultKind::kReset, "reset"},
    {FaultKind::kSpuriousInterrupt, "spurious interrupt"},
    {FaultKind::kMemoryFlip, "bit of a base"},
    {FaultKind::kScratchpadFlip, "bit on the chip"},
};
constexpr int kInjections = 750;  // Of each kind, in each model.

std::string Readme() {
  std::ifstream file(TAKT_SOURCE_DIR "/ports/npu_emu/README.md");
  return {std::istreambuf_iterator<char>(file), {}};
}

/// 10 500 in all. Whatever a stream's plan decides changes which bits matter: a
/// row that differs is printed as it is now.
TEST(FaultTest, TheTableOfTheReadmeIsTrue) {
  const std::string readme = Readme();
  std::mt19937 random(1);
  for (const auto& [kind, name] : kKinds) {
    Figures f;
    for (const Model model : kModels) {
      System npu(model, kTarget), host(model, nullptr);
      ASSERT_EQ(npu.Init(), Status());
      ASSERT_EQ(host.Init(), Status());
      ASSERT_EQ(npu.Run(RandomInput(random)),
                Status());  // Measures what the watchdog allows.
      for (int i = 0; i < kInjections && !HasFatalFailure(); ++i) InjectOnce(npu, host, kind, random, f);
    }
    EXPECT_EQ(f.injected, 2 * kInjections);
    EXPECT_EQ(f.recovered, f.reported + f.scrubbed) << name;
    const std::string row = absl::StrFormat("| %s | %d | %d | %d | %d | %d |\n", name, f.reported, f.scrubbed,
                                            f.recovered, f.masked, f.silent);
    EXPECT_NE(readme.find(row), std::string::npos) << "ports/npu_emu/README.md lacks this row:\n" << row;
  }
}

/// The engine's recovery is a second Invoke; a driver may run a job again by
/// itself where the plan says so.
TEST(FaultTest, RetryableJobsGiveTheSameBytesAgain) {
  for (const Model model : kModels) {
    System npu(model, kTarget);
    ASSERT_EQ(npu.Init(), Status());
    std::mt19937 random(5);
    ASSERT_EQ(npu.Run(RandomInput(random)), Status());
    const Plan& plan = npu.plan();
    ASSERT_EQ(plan.job_count(), model == Model::kStateful ? 2u : 1u);
    EXPECT_EQ(plan.state_count(), model == Model::kStateful ? 1u : 0u);
    ASSERT_EQ(npu.net().Begin(), Status());
    for (Progress p = Progress::kMore; p != Progress::kDone;) {
      const uint32_t at = npu.net().cursor();
      p = npu.net().Step(1);
      ASSERT_NE(p, Progress::kFailed);
      if (plan.step(at).op != Op::kWait || p == Progress::kWaiting) continue;
      const JobView job = plan.job(plan.step(at).job());
      EXPECT_TRUE(job.retryable);
      std::vector<std::span<std::byte>> bases;
      for (const uint16_t base : job.bases) bases.push_back(npu.Memory(base));
      const std::vector<std::vector<std::byte>> first = Copies(bases);
      const Job again = {plan.step(at).job(), plan.constant(job.stream).bytes, bases, 0};
      ASSERT_EQ(npu.device().Submit(again), Status());
      Status status;
      ASSERT_EQ(npu.device().Wait(again.id, {}, status), JobState::kDone);
      EXPECT_EQ(Copies(bases), first);
    }
  }
}

/// Of a job that reads 16 bytes and writes 16 that begin `apart` bytes behind them.
bool SaysRetryable(int64_t apart) {
  std::string error;
  const auto graph = ir::ParseGraph(R"(graph "g"
%0 "x": int8[16]
%1 "y": int8[16]
inputs %0
outputs %1
%1 = copy(%0)
)",
                                    error);
  const std::vector<backend::StepSpec> steps;
  memory::Liveness liveness;
  liveness.tensors = {{.tensor = 0, .last = 1, .buffer = 0, .root = 0},
                      {.tensor = 1, .last = 1, .buffer = 1, .root = 1}};
  memory::Placement placement;
  placement.offsets = {0, apart};
  placement.peak_bytes = 64;
  const backend::JobSpec job = {.stream = {1}, .bases = {0, 1}, .written = {false, true}};
  backend::PlanInput input = {*graph, steps, liveness, placement, {}, *FindTarget("host")};
  input.device.jobs = {job};
  Diagnostics diagnostics;
  const std::vector<uint8_t> plan = backend::WritePlan(input, diagnostics);
  return schema::GetPlan(plan.data())->jobs()->Get(0)->retryable();
}

TEST(FaultTest, AJobThatOverwritesWhatItReadsIsNotRetryable) {
  EXPECT_TRUE(SaysRetryable(16));
  EXPECT_FALSE(SaysRetryable(15));
  EXPECT_FALSE(SaysRetryable(0));
}

TEST(FaultTest, AHangEndsWithoutADeadline) {
  System npu(Model::kConvolutions, kTarget);
  ASSERT_EQ(npu.Init(), Status());
  std::mt19937 random(4);
  const std::vector<uint8_t> input = RandomInput(random);
  npu.device().Inject({.kind = FaultKind::kHang});
  const Status status = npu.Run(input);  // The first run has no deadline.
  EXPECT_EQ(status.code(), StatusCode::kDeviceFault);
  EXPECT_NE(status.step(), Status::kNoStep);
  EXPECT_LE(npu.run_cycles(), (kHangFactor + 1) * npu.planned_cycles());
  ASSERT_EQ(npu.Recover(), Status());
  EXPECT_EQ(npu.Run(input), Status());
}

/// An NPU that fails again and again: the plan for the host gives the same
/// bytes.
TEST(FaultTest, TheHostsPlanStandsIn) {
  System npu(Model::kConvolutions, kTarget), host(Model::kConvolutions, nullptr);
  ASSERT_EQ(npu.Init(), Status());
  ASSERT_EQ(host.Init(), Status());
  std::mt19937 random(2);
  const std::vector<uint8_t> input = RandomInput(random);
  ASSERT_EQ(npu.Run(input), Status());
  const std::vector<std::byte> right = npu.Output();
  for (int attempt = 0; attempt < 3; ++attempt) {
    npu.device().Inject({.kind = FaultKind::kDmaError});
    EXPECT_EQ(npu.Run(input).code(), StatusCode::kDeviceFault);
    ASSERT_EQ(npu.Recover(), Status());
  }
  ASSERT_EQ(host.Run(input), Status());
  EXPECT_EQ(host.Output(), right);
}

TEST(FaultTest, AfterAResetJobsWantPreparing) {
  System npu(Model::kConvolutions, kTarget);
  ASSERT_EQ(npu.Init(), Status());
  std::mt19937 random(3);
  const std::vector<uint8_t> input = RandomInput(random);
  ASSERT_EQ(npu.Run(input), Status());
  npu.device().Inject({.kind = FaultKind::kReset});
  EXPECT_EQ(npu.Run(input).code(), StatusCode::kDeviceFault);
  EXPECT_EQ(npu.Run(input).code(), StatusCode::kInvalidState);
  ASSERT_EQ(npu.Recover(), Status());
  EXPECT_EQ(npu.Run(input), Status());
}

}  // namespace
}  // namespace takt
