// Proves that the board runs, and that clock and stack measurement tell the truth.
#include <cstdint>

#include "ports/cortex_m/clock.h"
#include "ports/cortex_m/semihosting.h"
#include "ports/cortex_m/stack.h"

namespace {

using namespace takt::cortex_m;

// 2 instructions a trip.
[[gnu::noinline]] void Spin(uint32_t trips) {
  asm volatile("1: subs %0, #1\n bne 1b" : "+l"(trips) : : "cc");
}

[[gnu::noinline]] void UseStack() {
  volatile uint8_t block[1000];
  block[0] = 1;
  asm volatile("" : : "r"(block) : "memory");
}

bool Check(const char* what, uint64_t value, uint64_t low, uint64_t high) {
  const bool ok = value >= low && value <= high;
  Print(what);
  Print(": ");
  PrintUnsigned(value);
  Print(ok ? "\n" : " WRONG\n");
  return ok;
}

}  // namespace

int main() {
  StartClock();
  PaintStack();
  const uint64_t start = Instructions();
  Spin(100'000);
  const uint64_t middle = Instructions();
  Spin(500'000'000);  // Longer than the counter's period.
  const uint64_t end = Instructions();
  const bool idle = Check("stack of a spin", StackHighWater(), 0, 256);
  UseStack();
  bool ok = Check("instructions of 200,000", middle - start, 200'000, 200'200);
  ok &= Check("instructions of 1,000,000,000", end - middle, 1'000'000'000, 1'000'000'300);
  ok &= Check("stack of 1000 bytes", StackHighWater(), 1000, 1064);
  return ok && idle ? 0 : 1;
}
