#include "engine/core/interpreter.h"

#include <cstring>

#include "schema/plan_generated.h"

namespace takt {

namespace {

constexpr uint32_t kNoRow = UINT32_MAX;

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

uint32_t FindRow(KernelTable kernels, const KernelKey& key) {
  for (uint32_t i = 0; i < kernels.size(); ++i) {
    if (kernels[i]->key == key) return i;
  }
  return kNoRow;
}

TensorRef Ref(const Plan& plan, uint32_t t) {
  const TensorView v = plan.tensor(t);
  TensorRef ref{.dims = v.dims, .strides = v.strides, .type = v.type, .rank = v.rank, .constant = v.constant};
  if (v.constant) ref.data = const_cast<std::byte*>(plan.constant(v.base).bytes.data() + v.offset);
  return ref;
}

bool IsAligned(const void* p, uint32_t alignment) { return reinterpret_cast<uintptr_t>(p) % alignment == 0; }

/// Where the runtime arena's parts lie: records, then persistent blocks, then one scratch that all steps share.
struct Layouter {
  uint64_t persistent;
  uint64_t scratch = 0;

  static uint64_t Align(uint64_t n) { return (n + 15) & ~uint64_t{15}; }
};

Status Exceeds(uint64_t bytes) {
  return {StatusCode::kLimitExceeded, Site::kInitRuntime, static_cast<uint32_t>(bytes >> 20)};
}

/// Calls `visit(step, row, need, persistent offset)` for each kernel step; returns bytes of the runtime arena.
template <typename Visit>
Status LayOut(const Plan& plan, KernelTable kernels, uint64_t& bytes, uint64_t& scratch_start, const Visit& visit) {
  Layouter at{Layouter::Align(uint64_t{plan.step_count()} * sizeof(StepRecord))};
  for (uint32_t i = 0; i < plan.step_count(); ++i) {
    const StepView s = plan.step(i);
    KernelNeed need;
    uint32_t row = kNoRow;
    if (s.op >= kFirstKernelOp) {
      row = FindRow(kernels, KeyOf(plan, s));
      if (row == kNoRow) {
        return {StatusCode::kNoKernel, Site::kInitKernel, static_cast<uint32_t>(s.op), static_cast<uint16_t>(i)};
      }
      if (kernels[row]->need != nullptr) {
        TensorRef refs[kMaxOperands];
        uint32_t n = 0;
        for (const uint16_t t : s.inputs) refs[n++] = Ref(plan, t);
        for (const uint16_t t : s.outputs) refs[n++] = Ref(plan, t);
        need = kernels[row]->need({.step_params = s.params, .inputs = {refs, s.inputs.size()},
                                   .outputs = {refs + s.inputs.size(), s.outputs.size()}, .scratch = {}, .persistent = {}});
        if (s.scratch != kNoTensor && plan.tensor_bytes(s.scratch) >= need.scratch) need.scratch = 0;
      }
    }
    visit(i, row, need, at.persistent);
    at.persistent += Layouter::Align(need.persistent);
    at.scratch = need.scratch > at.scratch ? need.scratch : at.scratch;
    if (at.persistent + at.scratch > INT32_MAX) return Exceeds(at.persistent + at.scratch).AtStep(static_cast<uint16_t>(i));
  }
  scratch_start = at.persistent;
  bytes = at.persistent + Layouter::Align(at.scratch);
  return {};
}

}  // namespace

Status ComputeRequirements(const Plan& plan, KernelTable kernels, Requirements& need) {
  need = {};
  need.arena_count = plan.arena_count();
  for (uint32_t i = 0; i < need.arena_count; ++i) need.arenas[i] = {plan.arena(i).bytes, plan.arena(i).alignment};
  uint64_t bytes = 0;
  uint64_t scratch = 0;
  TAKT_TRY(LayOut(plan, kernels, bytes, scratch, [](uint32_t, uint32_t, KernelNeed, uint64_t) {}));
  need.runtime = {static_cast<uint32_t>(bytes), kRuntimeAlignment};
  return {};
}

Status Interpreter::Init(const Plan& plan, const InitOptions& options) {
  plan_ = nullptr;
  running_ = false;
  any_rebound_ = false;
  for (Rebound& r : rebound_) r = {};
  if (!plan.is_open()) return {StatusCode::kInvalidState, Site::kInvokeState};
  Requirements need;
  TAKT_TRY(ComputeRequirements(plan, options.kernels, need));
  if (options.runtime.size() < need.runtime.bytes) return {StatusCode::kArenaTooSmall, Site::kInitRuntime, need.runtime.bytes};
  if (!IsAligned(options.runtime.data(), kRuntimeAlignment)) return {StatusCode::kMisaligned, Site::kInitRuntime, kRuntimeAlignment};
  for (uint32_t i = 0; i < need.arena_count; ++i) {
    const std::span<std::byte> given = i < options.arenas.size() ? options.arenas[i] : std::span<std::byte>();
    if (given.size() < need.arenas[i].bytes) return {StatusCode::kArenaTooSmall, Site::kInitArena, need.arenas[i].bytes};
    if (!IsAligned(given.data(), need.arenas[i].alignment)) {
      return {StatusCode::kMisaligned, Site::kInitArena, need.arenas[i].alignment};
    }
    arenas_[i] = given.data();
  }
  if (options.devices.size() < plan.device_count()) {
    return {StatusCode::kInvalidArgument, Site::kInitDevice, static_cast<uint32_t>(options.devices.size())};
  }
  runtime_ = options.runtime;
  records_ = reinterpret_cast<StepRecord*>(runtime_.data());
  kernels_ = options.kernels;
  devices_ = options.devices;
  clock_ = options.clock;
  trace_ = options.trace;
  plan_ = &plan;
  const Status status = BindSteps();
  if (!status.ok()) {
    plan_ = nullptr;
    return status;
  }
  return ResetState();
}

/// Fills the records, then checks every step; a step inside loops counts once for each trip.
Status Interpreter::BindSteps() {
  uint64_t bytes = 0;
  uint64_t scratch = 0;
  TAKT_TRY(LayOut(*plan_, kernels_, bytes, scratch, [this](uint32_t i, uint32_t row, KernelNeed need, uint64_t persistent) {
    records_[i] = {row, 0, need.scratch, static_cast<uint32_t>(persistent), need.persistent, {}};
  }));
  uint32_t ends[kMaxLoopDepth] = {};
  uint64_t outer[kMaxLoopDepth] = {};
  uint32_t depth = 0;
  uint64_t trips = 1;
  uint64_t total = 0;
  const uint64_t limit = plan_->accepted().work;
  for (uint32_t i = 0; i < plan_->step_count(); ++i) {
    while (depth > 0 && ends[depth - 1] <= i) trips = outer[--depth];
    records_[i].scratch_offset = static_cast<uint32_t>(scratch);
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
      if (max_trips > limit / trips) return {StatusCode::kLimitExceeded, Site::kInitWork, UINT32_MAX, static_cast<uint16_t>(i)};
      trips *= max_trips;
    }
  }
  return PrepareJobs();
}

