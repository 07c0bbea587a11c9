// Times invocations of a plan on this host.
#ifndef TAKT_CONVERTER_CLI_MEASURE_H_
#define TAKT_CONVERTER_CLI_MEASURE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "converter/cli/session.h"

namespace takt::cli {

struct MeasureOptions {
  std::string port = "reference";
  InputOptions inputs;  ///< Neither files nor a seed: seed 1.
  int warmup = 3, iterations = 100;
};

/// Inputs that the options ask for.
std::vector<std::vector<uint8_t>> MeasuredInputs(const Plan& plan, InputOptions options);

/// Nanoseconds of each invocation, in order.
std::vector<uint64_t> MeasureWall(const std::string& path, const std::vector<uint8_t>& plan,
                                  const MeasureOptions& options);
/// Nanoseconds of each run of each step, over so many traced invocations.
std::vector<std::vector<uint64_t>> MeasureSteps(const std::string& path, const std::vector<uint8_t>& plan,
                                                const MeasureOptions& options, int invocations);

/// The smallest sample that `permille` of all do not exceed.
uint64_t Percentile(const std::vector<uint64_t>& sorted, uint64_t permille);

}  // namespace takt::cli

#endif  // TAKT_CONVERTER_CLI_MEASURE_H_
