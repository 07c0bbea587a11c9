// Any bytes as a .tflite; what the importer accepts is verified and converted, and the plan opens and
// runs.
#include <cstdint>
#include <cstdlib>

#include "converter/backend/convert.h"
#include "tests/support/try_plan.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const takt::Conversion made = takt::ConvertTflite({data, size}, "fuzz", {});
  if (made.plan.empty()) return 0;
  const takt::Status status = takt::test::TryPlan(made.plan);
  // Large models exceed the fuzzer's limits; the converter never writes a plan that is malformed.
  if (status.code() == takt::StatusCode::kMalformedPlan) std::abort();
  return 0;
}

#ifdef TAKT_FUZZ
#include "tests/fuzz/mutate.h"

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  return takt::test::Mutate(data, size, max_size, seed);
}
#endif
