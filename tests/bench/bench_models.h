// The models that benchmarks run on.
#ifndef TAKT_TESTS_BENCH_BENCH_MODELS_H_
#define TAKT_TESTS_BENCH_BENCH_MODELS_H_

#include <string>
#include <vector>

#include "converter/backend/convert.h"
#include "tests/support/golden.h"

namespace takt::bench {

struct BenchModel {
  std::string name;
  test::Bytes file;
  Conversion converted;  ///< With the defaults.
};

/// samples/fashion and what the converter takes of the shared folder's models, by name. Read and converted once.
const std::vector<BenchModel>& BenchModels();

}  // namespace takt::bench

#endif  // TAKT_TESTS_BENCH_BENCH_MODELS_H_
