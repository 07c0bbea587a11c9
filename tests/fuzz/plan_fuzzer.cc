// Any bytes as a plan: open, bind, run. Hash check off, as an attacker would have it.
#include "engine/plan/trailer.h"
#include "tests/support/try_plan.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  (void)takt::test::TryPlan({data, size});
  return 0;
}

#ifdef TAKT_FUZZ
#include "tests/fuzz/mutate.h"

/// All but the trailer, which is made to fit again.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  constexpr size_t kTrailer = sizeof(takt::PlanTrailer);
  if (size <= kTrailer || max_size < size) return LLVMFuzzerMutate(data, size, max_size);
  takt::PlanTrailer trailer;
  std::memcpy(&trailer, data + size - kTrailer, kTrailer);
  if (std::memcmp(trailer.magic, takt::kTrailerMagic, sizeof(trailer.magic)) != 0)
    return LLVMFuzzerMutate(data, size, max_size);
  const size_t body = takt::test::Mutate(data, size - kTrailer, max_size - kTrailer, seed);
  trailer.total_bytes = body + kTrailer;
  std::memcpy(data + body, &trailer, kTrailer);
  return body + kTrailer;
}
#endif
