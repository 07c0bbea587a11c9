// A job before it is written.
#ifndef TAKT_CONVERTER_BACKEND_JOB_SPEC_H_
#define TAKT_CONVERTER_BACKEND_JOB_SPEC_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "converter/ir/graph.h"

namespace takt::backend {

/// Stream and base table; `written[i]`: base i is written.
struct JobSpec {
  std::vector<uint8_t> stream;
  std::vector<ir::TensorId> bases;
  std::vector<bool> written;
  uint64_t work = 0;  ///< Inner iterations, as the device counts them.
};

/// What a plan for a device carries beside its steps; all empty for the host.
struct DevicePart {
  std::vector<JobSpec> jobs;
  std::vector<std::string> devices;
  std::vector<uint8_t> machine;
  uint64_t clock_hz = 0;
  std::vector<uint64_t> costs;    ///< One for each step, in ticks of clock_hz.
  std::set<ir::TensorId> second;  ///< Tensors (roots of views) that lie in `second_memory`, the others in the target's.
  std::string second_memory;
};

}  // namespace takt::backend

#endif  // TAKT_CONVERTER_BACKEND_JOB_SPEC_H_
