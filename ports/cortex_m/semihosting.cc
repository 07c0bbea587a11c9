#include "ports/cortex_m/semihosting.h"

namespace takt::cortex_m {
namespace {

constexpr uint32_t kWrite0 = 0x04;
constexpr uint32_t kExitExtended = 0x20;
constexpr uint32_t kApplicationExit = 0x20026;

uint32_t Call(uint32_t operation, const void* argument) {
  register uint32_t r0 asm("r0") = operation;
  register const void* r1 asm("r1") = argument;
  asm volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
}

}  // namespace

void Print(const char* text) {
  Call(kWrite0, text);
}

void PrintUnsigned(uint64_t value) {
  char buffer[21];
  char* p = buffer + sizeof(buffer) - 1;
  *p = 0;
  do {
    *--p = static_cast<char>('0' + value % 10);
    value /= 10;
  } while (value != 0);
  Print(p);
}

void PrintHex(uint64_t value, int digits) {
  char buffer[17];
  if (digits > 16) digits = 16;
  for (int i = 0; i < digits; ++i) buffer[i] = "0123456789abcdef"[(value >> (4 * (digits - 1 - i))) & 15];
  buffer[digits] = 0;
  Print(buffer);
}

void Exit(int code) {
  const uint32_t block[2] = {kApplicationExit, static_cast<uint32_t>(code)};
  Call(kExitExtended, block);
  while (true) {
  }
}

}  // namespace takt::cortex_m
