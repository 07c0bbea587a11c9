#include "engine/c/takt.h"

#include <new>

#include "engine/core/interpreter.h"
#include "engine/plan/signed_message.h"

namespace {

using takt::Site;
using takt::Status;
using takt::StatusCode;

constexpr uint32_t kOpenMark = 0x54414B54;  // Tells an opened net from zeroed storage.

struct Net {
  uint32_t mark = kOpenMark;
  bool ready = false;
  takt::Plan plan;
  takt::Interpreter interpreter;
};
static_assert(sizeof(Net) <= sizeof(takt_net) && alignof(Net) <= alignof(takt_net));
static_assert(static_cast<int>(StatusCode::kInternal) == TAKT_INTERNAL &&
              static_cast<int>(takt::Progress::kFailed) == TAKT_FAILED);

/// nullptr if `net` is no open net.
Net* Get(takt_net* net) {
  Net* n = net != nullptr ? std::launder(reinterpret_cast<Net*>(net->storage)) : nullptr;
  return n != nullptr && n->mark == kOpenMark && n->plan.is_open() ? n : nullptr;
}
Net* GetReady(takt_net* net) {
  Net* n = Get(net);
  return n != nullptr && n->ready ? n : nullptr;
}

takt_status Bits(Status s) {
  if (s.ok()) return 0;
  return static_cast<uint64_t>(s.code()) | uint64_t{static_cast<uint8_t>(s.site())} << 8 | uint64_t{s.step()} << 16 |
         uint64_t{s.detail()} << 32;
}
takt_status BadArgument(Site site, uint32_t detail = 0) {
  return Bits({StatusCode::kInvalidArgument, site, detail});
}
takt_status NotReady() {
  return Bits({StatusCode::kInvalidState, Site::kInvokeState});
}

takt::KernelTable Table(const takt_kernel* const* kernels, size_t count) {
  if (kernels == nullptr) return {};
  return {reinterpret_cast<const takt::Kernel* const*>(kernels), count};
}

/// `context`: the takt_open_options.
bool Accept(void* context, const takt::SignedPlan& plan) {
  const auto* options = static_cast<const takt_open_options*>(context);
  takt::SignedMessage message;
  return takt::Join(plan, message) &&
         options->verify(options->key, plan.key_id.data(), message.data(), message.size(), plan.signature.data()) != 0;
}

takt_span Span(const takt::TensorInfo& tensor) {
  return {tensor.bytes.data(), tensor.bytes.size()};
}

}  // namespace

takt_status takt_open(takt_net* net, const void* plan, size_t bytes, const takt_open_options* options) {
  if (net == nullptr) return BadArgument(Site::kInvokeState);
  Net* n = new (net->storage) Net;
  takt::PlanOptions chosen;
  if (options != nullptr) {
    if (options->skip_hash != 0) chosen.sha256 = nullptr;
    chosen.check_constants_crc = options->check_constants_crc != 0;
    if (options->verify != nullptr) chosen.verify = {&Accept, const_cast<takt_open_options*>(options)};
    if (options->max_work != 0) chosen.limits.work = options->max_work;
  }
  return Bits(n->plan.Open(std::span(static_cast<const std::byte*>(plan), plan != nullptr ? bytes : 0), chosen));
}

takt_status takt_arena_bytes(takt_net* net, const takt_kernel* const* kernels, size_t kernel_count, size_t i,
                             size_t* bytes) {
  const Net* n = Get(net);
  if (n == nullptr) return NotReady();
  if (bytes == nullptr || i > n->plan.arena_count()) return BadArgument(Site::kInitArena, n->plan.arena_count() + 1);
  takt::Requirements need;
  if (const Status s = takt::ComputeRequirements(n->plan, Table(kernels, kernel_count), need); !s.ok()) return Bits(s);
  *bytes = i == need.arena_count ? need.runtime.bytes : need.arenas[i].bytes;
  return 0;
}

takt_status takt_init(takt_net* net, const takt_span* arenas, size_t arena_count, const takt_kernel* const* kernels,
                      size_t kernel_count, const takt_clock* clock) {
  Net* n = Get(net);
  if (n == nullptr) return NotReady();
  n->ready = false;
  if (arenas == nullptr || arena_count != n->plan.arena_count() + size_t{1}) {
    return BadArgument(Site::kInitArena, n->plan.arena_count() + 1);
  }
  std::span<std::byte> spans[takt::kMaxArenas + 1];
  for (size_t i = 0; i < arena_count; ++i) {
    if (arenas[i].data != nullptr) spans[i] = {static_cast<std::byte*>(arenas[i].data), arenas[i].bytes};
  }
  takt::InitOptions options;
  options.arenas = {spans, arena_count - 1};
  options.runtime = spans[arena_count - 1];
  options.kernels = Table(kernels, kernel_count);
  if (clock != nullptr) options.platform.clock = {clock->now, clock->context};
  const Status status = n->interpreter.Init(n->plan, options);
  n->ready = status.ok();
  return Bits(status);
}

takt_status takt_invoke(takt_net* net, uint64_t deadline) {
  Net* n = GetReady(net);
  return n != nullptr ? Bits(n->interpreter.Invoke(deadline)) : NotReady();
}

void takt_cancel(takt_net* net) {
  if (Net* n = Get(net); n != nullptr) n->interpreter.Cancel();
}

takt_status takt_reset_state(takt_net* net) {
  Net* n = GetReady(net);
  return n != nullptr ? Bits(n->interpreter.ResetState()) : NotReady();
}

takt_status takt_begin(takt_net* net) {
  Net* n = GetReady(net);
  return n != nullptr ? Bits(n->interpreter.Begin()) : NotReady();
}

takt_step_result takt_step(takt_net* net, uint32_t budget, takt_status* status) {
  Net* n = GetReady(net);
  const takt::Progress progress = n != nullptr ? n->interpreter.Step(budget) : takt::Progress::kFailed;
  if (status != nullptr) *status = n != nullptr ? Bits(n->interpreter.status()) : NotReady();
  return static_cast<takt_step_result>(progress);
}

takt_span takt_input(takt_net* net, size_t i) {
  const Net* n = GetReady(net);
  if (n == nullptr || i >= n->plan.input_count()) return {nullptr, 0};
  return Span(n->interpreter.input(static_cast<uint32_t>(i)));
}

takt_span takt_output(takt_net* net, size_t i) {
  const Net* n = GetReady(net);
  if (n == nullptr || i >= n->plan.output_count()) return {nullptr, 0};
  return Span(n->interpreter.output(static_cast<uint32_t>(i)));
}
