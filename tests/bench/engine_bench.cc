// What the interpreter adds to kernels: steps that do nothing.
#include <benchmark/benchmark.h>

#include "engine/core/interpreter.h"
#include "tests/support/plan_builder.h"
#include "tests/support/plan_runner.h"

namespace takt::bench {
namespace {

constexpr KernelKey kCopyKey{
    Op::kCopy, Numerics::kAny, Layout::kNeutral, {DataType::kInt8, DataType::kNone, DataType::kInt8}};
constexpr Kernel kIdle{kCopyKey, [](const KernelCall&, uint64_t&) { return Status(); }, [](const KernelCall&) {}};
constexpr const Kernel* kIdleTable[] = {&kIdle};

/// items_per_second: steps.
void StepOverhead(benchmark::State& state) {
  const auto steps = static_cast<int>(state.range(0));
  const test::PlanBytes file = test::CopyChain(steps).Pack();
  Plan plan;
  Requirements need;
  Interpreter net;
  Status status = plan.Open(file.view());
  if (status.ok()) status = ComputeRequirements(plan, kIdleTable, need);
  test::AlignedBytes arena(need.arenas[0].bytes);
  test::AlignedBytes runtime(need.runtime.bytes);
  const std::span<std::byte> arenas[] = {arena.span()};
  InitOptions options;
  options.arenas = arenas;
  options.runtime = runtime.span();
  options.kernels = kIdleTable;
  if (status.ok()) status = net.Init(plan, options);
  if (!status.ok()) return state.SkipWithError(SiteText(status.site()));
  for (auto _ : state) benchmark::DoNotOptimize(net.Invoke());
  state.SetItemsProcessed(state.iterations() * steps);
}
BENCHMARK(StepOverhead)->Arg(1)->Arg(10)->Arg(100);

}  // namespace
}  // namespace takt::bench
