// Instructions executed, from SysTick. Under QEMU's `-icount shift=0` a tick is an exact number of instructions.
#ifndef TAKT_PORTS_CORTEX_M_CLOCK_H_
#define TAKT_PORTS_CORTEX_M_CLOCK_H_

#include <cstdint>

namespace takt::cortex_m {

/// Starts the counter; call once, first.
void StartClock();

/// Ticks of the processor clock since StartClock.
uint64_t Ticks();

/// Instructions since StartClock, to one tick (40 on the M4 board, 31.25 on the M55 board).
uint64_t Instructions();

}  // namespace takt::cortex_m

#endif  // TAKT_PORTS_CORTEX_M_CLOCK_H_
