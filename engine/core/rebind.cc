// The part of Interpreter that binds graph inputs and outputs to buffers of the caller.
#include "engine/core/interpreter.h"
#include "engine/core/memory_rules.h"

namespace takt {

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
    if (buffer.size() < uint64_t{bytes} + slack_) return {StatusCode::kInvalidArgument, Site::kRebind, bytes + slack_};
    if (!IsAligned(buffer.data(), kBufferAlignment)) return {StatusCode::kMisaligned, Site::kRebind, kBufferAlignment};
    if (OverlapsBound(buffer.first(bytes), &own)) return {StatusCode::kInvalidArgument, Site::kInitOverlap, slot};
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
  own = {buffer.data(), bound.offset, bytes, root};
  any_rebound_ = false;
  for (const Rebound& r : rebound_) any_rebound_ = any_rebound_ || r.data != nullptr;
  return {};
}

bool Interpreter::OverlapsBound(std::span<const std::byte> buffer, const Rebound* own) const {
  bool shared = ShareMemory(buffer, plan_->bytes()) || ShareMemory(buffer, runtime_);
  for (uint32_t i = 0; i < plan_->arena_count(); ++i) {
    shared = shared || ShareMemory(buffer, {arenas_[i], plan_->arena(i).bytes});
  }
  for (const Rebound& r : rebound_) shared = shared || (&r != own && ShareMemory(buffer, {r.data, r.bytes}));
  return shared;
}

bool Interpreter::Written(uint32_t t) const {
  for (uint32_t i = 0; i < plan_->step_count(); ++i) {
    const StepView s = plan_->step(i);
    for (const uint16_t o : s.operands().subspan(s.inputs.size())) {
      if (o == t) return true;
    }
  }
  return false;
}

}  // namespace takt
