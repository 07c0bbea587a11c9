#include "engine/c/takt.h"

#include <new>

#include "engine/core/interpreter.h"

namespace {

using takt::Kernel;
using takt::Status;

struct Net {
  takt::Plan plan;
  takt::Interpreter interpreter;
  bool ready = false;
};
static_assert(sizeof(Net) <= sizeof(takt_net) && alignof(Net) <= alignof(takt_net));

Net& Get(takt_net* net) { return *std::launder(reinterpret_cast<Net*>(net->storage)); }

takt_status Bits(Status s) {
  return static_cast<uint64_t>(s.code()) | uint64_t{static_cast<uint8_t>(s.site())} << 8 | uint64_t{s.step()} << 16 |
         uint64_t{s.detail()} << 32;
}
takt_status Result(Status s) { return s.ok() ? 0 : Bits(s); }

takt::KernelTable Table(const void* const* kernels, size_t count) {
  return {reinterpret_cast<const Kernel* const*>(kernels), count};
}

}  // namespace

takt_status takt_open(takt_net* net, const void* plan, size_t bytes, int check_hash) {
  Net* n = new (net->storage) Net;
  takt::PlanOptions options;
  options.check_hash = check_hash != 0;
  return Result(n->plan.Open(std::span(static_cast<const std::byte*>(plan), bytes), options));
}

takt_status takt_init(takt_net* net, const takt_span* arenas, size_t arena_count, const void* const* kernels, size_t kernel_count) {
  Net& n = Get(net);
  n.ready = false;
  if (!n.plan.is_open() || arena_count != n.plan.arena_count() + size_t{1}) {
    return Bits({takt::StatusCode::kInvalidArgument, takt::Site::kInitArena, n.plan.is_open() ? n.plan.arena_count() + 1 : 0});
  }
  std::span<std::byte> spans[takt::kMaxArenas + 1];
  for (size_t i = 0; i < arena_count; ++i) spans[i] = {static_cast<std::byte*>(arenas[i].data), arenas[i].bytes};
  takt::InitOptions options;
  options.arenas = {spans, arena_count - 1};
  options.runtime = spans[arena_count - 1];
  options.kernels = Table(kernels, kernel_count);
  const Status status = n.interpreter.Init(n.plan, options);
  n.ready = status.ok();
  return Result(status);
}

takt_status takt_arena_bytes(takt_net* net, const void* const* kernels, size_t kernel_count, size_t i, size_t* bytes) {
  Net& n = Get(net);
  if (!n.plan.is_open() || i > n.plan.arena_count()) return Bits({takt::StatusCode::kInvalidArgument, takt::Site::kInitArena});
  takt::Requirements need;
  if (const Status s = takt::ComputeRequirements(n.plan, Table(kernels, kernel_count), need); !s.ok()) return Bits(s);
  *bytes = i == need.arena_count ? need.runtime.bytes : need.arenas[i].bytes;
  return 0;
}

takt_status takt_invoke(takt_net* net) { return Result(Get(net).interpreter.Invoke()); }
void takt_cancel(takt_net* net) { Get(net).interpreter.Cancel(); }

takt_span takt_input(takt_net* net, size_t i) {
  Net& n = Get(net);
  if (!n.ready || i >= n.plan.input_count()) return {nullptr, 0};
  const auto bytes = n.interpreter.input(static_cast<uint32_t>(i)).bytes;
  return {bytes.data(), bytes.size()};
}

takt_span takt_output(takt_net* net, size_t i) {
  Net& n = Get(net);
  if (!n.ready || i >= n.plan.output_count()) return {nullptr, 0};
  const auto bytes = n.interpreter.output(static_cast<uint32_t>(i)).bytes;
  return {bytes.data(), bytes.size()};
}
