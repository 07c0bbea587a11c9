// Rows whose work XNNPACK operators do. An operator is a class of static functions:
//   Refusal(call)             why XNNPACK can't take the step; nullptr: it can
//   Bytes(call)               what Create and Setup allocate, at most
//   Create(call, &op), Setup(op, call)
#ifndef TAKT_PORTS_XNNPACK_OPERATORS_H_
#define TAKT_PORTS_XNNPACK_OPERATORS_H_

#include <xnnpack.h>

#include <algorithm>
#include <new>

#include "ports/xnnpack/arena.h"
#include "ports/xnnpack/describe.h"

namespace takt::xnnpack {

/// The row of the table given to Initialize that has `key`, or nullptr.
const Kernel* OtherKernel(const KernelKey& key);

/// At the start of a step's persistent bytes. Behind it: XNNPACK's memory, or the persistent bytes of `other`.
struct alignas(16) State {
  static constexpr int kMaxOperators = 2, kMaxAddresses = 8;
  const Kernel* other;  ///< That runs the step; nullptr: XNNPACK does.
  xnn_operator_t operators[kMaxOperators];
  const void* addresses[kMaxAddresses];  ///< That the operators are set up for.

  /// Notes where the operands are now; whether one has moved.
  bool Moved(const KernelCall& call) {
    int n = 0;
    bool moved = false;
    const auto note = [&](const void* p) {
      moved = moved || addresses[n] != p;
      addresses[n++] = p;
    };
    for (const TensorRef& t : call.inputs) note(t.data);
    note(call.outputs[0].data);
    note(call.scratch.data());
    return moved;
  }
};
static_assert(State::kMaxAddresses >= 5 + 2, "conv2d_add has five inputs, an output, a scratch");

inline constexpr const char* kTooLarge = "the operator takes more than 1 GiB";

/// A row, and why XNNPACK leaves a step to the other table.
struct Row {
  Kernel kernel;
  const char* (*refusal)(const KernelCall& call);
};

template <const KernelKey& kKey, Status (*kCheck)(const KernelCall&, uint64_t&), typename... Operators>
class Step {
  static_assert(sizeof...(Operators) <= State::kMaxOperators);
  /// Of two operators, the first writes what the second reads to the scratch.
  static constexpr bool kHasScratch = sizeof...(Operators) == 2;

 public:
  static constexpr Row MakeRow() { return {{kKey, kCheck, &Step::Run, &Step::Need, &Step::Prepare}, &Step::Refusal}; }

 private:
  static uint64_t Bytes(const KernelCall& call) { return sizeof(State) + (Operators::Bytes(call) + ...); }

  /// Asked before the op's check.
  static const char* Refusal(const KernelCall& call) {
    uint64_t work = 0;
    if (!kCheck(call, work).ok()) return "the step breaks its op's rule";
    for (const TensorRef& t : call.inputs) {
      if (t.size() > kMaxBytes) return kTooLarge;  // So that no product in Bytes overflows.
    }
    if (call.outputs[0].size() > kMaxBytes) return kTooLarge;
    const char* reason = nullptr;
    ((reason = reason != nullptr ? reason : Operators::Refusal(call)), ...);
    return reason == nullptr && Bytes(call) > kMaxBytes ? kTooLarge : reason;
  }

  static KernelNeed Need(const KernelCall& call) {
    if (Refusal(call) == nullptr) {
      const uint32_t scratch = kHasScratch ? call.outputs[0].size() + kOverRead : 0;
      return {.scratch = scratch, .persistent = static_cast<uint32_t>(Bytes(call)), .over_read = kOverRead};
    }
    const Kernel* other = OtherKernel(kKey);
    KernelNeed need = other != nullptr && other->need != nullptr ? other->need(call) : KernelNeed();
    need.persistent += sizeof(State);
    return need;
  }

  static Status Prepare(const KernelCall& call) {
    State* state = new (call.persistent.data()) State{};
    if (Refusal(call) == nullptr) return PrepareOperators(*state, call);
    state->other = OtherKernel(kKey);
    if (state->other == nullptr) {
      return {StatusCode::kNoKernel, Site::kInitKernel, static_cast<uint32_t>(kKey.op)};
    }
    return state->other->prepare != nullptr ? state->other->prepare(ForOther(call)) : Status();
  }

  static Status PrepareOperators(State& state, const KernelCall& call) {
    Arena arena(call.persistent.subspan(sizeof(State)));
    const Scope scope(arena);
    xnn_operator_t* op = state.operators;
    xnn_status status = xnn_status_success;
    ((status = status == xnn_status_success ? Operators::Create(call, op++) : status), ...);
    if (status == xnn_status_success) status = SetUp(state, call);
    if (status == xnn_status_success) return {};
    return {StatusCode::kUnsupported, Site::kInitKernel, static_cast<uint32_t>(kKey.op)};
  }

  static xnn_status SetUp(State& state, const KernelCall& call) {
    state.Moved(call);
    const xnn_operator_t* op = state.operators;
    xnn_status status = xnn_status_success;
    ((status = status == xnn_status_success ? Operators::Setup(*op++, call) : status), ...);
    return status;
  }

  static KernelCall ForOther(KernelCall call) {
    call.persistent = call.persistent.subspan(sizeof(State));
    return call;
  }

  static void Run(const KernelCall& call) {
    State& state = *std::launder(reinterpret_cast<State*>(call.persistent.data()));
    if (state.other != nullptr) return state.other->run(ForOther(call));
    // A bound input or output lies elsewhere than at Init. The dims are the same, so XNNPACK allocates nothing.
    if (state.Moved(call)) SetUp(state, call);
    for (size_t i = 0; i < sizeof...(Operators); ++i) xnn_run_operator(state.operators[i], nullptr);
  }
};

template <const KernelKey& kKey, Status (*kCheck)(const KernelCall&, uint64_t&), typename... Operators>
constexpr Row kRow = Step<kKey, kCheck, Operators...>::MakeRow();

}  // namespace takt::xnnpack

#endif  // TAKT_PORTS_XNNPACK_OPERATORS_H_
