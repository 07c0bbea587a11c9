// Mutators that keep a format's frame, so that mutants get past its first check. Fields of our formats are aligned
// words.
#ifndef TAKT_TESTS_FUZZ_MUTATE_H_
#define TAKT_TESTS_FUZZ_MUTATE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace takt::test {

/// Changes one aligned field of 1, 2, 4 or 8 bytes: to a value of interest, a near one, or one from elsewhere.
inline void MutateWord(uint8_t* data, size_t size, std::minstd_rand& random) {
  static constexpr uint64_t kInteresting[] = {
      0,         1,   2,     3,     4,     7,     8,          16,         64,         127,         128,
      255,       256, 32767, 32768, 65535, 65536, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x100000000, UINT64_MAX >> 1,
      UINT64_MAX};
  const size_t width = size_t{1} << random() % 4;
  if (size < width) return;
  const size_t at = random() % (size / width) * width;
  uint64_t value = 0;
  std::memcpy(&value, data + at, width);
  switch (random() % 4) {
    case 0:
      value = kInteresting[random() % std::size(kInteresting)];
      break;
    case 1:
      value += random() % 17 - 8;
      break;
    case 2:
      std::memcpy(&value, data + random() % (size / width) * width, width);
      break;
    default:
      value ^= uint64_t{1} << random() % (8 * width);
  }
  std::memcpy(data + at, &value, width);
}

/// Some words, or now and then libFuzzer's own mutations, which change the size.
inline size_t Mutate(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  std::minstd_rand random(seed);
  if (size == 0 || random() % 4 == 0) return LLVMFuzzerMutate(data, size, max_size);
  for (uint32_t n = 1 + random() % 4; n > 0; --n) MutateWord(data, size, random);
  return size;
}

}  // namespace takt::test

#endif  // TAKT_TESTS_FUZZ_MUTATE_H_
