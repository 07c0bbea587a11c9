// When the results of a job's layers lie where in memory, read off its stream.
#ifndef TAKT_CONVERTER_NPU_FEATURE_LIVES_H_
#define TAKT_CONVERTER_NPU_FEATURE_LIVES_H_

#include <vector>

#include "converter/npu/compiler.h"

namespace takt::npu {

/// What one step of ProfileSteps stores in bytes [begin, end) of a base, from its first store to the last load by
/// another step. A ring that keeps some rows is one such range.
struct FeatureLife {
  size_t step = 0;
  size_t job = 0;
  uint32_t base = 0;  ///< Of the job.
  uint64_t begin = 0, end = 0;
  double from = 0, until = 0;  ///< Cycles of the network.
};

/// In the order of jobs, then of steps.
std::vector<FeatureLife> FeatureLives(const Compilation& compilation, const Machine& machine);

}  // namespace takt::npu

#endif  // TAKT_CONVERTER_NPU_FEATURE_LIVES_H_
