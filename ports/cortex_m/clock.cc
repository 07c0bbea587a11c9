#include "ports/cortex_m/clock.h"

namespace takt::cortex_m {
namespace {

struct SysTick {
  uint32_t control;
  uint32_t reload;
  uint32_t current;
};
constexpr uint32_t kEnable = 1, kInterrupt = 2, kProcessorClock = 4;
constexpr uint32_t kPeriod = 1u << 24;

volatile SysTick& Timer() {
  return *reinterpret_cast<volatile SysTick*>(0xE000E010);
}
volatile uint32_t& InterruptControl() {
  return *reinterpret_cast<volatile uint32_t*>(0xE000ED04);
}
constexpr uint32_t kSysTickPending = 1u << 26;

volatile uint32_t g_wraps = 0;

}  // namespace

extern "C" void TaktSysTick() {
  g_wraps = g_wraps + 1;
}

void StartClock() {
  Timer().reload = kPeriod - 1;
  Timer().current = 0;
  Timer().control = kEnable | kInterrupt | kProcessorClock;
  while (Timer().current == 0) {  // The counter loads at its first tick.
  }
}

uint64_t Ticks() {
  while (true) {
    const uint32_t wraps = g_wraps;
    const uint32_t current = Timer().current;
    // A wrap between or around the two reads: look again once its interrupt has run.
    if (wraps == g_wraps && (InterruptControl() & kSysTickPending) == 0 && current != 0)
      return uint64_t{wraps} * kPeriod + (kPeriod - 1 - current);
  }
}

uint64_t Instructions() {
  return Ticks() * TAKT_QUARTER_INSTRUCTIONS_PER_TICK / 4;
}

}  // namespace takt::cortex_m
