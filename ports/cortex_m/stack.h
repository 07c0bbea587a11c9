// High-water mark of the stack: paint it, run, see how far the paint is gone.
#ifndef TAKT_PORTS_CORTEX_M_STACK_H_
#define TAKT_PORTS_CORTEX_M_STACK_H_

#include <cstdint>

namespace takt::cortex_m {

/// Fills the stack below the callee's frame with a pattern; `depth`: the stack pointer to count from.
void PaintStackBelow(uint32_t* depth);

/// Fills the unused stack and remembers the caller's depth.
[[gnu::always_inline]] inline void PaintStack() {
  uint32_t* depth;
  asm volatile("mov %0, sp" : "=r"(depth));
  PaintStackBelow(depth);
}

/// Bytes of stack used below the depth at PaintStack, its deepest point since.
uint32_t StackHighWater();

}  // namespace takt::cortex_m

#endif  // TAKT_PORTS_CORTEX_M_STACK_H_
