// Output and exit through the debugger or emulator (Arm semihosting, `bkpt 0xAB`).
#ifndef TAKT_PORTS_CORTEX_M_SEMIHOSTING_H_
#define TAKT_PORTS_CORTEX_M_SEMIHOSTING_H_

#include <cstdint>

namespace takt::cortex_m {

/// Prints a zero-terminated string.
void Print(const char* text);
void PrintUnsigned(uint64_t value);
/// Prints `digits` hexadecimal digits of `value`.
void PrintHex(uint64_t value, int digits);

/// Ends the program with `code`.
[[noreturn]] void Exit(int code);

}  // namespace takt::cortex_m

#endif  // TAKT_PORTS_CORTEX_M_SEMIHOSTING_H_
