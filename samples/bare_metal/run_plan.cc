// A plan in flash, arenas in RAM, no heap: opens and runs it on embedded inputs; prints output bytes and what it cost.
#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/core/interpreter.h"
#include "engine/plan/plan.h"
#include "kernels.h"  // In TAKT_PLAN_DIR: `takt convert --emit-kernels`.
#include "model.h"    // In TAKT_PLAN_DIR: `takt convert --emit-c`.
#include "ports/cortex_m/clock.h"
#include "ports/cortex_m/semihosting.h"
#include "ports/cortex_m/stack.h"

// The raw input tensors in graph order, one after another.
asm(".section .inputs, \"a\"\n"
    "g_inputs: .incbin \"" TAKT_PLAN_DIR
    "/inputs.bin\"\n"
    "g_inputs_end:\n"
    ".text\n");
extern "C" const std::byte g_inputs[], g_inputs_end[];

namespace {

using takt::Status;
using namespace takt::cortex_m;

static_assert(takt_model::kArenaCount == 1, "this program has memory for activations only");
alignas(takt_model::kActivationAlignment) std::byte g_activation[takt_model::kActivationBytes];
alignas(takt_model::kRuntimeAlignment) std::byte g_runtime[takt_model::kRuntimeBytes];
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

/// Invocations, of which each must cost the same.
constexpr int kRuns = 4;

bool SetInputs() {
  const std::byte* from = g_inputs;
  for (uint32_t i = 0; i < g_plan_view.input_count(); ++i) {
    for (std::byte& b : g_interpreter.input(i).bytes) {
      if (from == g_inputs_end) return false;
      b = *from++;
    }
  }
  return true;
}

void PrintOutput(std::span<const std::byte> bytes) {
  Print("output ");
  for (const std::byte b : bytes) PrintHex(static_cast<uint64_t>(b), 2);
  Print("\n");
}

}  // namespace

int main() {
  StartClock();
  const std::span<const std::byte> file = std::as_bytes(std::span(model_plan));

  const Meter hashed("open_with_hash");
  const Status hash_status = g_plan_view.Open(file);
  hashed.Report();
  if (!hash_status.ok()) return Fail("open", hash_status);

  takt::PlanOptions options;
  options.sha256 = nullptr;
  const Meter open("open");
  const Status open_status = g_plan_view.Open(file, options);
  open.Report();
  if (!open_status.ok()) return Fail("open", open_status);

  const std::span<std::byte> arenas[] = {g_activation};
  takt::InitOptions init;
  init.arenas = arenas;
  init.runtime = g_runtime;
  init.kernels = kPlanKernels;
  const Meter meter("init");
  const Status init_status = g_interpreter.Init(g_plan_view, init);
  meter.Report();
  if (!init_status.ok()) return Fail("init", init_status);

  for (int run = 0; run < kRuns; ++run) {
    const Status reset_status = g_interpreter.ResetState();
    if (!reset_status.ok()) return Fail("reset", reset_status);
    if (!SetInputs()) return Fail("input", Status());
    const Meter invoke("invoke");
    const Status status = g_interpreter.Invoke();
    invoke.Report();
    if (!status.ok()) return Fail("invoke", status);
  }
  for (uint32_t i = 0; i < g_plan_view.output_count(); ++i) PrintOutput(g_interpreter.output(i).bytes);
  return 0;
}
