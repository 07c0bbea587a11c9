#include "ports/npu_emu/npu_emu.h"

#include "ports/npu_emu/model/checker.h"

namespace takt::npu {
namespace {

constexpr uint32_t kAlignment = 64;
constexpr uint32_t Align(uint32_t n) {
  return (n + kAlignment - 1) & ~(kAlignment - 1);
}

/// The workspace: buffers, then scratch of the kernels, then the checker's marks.
struct Layout {
  explicit Layout(const Machine& m)
      : scratch(m.buffer_total()),
        marks(uint64_t{scratch} + Align(ScratchBytes(m))),
        bytes(marks + Align(MarkBytes(m))) {}
  uint32_t scratch;
  uint64_t marks, bytes;
};

}  // namespace

uint32_t NpuEmu::WorkspaceBytes(const Machine& machine) {
  const uint64_t bytes = Layout(machine).bytes;
  return bytes < UINT32_MAX ? static_cast<uint32_t>(bytes) : UINT32_MAX;
}

Status NpuEmu::Init(std::span<const uint8_t> machine, std::span<std::byte> workspace, VirtualClock& clock) {
  clock_ = nullptr;
  TAKT_TRY(ReadMachine(machine, machine_));
  const uint32_t need = WorkspaceBytes(machine_);
  if (workspace.size() < need) return {StatusCode::kArenaTooSmall, Site::kNpuWorkspace, need};
  if (reinterpret_cast<uintptr_t>(workspace.data()) % kAlignment != 0) {
    return {StatusCode::kMisaligned, Site::kNpuWorkspace, kAlignment};
  }
  workspace_ = workspace;
  clock_ = &clock;
  return Reset();
}

Status NpuEmu::DoPrepare(const Job& job) {
  if (clock_ == nullptr) return {StatusCode::kInvalidState, Site::kDeviceState};
  if (job.id >= kMaxJobs) return {StatusCode::kLimitExceeded, Site::kDeviceState, job.id};
  Stream stream;
  TAKT_TRY(OpenStream(job.stream, stream));
  BaseLimits bases[kMaxBases];
  for (size_t i = 0; i < job.bases.size(); ++i) bases[i] = {job.bases[i].size(), (job.read_only >> i & 1) == 0};
  const Layout layout(machine_);
  TAKT_TRY(
      CheckStream(stream, machine_, {bases, job.bases.size()}, workspace_.subspan(static_cast<size_t>(layout.marks))));
  Timing timing;
  TAKT_TRY(Evaluate(stream, machine_, timing));
  cycles_[job.id] = timing.Cycles(machine_);
  return {};
}

Status NpuEmu::DoSubmit(const Job& job) {
  Stream stream;
  TAKT_TRY(OpenStream(job.stream, stream));
  Spaces spaces;
  uint32_t at = 0;
  for (int b = 0; b < kBuffers; ++b) {
    spaces.first[b] = workspace_.data() + at;
    at += Align(machine_.buffer_bytes[b]);
  }
  for (size_t i = 0; i < job.bases.size(); ++i) spaces.first[kFirstBase + i] = job.bases[i].data();
  auto* scratch = reinterpret_cast<int16_t*>(workspace_.data() + Layout(machine_).scratch);
  const uint32_t half = ScratchBytes(machine_) / 4;
  Execute(stream, spaces, {scratch, scratch + half}, BestTileKernels());
  const uint64_t start = free_at_ > clock_->now() ? free_at_ : clock_->now();
  free_at_ = ends_[job.id] = start + cycles_[job.id];
  busy_cycles_ += cycles_[job.id];
  return {};
}

JobState NpuEmu::StateOf(uint16_t job) const {
  return clock_->now() >= ends_[job] ? JobState::kDone : JobState::kRunning;
}

JobState NpuEmu::DoPoll(uint16_t job, Status&) {
  const JobState state = StateOf(job);
  if (state == JobState::kRunning) clock_->AdvanceTo(clock_->now() + CeilDiv(machine_.clock_hz, 1000000));
  return state;
}

JobState NpuEmu::DoWait(uint16_t job, const WaitLimit& limit, Status&) {
  clock_->AdvanceTo(ends_[job] < limit.deadline ? ends_[job] : limit.deadline);
  return StateOf(job);
}

Status NpuEmu::DoCancel() {
  free_at_ = clock_->now();
  return {};
}

Status NpuEmu::DoReset() {
  for (uint64_t& cycles : cycles_) cycles = 0;
  free_at_ = busy_cycles_ = 0;
  return {};
}

}  // namespace takt::npu
