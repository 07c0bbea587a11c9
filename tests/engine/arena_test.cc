// Each size of each arena from 0 to its need, each misalignment, null and shared memory: an error with the need, never
// a crash.
#include <gtest/gtest.h>

#include <functional>

#include "engine/core/interpreter.h"
#include "tests/support/plan_builder.h"

namespace takt {
namespace {

Status Check(const KernelCall&, uint64_t&) {
  return {};
}
/// Writes all of its scratch and persistent memory, so that a sanitizer sees whether it is there.
void Run(const KernelCall& call) {
  for (std::byte& b : call.scratch) b = std::byte(1);
  for (std::byte& b : call.persistent) b = std::byte(2);
  std::memcpy(call.outputs[0].data, call.inputs[0].data, call.inputs[0].size());
}
constexpr Kernel kCopy{
    {Op::kCopy, Numerics::kAny, Layout::kNeutral, {DataType::kInt8, DataType::kNone, DataType::kInt8}},
    Check,
    Run,
    [](const KernelCall&) { return KernelNeed{.scratch = 33, .persistent = 5, .over_read = 8}; }};
const Kernel* const kTable[] = {&kCopy};

/// Tensor x in an activation arena, a state and its shadow in a state arena.
test::PlanSpec WithState() {
  test::PlanSpec s = test::CopyChain(2);
  s.arenas = {schema::Arena(16, 16, 16, schema::ArenaKind::activation, 0),
              schema::Arena(32, 32, 32, schema::ArenaKind::state, 0)};
  for (uint16_t t = 1; t <= 2; ++t)
    s.tensors[t] = schema::Tensor(16u * (t - 1), 1, 0, 0xFFFF, schema::DataType::int8, 1);
  s.lives = {schema::Live(0, 0, 0), schema::Live(0, 1, 1), schema::Live(0, 1, 2)};
  s.states = {schema::State(2, 1, 0xFFFF)};
  return s;
}

class ArenaTest : public testing::Test {
 protected:
  ArenaTest() {
    EXPECT_EQ(plan_.Open(file_.view()), Status());
    EXPECT_EQ(ComputeRequirements(plan_, kTable, need_), Status());
    for (uint32_t i = 0; i < 2; ++i) arenas_[i] = {memory_[i].data(), need_.arenas[i].bytes};
    runtime_ = {memory_[2].data(), need_.runtime.bytes};
  }
  /// Init, then two runs.
  Status Run() {
    TAKT_TRY(
        net_.Init(plan_, {.arenas = arenas_, .runtime = runtime_, .kernels = kTable, .devices = {}, .platform = {}}));
    TAKT_TRY(net_.Invoke());
    return net_.Invoke();
  }
  /// `span` is one of arenas_ or runtime_.
  void Sweep(std::span<std::byte>& span, const ArenaNeed& need, Site site) {
    std::byte* const start = span.data();
    for (uint32_t n = 0; n < need.bytes; ++n) {
      std::vector<std::byte> exact(n + 64);  // For the sanitizer: nothing behind it.
      const size_t skip = (64 - reinterpret_cast<uintptr_t>(exact.data()) % 64) % 64;
      span = std::span(exact).subspan(skip, n);
      EXPECT_EQ(Run(), Status(StatusCode::kArenaTooSmall, site, need.bytes)) << n;
    }
    span = {};
    EXPECT_EQ(Run(), Status(StatusCode::kArenaTooSmall, site, need.bytes));
    for (uint32_t shift = 1; shift < 64; ++shift) {
      span = {start + shift, need.bytes};
      EXPECT_EQ(Run(), shift % need.alignment == 0 ? Status() : Status(StatusCode::kMisaligned, site, need.alignment))
          << shift;
    }
    span = {start, need.bytes};
    EXPECT_EQ(Run(), Status());
  }

  struct Block {
    alignas(64) std::byte bytes[512];
    std::byte* data() { return bytes; }
  };
  test::PlanBytes file_ = WithState().Pack();
  Plan plan_;
  Requirements need_;
  Block memory_[3];
  std::span<std::byte> arenas_[2];
  std::span<std::byte> runtime_;
  Interpreter net_;
};

TEST_F(ArenaTest, RequirementsHoldAllThatAPlanAndItsKernelsNeed) {
  EXPECT_EQ(need_.arena_count, 2u);
  EXPECT_EQ(need_.arenas[0].bytes, 16u + 8);
  EXPECT_EQ(need_.arenas[1].alignment, 32u);
  EXPECT_EQ(need_.slack, 8u);
  EXPECT_EQ(need_.runtime.bytes, 2 * 32u + 2 * 16 + 48);  // Records, persistent blocks, one scratch.
}

TEST_F(ArenaTest, Activation) {
  Sweep(arenas_[0], need_.arenas[0], Site::kInitArena);
}
TEST_F(ArenaTest, State) {
  Sweep(arenas_[1], need_.arenas[1], Site::kInitArena);
}
TEST_F(ArenaTest, Runtime) {
  Sweep(runtime_, need_.runtime, Site::kInitRuntime);
}

TEST_F(ArenaTest, NoArenasAtAll) {
  EXPECT_EQ(net_.Init(plan_, {.arenas = {}, .runtime = runtime_, .kernels = kTable, .devices = {}, .platform = {}}),
            Status(StatusCode::kArenaTooSmall, Site::kInitArena, 24));
}

TEST_F(ArenaTest, ArenasShareNoMemory) {
  const auto shared = [](uint32_t arena) { return Status(StatusCode::kInvalidArgument, Site::kInitOverlap, arena); };
  arenas_[1] = {memory_[0].data(), 40};
  EXPECT_EQ(Run(), shared(1));
  arenas_[1] = {memory_[0].data() + 32, 40};
  EXPECT_EQ(Run(), Status());
  runtime_ = {memory_[0].data() + 64, need_.runtime.bytes};
  EXPECT_EQ(Run(), shared(2)) << "the runtime arena comes last";
  runtime_ = {memory_[2].data(), need_.runtime.bytes};
  arenas_[0] = std::as_writable_bytes(file_.bytes());
  EXPECT_EQ(Run(), shared(0)) << "nor with the plan";
}

}  // namespace
}  // namespace takt
