#include "engine/core/interpreter.h"

#include <algorithm>
#include <cstring>

#include "engine/core/memory_rules.h"
#include "schema/plan_generated.h"

namespace takt {

namespace {

constexpr uint32_t kNoRow = UINT32_MAX;

uint32_t FindRow(KernelTable kernels, const KernelKey& key) {
  for (uint32_t i = 0; i < kernels.size(); ++i) {
    if (kernels[i]->key == key) return i;
  }
  return kNoRow;
}

TensorRef Ref(const Plan& plan, uint32_t t) {
  const TensorView v = plan.tensor(t);
  void* data = v.constant ? const_cast<std::byte*>(plan.constant(v.base).bytes.data() + v.offset) : nullptr;
  return {data, v.dims, v.strides, v.type, v.rank, v.constant};
}

/// Where the runtime arena's parts end: records and persistent blocks, then one scratch that all steps share.
struct Extent {
  uint32_t persistent = 0;
  uint32_t scratch = 0;
  uint32_t over_read = 0;  ///< Largest of all steps.

  static uint64_t Align(uint64_t n) { return (n + 15) & ~uint64_t{15}; }
  uint64_t bytes() const { return persistent + Align(scratch); }
};

KernelNeed NeedOf(const Plan& plan, const Kernel& kernel, const StepView& s) {
  if (kernel.need == nullptr) return {};
  TensorRef refs[kMaxOperands];
  uint32_t n = 0;
  for (const uint16_t t : s.operands()) refs[n++] = Ref(plan, t);
  KernelNeed need = kernel.need({.step_params = s.params,
                                 .inputs = {refs, s.inputs.size()},
                                 .outputs = {refs + s.inputs.size(), s.outputs.size()},
                                 .scratch = {},
                                 .persistent = {}});
  if (s.scratch != kNoTensor && plan.tensor_bytes(s.scratch) >= need.scratch) need.scratch = 0;
  return need;
}

/// Finds each step's kernel and what it needs. Fills `records`, all but the offset of the scratch, unless nullptr.
Status LayOut(const Plan& plan, KernelTable kernels, StepRecord* records, Extent& at) {
  at = {.persistent = static_cast<uint32_t>(Extent::Align(plan.step_count() * sizeof(StepRecord)))};
  for (uint32_t i = 0; i < plan.step_count(); ++i) {
    const StepView s = plan.step(i);
    KernelNeed need;
    uint32_t row = kNoRow;
    if (s.op >= kFirstKernelOp) {
      row = FindRow(kernels, KeyOf(plan, s));
      if (row == kNoRow) {
        return {StatusCode::kNoKernel, Site::kInitKernel, static_cast<uint32_t>(s.op), static_cast<uint16_t>(i)};
      }
      need = NeedOf(plan, *kernels[row], s);
    }
    if (records != nullptr) {
      records[i] = {row, 0, need.scratch, at.persistent, need.persistent, {}};
    }
    at.scratch = std::max(at.scratch, need.scratch);
    at.over_read = std::max(at.over_read, need.over_read);
    const uint64_t bytes = at.bytes() + Extent::Align(need.persistent);
    if (bytes > INT32_MAX) {
      return {StatusCode::kLimitExceeded, Site::kInitRuntime, static_cast<uint32_t>(bytes >> 20),
              static_cast<uint16_t>(i)};
    }
    at.persistent += static_cast<uint32_t>(Extent::Align(need.persistent));
  }
  return {};
}

/// Of an arena whose tensors kernels may over-read by `slack` bytes.
Status ArenaNeedOf(const ArenaView& arena, uint32_t slack, ArenaNeed& need) {
  if (arena.bytes > UINT32_MAX - slack) return {StatusCode::kLimitExceeded, Site::kInitArena, arena.bytes};
  need = {arena.bytes != 0 ? arena.bytes + slack : 0, arena.alignment};
  return {};
}

/// What an application gives shares no memory with the plan or with itself.
Status CheckDisjoint(const Plan& plan, const InitOptions& options) {
  const auto arenas = static_cast<uint32_t>(std::min<size_t>(options.arenas.size(), plan.arena_count()));
  const auto given = [&](uint32_t i) { return i < arenas ? options.arenas[i] : options.runtime; };
  for (uint32_t i = 0; i <= arenas; ++i) {
    bool shares = ShareMemory(given(i), plan.bytes());
    for (uint32_t k = 0; k < i; ++k) shares = shares || ShareMemory(given(i), given(k));
    if (shares) return {StatusCode::kInvalidArgument, Site::kInitOverlap, i};
  }
  return {};
}

}  // namespace

KernelKey KeyOf(const Plan& plan, const StepView& s) {
  KernelKey key{.op = s.op, .numerics = s.numerics};
  if (!s.inputs.empty()) key.types[0] = plan.tensor(s.inputs[0]).type;
  if (s.inputs.size() > 1) {
    const TensorView second = plan.tensor(s.inputs[1]);
    key.types[1] = second.type;
    if (second.constant) key.layout = plan.constant(second.base).layout;
  }
  if (!s.outputs.empty()) key.types[2] = plan.tensor(s.outputs[0]).type;
  return key;
}

Status ComputeRequirements(const Plan& plan, KernelTable kernels, Requirements& need) {
  Extent extent;
  TAKT_TRY(LayOut(plan, kernels, nullptr, extent));
  need = {};
  need.runtime = {static_cast<uint32_t>(extent.bytes()), kRuntimeAlignment};
  need.slack = extent.over_read;
  need.arena_count = plan.arena_count();
  for (uint32_t i = 0; i < need.arena_count; ++i) TAKT_TRY(ArenaNeedOf(plan.arena(i), need.slack, need.arenas[i]));
  return {};
}

Status Interpreter::Init(const Plan& plan, const InitOptions& options) {
  plan_ = nullptr;
  running_ = false;
  jobs_in_flight_ = 0;
  any_rebound_ = false;
  for (Rebound& r : rebound_) r = {};
  ClearCancel();
  if (!plan.is_open()) return {StatusCode::kInvalidState, Site::kInvokeState};
  TAKT_TRY(CheckDisjoint(plan, options));
  const std::span<std::byte> runtime = options.runtime;
  const bool fits =
      IsAligned(runtime.data(), kRuntimeAlignment) && runtime.size() / sizeof(StepRecord) >= plan.step_count();
  records_ = fits ? reinterpret_cast<StepRecord*>(runtime.data()) : nullptr;
  Extent extent;
  TAKT_TRY(LayOut(plan, options.kernels, records_, extent));
  TAKT_TRY(BindRuntime(runtime, static_cast<uint32_t>(extent.bytes())));
  slack_ = extent.over_read;
  TAKT_TRY(BindArenas(plan, options.arenas));
  if (options.devices.size() < plan.device_count()) {
    return {StatusCode::kInvalidArgument, Site::kInitDevice, static_cast<uint32_t>(options.devices.size())};
  }
  kernels_ = options.kernels;
  devices_ = options.devices;
  jobs_ = {options.first_job, plan.job_count()};
  platform_ = options.platform;
  trace_ = options.trace;
  commit_ = plan.commit_step();
  status_ = {};
  plan_ = &plan;
  const Status status = BindSteps(extent.persistent);
  if (!status.ok()) {
    plan_ = nullptr;
    return status;
  }
  return ResetState();
}

Status Interpreter::BindRuntime(std::span<std::byte> runtime, uint32_t bytes) {
  if (runtime.size() < bytes) return {StatusCode::kArenaTooSmall, Site::kInitRuntime, bytes};
  if (records_ == nullptr) return {StatusCode::kMisaligned, Site::kInitRuntime, kRuntimeAlignment};
  runtime_ = runtime.first(bytes);
  return {};
}

Status Interpreter::BindArenas(const Plan& plan, std::span<const std::span<std::byte>> arenas) {
  for (uint32_t i = 0; i < plan.arena_count(); ++i) {
    const std::span<std::byte> given = i < arenas.size() ? arenas[i] : std::span<std::byte>();
    ArenaNeed need;
    TAKT_TRY(ArenaNeedOf(plan.arena(i), slack_, need));
    if (given.size() < need.bytes) return {StatusCode::kArenaTooSmall, Site::kInitArena, need.bytes};
    if (!IsAligned(given.data(), need.alignment)) return {StatusCode::kMisaligned, Site::kInitArena, need.alignment};
    arenas_[i] = given.data();
  }
  return {};
}

/// Checks every step; a step inside loops counts once for each trip.
Status Interpreter::BindSteps(uint32_t scratch_offset) {
  TAKT_TRY(BindDevices());
  uint32_t ends[kMaxLoopDepth] = {};
  uint64_t outer[kMaxLoopDepth] = {};
  uint32_t depth = 0;
  uint64_t trips = 1;
  uint64_t total = 0;
  const uint64_t limit = plan_->accepted().work;
  for (uint32_t i = 0; i < plan_->step_count(); ++i) {
    while (depth > 0 && ends[depth - 1] <= i) trips = outer[--depth];
    records_[i].scratch_offset = scratch_offset;
    uint64_t work = 1;
    TAKT_TRY(InitStep(i, work).AtStep(static_cast<uint16_t>(i)));
    if (work > limit / trips || work * trips > limit - total) {
      return {StatusCode::kLimitExceeded, Site::kInitWork, static_cast<uint32_t>(work >> 20), static_cast<uint16_t>(i)};
    }
    total += work * trips;
    const StepView s = plan_->step(i);
    if (s.op == Op::kLoop) {
      const auto* p = static_cast<const schema::LoopParams*>(s.params);
      ends[depth] = i + 1 + p->body();
      outer[depth++] = trips;
      const uint64_t max_trips = p->max_trips() == 0 ? 1 : p->max_trips();
      if (max_trips > limit / trips)
        return {StatusCode::kLimitExceeded, Site::kInitWork, UINT32_MAX, static_cast<uint16_t>(i)};
      trips *= max_trips;
    }
  }
  return {};
}

Status Interpreter::InitStep(uint32_t step, uint64_t& work) {
  const StepView s = plan_->step(step);
  if (s.op == Op::kSubmit) return RunJob(s.job(), &work);
  const Kernel* kernel = binding(step);
  if (kernel == nullptr) return {};
  Bound bound;
  BindOperands(step, bound);
  TAKT_TRY(kernel->check(bound.call, work));
  return kernel->prepare != nullptr ? kernel->prepare(bound.call) : Status();
}

/// Every device is there, and is not asked to hold more jobs than its queue does. Finds how long a run waits for jobs.
Status Interpreter::BindDevices() {
  uint64_t ticks = platform_.most_job_ticks;
  if (ticks == 0) {
    for (const uint64_t cost : plan_->costs()) ticks += cost;
    ticks *= kHangFactor;
  }
  patience_ = ticks == 0 || platform_.clock.now == nullptr ? kNoDeadline : ticks;
  for (uint32_t d = 0; d < plan_->device_count(); ++d) {
    if (devices_[d] == nullptr) return {StatusCode::kInvalidArgument, Site::kInitDevice, d};
  }
  uint8_t in_flight[kMaxDevices] = {};
  for (uint32_t i = 0; i < plan_->step_count(); ++i) {
    const StepView s = plan_->step(i);
    if (s.op != Op::kSubmit && s.op != Op::kWait) continue;
    uint8_t& n = in_flight[s.device()];
    n = static_cast<uint8_t>(s.op == Op::kSubmit ? n + 1 : n - 1);
    if (n > devices_[s.device()]->caps().queue_depth) {
      return {StatusCode::kUnsupported, Site::kInitDevice, s.device(), static_cast<uint16_t>(i)};
    }
  }
  return {};
}

const Kernel* Interpreter::binding(uint32_t step) const {
  const uint32_t row = records_[step].row;
  return row != kNoRow ? kernels_[row] : nullptr;
}

void Interpreter::BindOperands(uint32_t step, Bound& bound) const {
  const StepView s = plan_->step(step);
  uint32_t n = 0;
  const auto add = [&](uint16_t t) {
    bound.refs[n] = Ref(*plan_, t);
    if (!bound.refs[n].constant) bound.refs[n].data = Address(t, plan_->tensor(t));
    ++n;
  };
  for (const uint16_t t : s.inputs) add(t);
  for (const uint16_t t : s.outputs) add(t);
  const StepRecord& r = records_[step];
  bound.call.step_params = s.params;
  bound.call.inputs = {bound.refs, s.inputs.size()};
  bound.call.outputs = {bound.refs + s.inputs.size(), s.outputs.size()};
  bound.call.persistent = runtime_.subspan(r.persistent_offset, r.persistent_bytes);
  if (r.scratch_bytes != 0) {
    bound.call.scratch = runtime_.subspan(r.scratch_offset, r.scratch_bytes);
  } else if (s.scratch != kNoTensor) {
    bound.call.scratch = tensor(s.scratch);
  }
}

std::byte* Interpreter::Address(uint32_t t, const TensorView& view) const {
  if (any_rebound_) {
    const uint16_t root = plan_->live(t).root;
    for (const Rebound& r : rebound_) {
      if (r.data != nullptr && r.root == root) return r.data + (view.offset - r.offset);
    }
  }
  return arenas_[view.base] + view.offset;
}

std::span<std::byte> Interpreter::tensor(uint32_t i) const {
  const TensorView view = plan_->tensor(i);
  std::byte* data = view.constant ? static_cast<std::byte*>(Ref(*plan_, i).data) : Address(i, view);
  return {data, plan_->tensor_extent(i)};
}

TensorInfo Interpreter::Info(const BindingView& b) const {
  const TensorView t = plan_->tensor(b.tensor);
  return {tensor(b.tensor), b.name, {t.dims, t.rank}, t.type, b.scale, b.zero_point};
}

TensorInfo Interpreter::input(uint32_t i) const {
  return Info(plan_->input(i));
}
TensorInfo Interpreter::output(uint32_t i) const {
  return Info(plan_->output(i));
}

TensorInfo Interpreter::input(std::string_view name) const {
  const auto i = plan_->FindInput(name);
  return i ? input(*i) : TensorInfo();
}

TensorInfo Interpreter::output(std::string_view name) const {
  const auto i = plan_->FindOutput(name);
  return i ? output(*i) : TensorInfo();
}

Status Interpreter::ResetState() {
  if (plan_ == nullptr || running_) return {StatusCode::kInvalidState, Site::kInvokeState};
  poison_ = kNoTensor;
  for (uint32_t i = 0; i < plan_->state_count(); ++i) {
    const StateView s = plan_->state(i);
    const std::span<std::byte> state = tensor(s.tensor);
    if (s.initial != kNoTensor) {
      std::memcpy(state.data(), tensor(s.initial).data(), state.size());
    } else if (!state.empty()) {
      std::memset(state.data(), 0, state.size());
    }
  }
  return {};
}

}  // namespace takt