Status Interpreter::InitStep(uint32_t step, uint64_t& work) {
  const Kernel* kernel = binding(step);
  if (kernel == nullptr) return {};
  Bound bound;
  BindOperands(step, bound);
  TAKT_TRY(kernel->check(bound.call, work));
  return kernel->prepare != nullptr ? kernel->prepare(bound.call) : Status();
}

Status Interpreter::PrepareJobs() {
  for (uint32_t j = 0; j < plan_->job_count(); ++j) {
    if (devices_[plan_->job(j).device] == nullptr) return {StatusCode::kInvalidArgument, Site::kInitDevice, plan_->job(j).device};
    TAKT_TRY(RunJob(static_cast<uint16_t>(j), true));
  }
  return {};
}

Status Interpreter::RunJob(uint16_t id, bool prepare) {
  const JobView view = plan_->job(id);
  std::span<std::byte> bases[kMaxJobBases];
  for (size_t i = 0; i < view.bases.size(); ++i) bases[i] = tensor(view.bases[i]);
  const Job job{id, plan_->constant(view.stream).bytes, {bases, view.bases.size()}};
  Device& device = *devices_[view.device];
  return prepare ? device.Prepare(job) : device.Submit(job);
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

TensorInfo Interpreter::input(uint32_t i) const { return Info(plan_->input(i)); }
TensorInfo Interpreter::output(uint32_t i) const { return Info(plan_->output(i)); }

TensorInfo Interpreter::input(std::string_view name) const {
  const auto i = plan_->FindInput(name);
  return i ? input(*i) : TensorInfo();
}

TensorInfo Interpreter::output(std::string_view name) const {
  const auto i = plan_->FindOutput(name);
  return i ? output(*i) : TensorInfo();
}

Status Interpreter::RebindInput(uint32_t i, std::span<std::byte> buffer) {
  if (plan_ == nullptr || i >= plan_->input_count()) return {StatusCode::kInvalidArgument, Site::kRebind, i};
  return Rebind(plan_->input(i), false, i, buffer);
}

Status Interpreter::RebindOutput(uint32_t i, std::span<std::byte> buffer) {
  if (plan_ == nullptr || i >= plan_->output_count()) return {StatusCode::kInvalidArgument, Site::kRebind, i};
  return Rebind(plan_->output(i), true, i, buffer);
}

/// All tensors of the binding's root move together, so each must lie inside the bound one; devices keep addresses.
Status Interpreter::Rebind(const BindingView& b, bool output, uint32_t slot, std::span<std::byte> buffer) {
  if (running_) return {StatusCode::kInvalidState, Site::kInvokeState};
  const uint32_t bytes = plan_->tensor_bytes(b.tensor);
  const Status unsupported(StatusCode::kUnsupported, Site::kRebind, bytes);
  if (slot >= kMaxBindings || plan_->job_count() != 0) return unsupported;
  Rebound& own = rebound_[output ? kMaxBindings + slot : slot];
  const TensorView bound = plan_->tensor(b.tensor);
  const uint16_t root = plan_->live(b.tensor).root;
  if (!buffer.empty()) {
    if (buffer.size() != bytes) return {StatusCode::kInvalidArgument, Site::kRebind, bytes};
    if (!IsAligned(buffer.data(), 16)) return {StatusCode::kMisaligned, Site::kRebind, 16};
    for (const Rebound& r : rebound_) {
      if (&r != &own && r.data != nullptr && r.root == root) return unsupported;
    }
    for (uint32_t t = 0; t < plan_->arena_tensor_count(); ++t) {
      if (plan_->live(t).root != root) continue;
      const TensorView v = plan_->tensor(t);
      const bool inside = v.base == bound.base && v.offset >= bound.offset &&
                          uint64_t{v.offset} + plan_->tensor_extent(t) <= uint64_t{bound.offset} + bytes;
      if (!inside || (!output && !b.consumable && Written(t))) return unsupported;
    }
  }
  own = {buffer.data(), bound.offset, root};
  any_rebound_ = false;
  for (const Rebound& r : rebound_) any_rebound_ = any_rebound_ || r.data != nullptr;
  return {};
}

bool Interpreter::Written(uint32_t t) const {
  for (uint32_t i = 0; i < plan_->step_count(); ++i) {
    const StepView s = plan_->step(i);
    if (s.scratch == t) return true;
    for (const uint16_t o : s.outputs) {
      if (o == t) return true;
    }
  }
  return false;
}

Status Interpreter::ResetState() {
  if (plan_ == nullptr) return {StatusCode::kInvalidState, Site::kInvokeState};
  for (uint32_t i = 0; i < plan_->state_count(); ++i) {
    const std::span<std::byte> state = tensor(plan_->state(i).tensor);
    if (!state.empty()) std::memset(state.data(), 0, state.size());
  }
  return {};
}

}  // namespace takt
