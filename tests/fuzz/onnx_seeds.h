// Seeds of the ONNX fuzzer: small models that reach what the importer knows, and what it refuses.
#ifndef TAKT_TESTS_FUZZ_ONNX_SEEDS_H_
#define TAKT_TESTS_FUZZ_ONNX_SEEDS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace takt::test {

struct OnnxSeed {
  std::string name;
  std::vector<uint8_t> bytes;  ///< As onnx_fuzzer.cc reads them: perhaps a line of options, then the model.
};

std::vector<OnnxSeed> OnnxSeeds();

}  // namespace takt::test

#endif  // TAKT_TESTS_FUZZ_ONNX_SEEDS_H_
