// Reference models, converted for a machine.
#ifndef TAKT_TESTS_NPU_VALIDATION_COMPILED_H_
#define TAKT_TESTS_NPU_VALIDATION_COMPILED_H_

#include <filesystem>
#include <string>
#include <vector>

#include "converter/npu/compiler.h"

namespace takt::npu::validation {

/// Throws if the model does not convert.
Compilation CompileModel(const std::filesystem::path& model, const Machine& machine);

/// Cycles of all jobs; those of another machine for the same streams.
uint64_t JobCycles(const Compilation& compilation, const Machine& machine);
/// Sum over jobs of the latencies of `memory` that decide the time.
double ExposedReads(const Compilation& compilation, const Machine& machine, int memory);

/// From the last result of the layer before to its own, for every layer of all jobs.
struct LayerCycles {
  Layer layer;
  double cycles = 0;
};
std::vector<LayerCycles> CyclesByLayer(const Compilation& compilation, const Machine& machine);

}  // namespace takt::npu::validation

#endif  // TAKT_TESTS_NPU_VALIDATION_COMPILED_H_
