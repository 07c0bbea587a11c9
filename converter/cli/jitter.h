// How steady the latency of a plan is on this host: bench --duration.
#ifndef TAKT_CONVERTER_CLI_JITTER_H_
#define TAKT_CONVERTER_CLI_JITTER_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "converter/cli/measure.h"

namespace takt::cli {

struct JitterOptions {
  double seconds = 0;     ///< Of the steady part.
  int cpu = -1;           ///< To run on alone; -1: any.
  bool realtime = false;  ///< Memory locked, SCHED_FIFO where permitted.
};

/// Nanoseconds of one invocation each, as measured one after the other.
struct Jitter {
  uint64_t cold = 0;                   ///< The first after Init: nothing is in a cache.
  std::vector<uint64_t> steady;        ///< Back to back, in turns with `bare_loop`.
  std::vector<uint64_t> bare_loop;     ///< A loop in registers that takes as long: what the host itself adds.
  std::vector<uint64_t> after_idle;    ///< After a pause each.
  std::vector<uint64_t> beside_noise;  ///< While another process streams through memory.
  std::string note;                    ///< What of `realtime` this host did not permit.
};

Jitter MeasureJitter(const std::string& path, const std::vector<uint8_t>& plan, const MeasureOptions& options,
                     const JitterOptions& jitter);

/// count, p50, p99, p99.9, max and p99.9 / p50 of each part, and the histogram of the steady one.
nlohmann::ordered_json JitterJson(const Jitter& jitter);
std::string JitterText(const Jitter& jitter);

struct Bin {
  uint64_t from_ns;
  uint64_t count;
};
/// Of an ascending list. Bins begin at the least sample and at 2^-11, 2^-10, ... 1/2 of the way to the largest one:
/// fine where most samples lie, and yet as long as the tail.
std::vector<Bin> Histogram(const std::vector<uint64_t>& sorted);
std::string HistogramText(const std::vector<Bin>& bins);

}  // namespace takt::cli

#endif  // TAKT_CONVERTER_CLI_JITTER_H_
