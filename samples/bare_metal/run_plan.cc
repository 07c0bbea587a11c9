// A plan in flash, arenas in RAM, no heap: opens and runs it on embedded inputs; prints output bytes and what it cost.
#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/core/interpreter.h"
#include "engine/plan/plan.h"
#include "ports/cortex_m/clock.h"
#include "ports/cortex_m/semihosting.h"
#include "ports/cortex_m/stack.h"
#include "kernels.h"  // In TAKT_PLAN_DIR: `takt convert --emit-kernels`.

// The plan and its inputs (raw tensors in graph order, one after another), as files of TAKT_PLAN_DIR.
asm(".section .plan, \"a\"\n"
    ".balign 64\n"
    "g_plan: .incbin \"" TAKT_PLAN_DIR "/model.takt\"\n"
    "g_plan_end:\n"
    ".balign 16\n"
    "g_inputs: .incbin \"" TAKT_PLAN_DIR "/inputs.bin\"\n"
    "g_inputs_end:\n"
    ".text\n");
extern "C" const std::byte g_plan[], g_plan_end[], g_inputs[], g_inputs_end[];

namespace {

using takt::Status;
using namespace takt::cortex_m;

// All arenas of the plan, one after another. `takt inspect` and Requirements tell how much a plan needs.
alignas(64) std::byte g_memory[TAKT_MEMORY_BYTES];
takt::Plan g_plan_view;
takt::Interpreter g_interpreter;

// Cost of one phase.
struct Meter {
  const char* name;
  uint64_t start;

  [[gnu::always_inline]] explicit Meter(const char* phase) : name(phase) {
    PaintStack();
    start = Instructions();
  }
  [[gnu::always_inline]] void Report() const {
    const uint64_t instructions = Instructions() - start;
    const uint32_t stack = StackHighWater();
    Print(name);
    Print(" instructions ");
    PrintUnsigned(instructions);
    Print(" stack ");
    PrintUnsigned(stack);
    Print("\n");
  }
};

int Fail(const char* what, Status status) {
  Print(what);
  Print(" failed: code ");
  PrintUnsigned(static_cast<uint64_t>(status.code()));
  Print(" site ");
  PrintUnsigned(static_cast<uint64_t>(status.site()));
  Print(" step ");
  PrintUnsigned(status.step());
  Print(" detail ");
  PrintUnsigned(status.detail());
  Print("\n");
  return 1;
}

// Cuts `need` from the front of `memory`; an empty span if it does not fit.
std::span<std::byte> Cut(std::span<std::byte>& memory, takt::ArenaNeed need) {
  const size_t bytes = (size_t{need.bytes} + 63) / 64 * 64;
  if (need.alignment > 64 || bytes > memory.size()) return {};
  const std::span<std::byte> part = memory.first(need.bytes);
  memory = memory.subspan(bytes);
  return part;
}

void PrintOutput(std::span<const std::byte> bytes) {
  Print("output ");
  for (const std::byte b : bytes) PrintHex(static_cast<uint64_t>(b), 2);
  Print("\n");
}

}  // namespace

int main() {
  StartClock();
  const std::span<const std::byte> file(g_plan, static_cast<size_t>(g_plan_end - g_plan));

  const Meter hashed("open_with_hash");
  const Status hash_status = g_plan_view.Open(file);
  hashed.Report();
  if (!hash_status.ok()) return Fail("open", hash_status);

  takt::PlanOptions options;
  options.check_hash = false;
  const Meter open("open");
  const Status open_status = g_plan_view.Open(file, options);
  open.Report();
  if (!open_status.ok()) return Fail("open", open_status);

  takt::Requirements need;
  const Meter requirements("requirements");
  const Status need_status = takt::ComputeRequirements(g_plan_view, kPlanKernels, need);
  requirements.Report();
  if (!need_status.ok()) return Fail("requirements", need_status);

  std::span<std::byte> memory(g_memory);
  std::span<std::byte> arenas[takt::kMaxArenas];
  for (uint32_t i = 0; i < need.arena_count; ++i) arenas[i] = Cut(memory, need.arenas[i]);
  takt::InitOptions init;
  init.arenas = std::span(arenas).first(need.arena_count);
  init.runtime = Cut(memory, need.runtime);
  init.kernels = kPlanKernels;
  const Meter meter("init");
  const Status init_status = g_interpreter.Init(g_plan_view, init);
  meter.Report();
  if (!init_status.ok()) return Fail("init", init_status);

  const std::byte* input = g_inputs;
  for (uint32_t i = 0; i < g_plan_view.input_count(); ++i) {
    for (std::byte& b : g_interpreter.input(i).bytes) {
      if (input == g_inputs_end) return Fail("input", Status());
      b = *input++;
    }
  }
  const Meter invoke("invoke");
  const Status status = g_interpreter.Invoke();
  invoke.Report();
  if (!status.ok()) return Fail("invoke", status);
  for (uint32_t i = 0; i < g_plan_view.output_count(); ++i) PrintOutput(g_interpreter.output(i).bytes);
  return 0;
}
