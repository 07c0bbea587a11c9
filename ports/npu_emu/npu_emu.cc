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

constexpr uint64_t kSlowdown = 8;

bool Stops(FaultKind kind) {
  return kind == FaultKind::kDmaError || kind == FaultKind::kReset;
}

/// What a fault does while the stream runs.
struct Striker {
  Fault fault;
  std::span<std::byte> target;  ///< Of a flip.
  bool struck = false;
  uint32_t at = 0;  ///< Byte offset of the command that it struck.

  bool Before(uint64_t command, uint32_t position) {
    if (command != fault.command) return true;
    struck = true;
    at = position;
    if (!target.empty()) target[fault.bit / 8 % target.size()] ^= std::byte{1} << fault.bit % 8;
    return !Stops(fault.kind);
  }
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

Status NpuEmu::DoPrepare(const Job& job, uint64_t& work) {
  if (clock_ == nullptr) return {StatusCode::kInvalidState, Site::kDeviceState};
  Stream stream;
  TAKT_TRY(OpenStream(job.stream, stream));
  BaseLimits bases[kMaxBases];
  for (size_t i = 0; i < job.bases.size(); ++i) bases[i] = {job.bases[i].size(), (job.read_only >> i & 1) == 0};
  const Layout layout(machine_);
  const std::span<std::byte> marks = workspace_.subspan(static_cast<size_t>(layout.marks));
  TAKT_TRY(CheckStream(stream, machine_, {bases, job.bases.size()}, marks, work));
  Timing timing;
  TAKT_TRY(Evaluate(stream, machine_, timing));
  cycles_[job.id] = timing.Cycles(machine_);
  return {};
}

Status NpuEmu::DoSubmit(const Job& job) {
  if (lost_) return {StatusCode::kInvalidState, Site::kDeviceState, job.id};
  Stream stream;
  TAKT_TRY(OpenStream(job.stream, stream));
  if (next_.skip != 0) {
    --next_.skip;
  } else {
    fault_ = next_;
    next_ = {};
  }
  Spaces spaces;
  uint32_t at = 0;
  for (int b = 0; b < kBuffers; ++b) {
    spaces.first[b] = workspace_.data() + at;
    at += Align(machine_.buffers[b].bytes);
  }
  for (size_t i = 0; i < job.bases.size(); ++i) spaces.first[kFirstBase + i] = job.bases[i].data();
  auto* scratch = reinterpret_cast<int16_t*>(workspace_.data() + Layout(machine_).scratch);
  const uint32_t columns = ScratchBytes(machine_) / sizeof(int16_t) / 3;
  Striker striker{fault_, {}};
  if (fault_.kind == FaultKind::kScratchpadFlip) striker.target = workspace_.first(machine_.buffer_total());
  if (fault_.kind == FaultKind::kMemoryFlip && !job.bases.empty())
    striker.target = job.bases[fault_.base % job.bases.size()];
  CommandHook hook;
  if (fault_.kind != FaultKind::kNone)
    hook = {[](void* self, uint64_t n, uint32_t byte) { return static_cast<Striker*>(self)->Before(n, byte); },
            &striker};
  Execute(stream, spaces, {scratch, scratch + columns}, BestTileKernels(), hook);
  if (Stops(fault_.kind) && !striker.struck) fault_ = {};
  const uint64_t start = free_at_ > clock_->now() ? free_at_ : clock_->now();
  const uint64_t factor = fault_.kind == FaultKind::kSlowMemory ? kSlowdown : 1;
  free_at_ = ends_[job.id] = start + factor * cycles_[job.id];
  busy_cycles_ += cycles_[job.id];
  lost_ = fault_.kind == FaultKind::kReset;
  if (fault_.kind != FaultKind::kNone || job.id == struck_job_) {
    struck_ = fault_.kind;
    struck_job_ = job.id;
    struck_at_ = striker.at;
  }
  fault_ = {};
  return {};
}

JobState NpuEmu::StateOf(uint32_t job, Status& status) const {
  const FaultKind struck = job == struck_job_ ? struck_ : FaultKind::kNone;
  const bool over = clock_->now() >= ends_[job];
  if (struck == FaultKind::kHang || !(over || lost_)) return JobState::kRunning;
  if (over && !Stops(struck)) return JobState::kDone;
  status = {StatusCode::kDeviceFault, Site::kNpuFault, struck_at_};
  return JobState::kFailed;
}

JobState NpuEmu::DoPoll(uint32_t job, Status& status) {
  const JobState state = StateOf(job, status);
  if (state == JobState::kRunning) clock_->AdvanceTo(clock_->now() + CeilDiv(machine_.clock_hz, 1000000));
  return state;
}

JobState NpuEmu::DoWait(uint32_t job, const WaitLimit& limit, Status& status) {
  if (lost_ || (limit.cancel != nullptr && *limit.cancel)) return StateOf(job, status);
  if (struck_ == FaultKind::kSpuriousInterrupt && job == struck_job_) {
    struck_ = FaultKind::kNone;
    return JobState::kRunning;
  }
  const bool ends = struck_ != FaultKind::kHang || job != struck_job_;
  clock_->AdvanceTo(ends && ends_[job] < limit.deadline ? ends_[job] : limit.deadline);
  return StateOf(job, status);
}

/// Those behind it begin earlier by what it had left.
Status NpuEmu::DoCancel(uint32_t job) {
  uint64_t begin = clock_->now();
  for (const uint64_t end : ends_) {
    if (end > begin && end < ends_[job]) begin = end;
  }
  const uint64_t left = ends_[job] > begin ? ends_[job] - begin : 0;
  for (uint64_t& end : ends_) {
    if (end > ends_[job]) end -= left;
  }
  free_at_ -= left;
  ends_[job] = 0;
  return {};
}

Status NpuEmu::DoReset() {
  for (uint64_t& cycles : cycles_) cycles = 0;
  for (uint64_t& end : ends_) end = 0;
  free_at_ = busy_cycles_ = 0;
  next_ = fault_ = {};
  struck_ = FaultKind::kNone;
  lost_ = false;
  return {};
}

}  // namespace takt::npu
