// What `takt convert --emit-c --emit-kernels` writes is all that firmware needs: runs the plan on stdin, raw bytes to
// stdout.
#include <cstdio>

#include "engine/core/interpreter.h"
#include "engine/plan/plan.h"
#include "tests/cli/emitted/fashion.h"
#include "tests/cli/emitted/kernels.h"

namespace {

alignas(takt_fashion::kActivationAlignment) std::byte g_activation[takt_fashion::kActivationBytes];
alignas(takt_fashion::kRuntimeAlignment) std::byte g_runtime[takt_fashion::kRuntimeBytes];
static_assert(takt_fashion::kArenaCount == 1);

}  // namespace

int main() {
  takt::Plan plan;
  takt::Interpreter net;
  if (!plan.Open(std::span(fashion_plan)).ok()) return 1;
  const std::span<std::byte> arenas[] = {g_activation};
  takt::InitOptions options;
  options.arenas = arenas;
  options.runtime = g_runtime;
  options.kernels = kPlanKernels;
  if (!net.Init(plan, options).ok()) return 2;
  const std::span<std::byte> input = net.input(0).bytes;
  if (std::fread(input.data(), 1, input.size(), stdin) != input.size()) return 3;
  if (!net.Invoke().ok()) return 4;
  const std::span<std::byte> output = net.output(0).bytes;
  return std::fwrite(output.data(), 1, output.size(), stdout) == output.size() ? 0 : 5;
}
