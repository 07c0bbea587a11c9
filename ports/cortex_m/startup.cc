// Vector table and reset: FPU (and MVE) on, data copied, bss cleared, main. There are no static constructors to run.
#include <cstdint>

#include "ports/cortex_m/semihosting.h"

extern "C" {
extern uint32_t __data_begin[], __data_end[], __bss_begin[], __bss_end[], __stack_end[];
extern const uint32_t __data_load[];
int main();
void TaktSysTick();
[[noreturn]] void TaktReset();
[[noreturn]] void TaktFault();

void TaktReset() {
  *reinterpret_cast<volatile uint32_t*>(0xE000ED88) |= 0xFu << 20;  // CPACR: full access to CP10 and CP11.
  asm volatile("dsb\n isb" ::: "memory");
  const volatile uint32_t* from = __data_load;
  for (volatile uint32_t* to = __data_begin; to < __data_end; ++to, ++from) *to = *from;
  for (volatile uint32_t* to = __bss_begin; to < __bss_end; ++to) *to = 0;
  takt::cortex_m::Exit(main());
}

void TaktFault() {
  takt::cortex_m::Print("fault: CFSR 0x");
  takt::cortex_m::PrintHex(*reinterpret_cast<volatile uint32_t*>(0xE000ED28), 8);
  takt::cortex_m::Print(" address 0x");
  takt::cortex_m::PrintHex(*reinterpret_cast<volatile uint32_t*>(0xE000ED38), 8);
  takt::cortex_m::Print("\n");
  takt::cortex_m::Exit(3);
}
}

namespace {

using Handler = void (*)();

struct Vectors {
  uint32_t* stack;
  Handler handlers[15];
};

// Reset, NMI, HardFault, MemManage, BusFault, UsageFault, (SecureFault), 3 reserved, SVCall, Debug, reserved, PendSV,
// SysTick.
[[gnu::section(".vectors"), gnu::used]] const Vectors kVectors = {
    __stack_end,
    {TaktReset, TaktFault, TaktFault, TaktFault, TaktFault, TaktFault, TaktFault, nullptr, nullptr, nullptr, TaktFault,
     TaktFault, nullptr, TaktFault, TaktSysTick}};

}  // namespace
