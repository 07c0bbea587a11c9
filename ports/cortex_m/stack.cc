#include "ports/cortex_m/stack.h"

extern "C" uint32_t __stack_begin[];

namespace takt::cortex_m {
namespace {

constexpr uint32_t kPaint = 0xA5C35A3C;
uint32_t* g_depth = nullptr;

}  // namespace

[[gnu::noinline]] void PaintStackBelow(uint32_t* depth) {
  uint32_t* own;
  asm volatile("mov %0, sp" : "=r"(own));
  for (volatile uint32_t* p = __stack_begin; p < own; ++p) *p = kPaint;
  g_depth = depth;
}

uint32_t StackHighWater() {
  const volatile uint32_t* p = __stack_begin;
  while (p < g_depth && *p == kPaint) ++p;
  return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(g_depth) - reinterpret_cast<uintptr_t>(p));
}

}  // namespace takt::cortex_m
